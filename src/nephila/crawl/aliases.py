"""When two sites are one (S0-9): the same address *and* the same answers, never the address alone (I0-10).

The life of a candidate pair: two sites on one address → both home pages are fetched, after robots.txt → their
checksums are equal, or the sites are distinct → a few paths already crawled on one are asked of the other → all
answers equal: alias, any other: distinct. A page that differs on each request (a date, a token) makes its site
distinct: collecting a site twice costs requests, dropping a virtual host loses its pages.

`ip` is the paper's rule, for comparison: same address, scheme and port are enough. `off` asks nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from nephila.urls import url_hash

AliasRule = Literal["content", "ip", "off"]

SAMPLES: Final = 2
"""Paths of the older site that are asked of the newer one."""


@dataclass(frozen=True, slots=True)
class OnAddress:
    """A site, as far as its likeness to others on its address goes."""

    site: str
    seed_order: int  # place of its first seed among all seeds; later finds come after
    home_checksum: bytes | None = None  # None: not fetched, forbidden, or no answer with code 200
    crawled: Mapping[str, bytes] = field(default_factory=dict)  # path -> checksum, of some pages with code 200
    seed_paths: tuple[str, ...] = ()
    done: bool = False  # nothing is waiting any more


@dataclass(frozen=True, slots=True)
class Sampled:
    """What one path answered on each of the two; None for an answer that was not 200, or none at all."""

    path: str
    on_canonical: bytes | None
    on_other: bytes | None


@dataclass(frozen=True, slots=True)
class CompareHomes:
    """Fetch the home pages that are not known yet."""

    sites: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """Ask `path` of `site`; the other one has answered it already."""

    site: str
    path: str


@dataclass(frozen=True, slots=True)
class NotYet:
    """Too little of the canonical site is crawled to tell."""


@dataclass(frozen=True, slots=True)
class Alias:
    """`other` is recorded as another name of `canonical`; its URLs get the outcome `alias` and are counted."""

    canonical: str
    other: str
    reason: str


@dataclass(frozen=True, slots=True)
class Distinct:
    """Two sites; `reason` is for `nephila why`."""

    reason: str


Probe = CompareHomes | Sample | NotYet | Alias | Distinct


def in_order(one: OnAddress, other: OnAddress) -> tuple[OnAddress, OnAddress]:
    """The canonical one first: the earlier seed, then the smaller name."""
    first, second = sorted((one, other), key=lambda known: (known.seed_order, known.site))
    return first, second


def candidates(newcomer: OnAddress, on_address: Iterable[OnAddress], rule: AliasRule) -> list[OnAddress]:
    """The sites that the newcomer may be an alias of, the most canonical first.

    By content only those with its home page are left, so that 10,000 sites on one address are not compared in pairs.
    """
    others = [known for known in on_address if known.site != newcomer.site]
    if rule == "off":
        return []
    if rule == "ip":
        alike = [known for known in others if _door(known.site) == _door(newcomer.site)]
    else:
        home = newcomer.home_checksum
        alike = [known for known in others if home is not None and known.home_checksum == home]
    return sorted(alike, key=lambda known: (known.seed_order, known.site))


def next_probe(one: OnAddress, other: OnAddress, sampled: Sequence[Sampled], rule: AliasRule) -> Probe:
    """What to do next to learn whether two sites on one address are one; ends in `Alias` or `Distinct`."""
    canonical, second = in_order(one, other)
    if rule == "off":
        return Distinct("aliases are not looked for")
    if rule == "ip":
        if _door(canonical.site) == _door(second.site):
            return Alias(canonical.site, second.site, "same address")
        return Distinct("same address, other scheme or port")
    unknown = tuple(known.site for known in (canonical, second) if known.home_checksum is None)
    if unknown:
        if any(known.home_checksum is None and known.done for known in (canonical, second)):
            return Distinct("a home page gave no answer to compare")
        return CompareHomes(unknown)
    if canonical.home_checksum != second.home_checksum:
        return Distinct("the home pages differ")
    for sample in sampled:
        silent = sample.on_canonical is None and sample.path in canonical.crawled
        if silent or sample.on_canonical != sample.on_other:  # a dead seed, silent on both, speaks for nothing
            return Distinct(f"{sample.path} is answered differently")
    return _next_sample(canonical, second, {sample.path for sample in sampled})


def _next_sample(canonical: OnAddress, second: OnAddress, asked: set[str]) -> Probe:
    """Two paths of the canonical site are asked of the second, and one seed of the second of the canonical one.

    The last is what saves a virtual host whose home page is its provider's: somebody links deep into it.
    """
    usable = _telling_paths(canonical)
    chosen = usable[:SAMPLES]
    if len(chosen) < SAMPLES and not canonical.done:
        return NotYet()
    if not chosen:
        return Distinct("nothing but the home page to compare")
    for path in chosen:
        if path not in asked:
            return Sample(second.site, path)
    own = [path for path in second.seed_paths if path != "/"]
    for path in own[:1]:
        if path not in asked:
            return Sample(canonical.site, path)
    return Alias(canonical.site, second.site, "same address, same home page, same answers on " + ", ".join(chosen))


def _telling_paths(known: OnAddress) -> list[str]:
    """Paths whose answer says something: neither the home page again nor each other; drawn from all over the site."""
    by_checksum: dict[bytes, str] = {}
    for path in sorted(known.crawled, key=lambda path: (url_hash(path), path)):
        checksum = known.crawled[path]
        if path != "/" and checksum != known.home_checksum:
            by_checksum.setdefault(checksum, path)
    return list(by_checksum.values())


def _door(site: str) -> tuple[str, str]:
    """Scheme and port: two doors of one machine are two sites even by the paper's rule."""
    scheme, _, authority = site.partition("://")
    port = authority.rpartition("]")[2].rpartition(":")[2] if ":" in authority.rpartition("]")[2] else ""
    return scheme, port
