"""What one site is apart from its pages: name, address, language, manners. Computed from its number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from nephila.config.sections import Lab
from nephila.lab.addresses import address_of, shares_address, sites_at
from nephila.lab.draw import Stream, Table, draw, site_key
from nephila.lab.fates import Fate, Law, always_up, seed_fate
from nephila.lab.names import Names
from nephila.lab.paths import PathStyle, path_key
from nephila.lab.robots import RobotsRules, robots_rules

COMMUNITY_SITES: Final = 25
_MIRROR_SHARE: Final = 0.02
_ALIAS_SHARE: Final = 0.115  # of the sites whose home page answers: 10 % of all
_FOLDING_SHARE: Final = 0.15
_DIRECTORIES_AT_MOST: Final = 24


@dataclass(frozen=True, slots=True)
class Tongue:
    """A language in one character encoding: `label` is what the page declares, `codec` what Python calls it."""

    language: str
    label: str
    codec: str


TONGUES: Final = (
    (Tongue("ko", "euc-kr", "euc_kr"), 0.62),
    (Tongue("ko", "utf-8", "utf-8"), 0.26),
    (Tongue("en", "iso-8859-1", "latin-1"), 0.04),
    (Tongue("en", "utf-8", "utf-8"), 0.03),
    (Tongue("ja", "shift_jis", "shift_jis"), 0.01),
    (Tongue("ja", "euc-jp", "euc_jp"), 0.01),
    (Tongue("ja", "utf-8", "utf-8"), 0.01),
    (Tongue("zh", "gb2312", "gb2312"), 0.01),
    (Tongue("zh", "big5", "big5"), 0.01),
)
_TONGUE: Final = Table([weight for _, weight in TONGUES])


@dataclass(frozen=True, slots=True)
class Card:
    """One site. `model` is the site whose pages it shows: itself, or for a mirror the site it mirrors."""

    site: int
    model: int
    host: str
    address: str
    origin: str  # scheme, host and port
    tongue: Tongue
    says_charset_in_header: bool
    says_charset_in_meta: bool
    validates: bool  # sends ETag and Last-Modified
    paths: PathStyle
    robots: RobotsRules | None
    links_key: int
    look_key: int
    fate: Fate  # of the home page


class Cards:
    """The cards of one web; those used last are kept."""

    def __init__(self, lab: Lab, law: Law, names: Names) -> None:
        self._lab = lab
        self._law = law
        self.names = names
        # A card takes about 1.5 KB, an origin or a style 300 bytes: together 28 MB at the most.
        self.of = lru_cache(maxsize=1 << 12)(self._card)
        self.origin = lru_cache(maxsize=1 << 16)(self._origin)
        self.style = lru_cache(maxsize=1 << 13)(self._style)
        self.site_of = lru_cache(maxsize=1 << 12)(self._site_of)

    def model(self, site: int) -> int:
        """The site itself, or for 2 % of sites an earlier one that it mirrors (4.9)."""
        word = site_key(self._law.seed, site, Stream.MIRROR)
        if site == 0 or word >> 32 >= _MIRROR_SHARE * (1 << 32):
            return site
        model = word % site
        return model if self.model(model) == model else site

    def aliases(self, site: int) -> tuple[str, ...]:
        """Other host names of the site: a nickname, its address, or both (S0-9); none for 90 % of sites."""
        word = site_key(self._law.seed, site, Stream.ALIAS)
        if word >> 32 >= _ALIAS_SHARE * (1 << 32):
            return ()
        model = self.model(site)  # only a home page that always answers can show that two names are one site
        if seed_fate(self._law, model) is not Fate.OK or not always_up(self._law, model):
            return ()
        nickname, address = self.names.nickname(site), address_of(site)
        if shares_address(site) and len(sites_at(address, self._law.sites)) > 1:
            return (nickname,)
        return ((nickname,), (nickname,), (address,), (nickname, address))[word & 3]

    def _site_of(self, host: str) -> int | None:
        """The site of a host name, nickname or address; None for strangers."""
        if host.startswith("127."):
            found = sites_at(host, self._law.sites)
            return found[0] if found else None
        site = self.names.number(host)
        if site is None or host == self.names.name(site) or host in self.aliases(site):
            return site
        return None

    def port_suffix(self, port: int) -> str:
        return "" if port == 80 else f":{port}"

    def _origin(self, site: int) -> str:
        refused = self._law.faults and seed_fate(self._law, self.model(site)) is Fate.REFUSED
        # The name is made anew: kept here as a part of the origin, it need not be kept a second time.
        return f"http://{self.names.make(site)}{self.port_suffix(self._lab.port + refused)}"

    def _style(self, model: int) -> PathStyle:
        """How a site that mirrors none writes its paths; links from other sites need no more of it than this."""
        key = site_key(self._law.seed, model, Stream.CARD)
        tongue = TONGUES[_TONGUE.pick(draw(key, 0))][0]
        word = draw(key, 1)
        return PathStyle(
            key=path_key(self._law.seed, model),
            first_directory=word >> 8 & 0xFFFF,
            directories=2 + (word >> 24) % _DIRECTORIES_AT_MOST,
            korean_codec=tongue.codec if tongue.language == "ko" else "",
            folds_case=word >> 32 < _FOLDING_SHARE * (1 << 32),
        )

    def _card(self, site: int) -> Card:
        law = self._law
        model = self.model(site)
        key = site_key(law.seed, model, Stream.CARD)
        word = draw(key, 1)
        says = word % 3
        paths = self.style(model)
        return Card(
            site=site,
            model=model,
            host=self.names.name(site),
            address=address_of(site),
            origin=self.origin(site),
            tongue=TONGUES[_TONGUE.pick(draw(key, 0))][0],
            says_charset_in_header=says != 1,
            says_charset_in_meta=says != 0,
            validates=bool(word >> 6 & 1),
            paths=paths,
            robots=robots_rules(law.seed, model, paths),
            links_key=site_key(law.seed, model, Stream.LINKS),
            look_key=site_key(law.seed, model, Stream.LOOK),
            fate=seed_fate(law, model),
        )
