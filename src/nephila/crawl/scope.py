"""Whether a site or a URL is in: one pure function, a tuple of rules asked in order, the first refusal decides.

A rule is a function of a candidate and the compiled scope; it returns None ("nothing against it") or the outcome of
its refusal. Its name is what `nephila why URL` prints and what refusals are counted by. Only rules that the
configuration gives something to do are asked (`CompiledScope.rules`): the others cost nothing. Whether robots.txt
allows a URL is not asked here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import astuple, dataclass, field
from typing import Final, Literal

from nephila.config.sections import Config, Content, Scope
from nephila.countries import NOWHERE, Countries
from nephila.crawl.contents import handling_of_path
from nephila.crawl.forgotten import NOTHING, Forgotten, compile_rules, normal_rule
from nephila.crawl.patterns import Glob, canonical_path, whole_glob, whole_path_glob
from nephila.errors import ConfigError
from nephila.records import Outcome
from nephila.urls import NO_RULES, Refusal, host_of, normalise, registrable_domain, split

Mode = Literal["web", "sites", "parties"]

_STARRED: Final = re.compile(r"[a-z0-9*._-]+")
_ALL_CONTENT: Final = Content()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A site, or a URL of it, in normal form. `path` is None when the site as a whole is asked about."""

    site: str
    host: str
    path: str | None
    from_seeds: bool  # the site is one of the seeds' sites
    is_seed: bool = False  # the user named this very URL
    address: str = ""  # of the site, once its name was looked up
    strayed: int = 0  # pages in a row, up to the one it was found on, that are off topic or in another language
    astray: str = ""  # which of the two the page is that it was found on: the rule's name


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the candidate is in; if not, with which outcome and by which rule."""

    inside: bool
    outcome: Outcome | None = None
    rule: str = ""
    why: str = ""  # what the rule found, where its name does not say it all

    @property
    def reason(self) -> str:
        """As it is kept with the URL: the rule, and what it found."""
        return f"{self.rule}: {self.why}" if self.why else self.rule


@dataclass(frozen=True, slots=True)
class Names:
    """Host patterns, or domains with all that is under them."""

    hosts: tuple[Glob, ...]
    domains: tuple[str, ...]
    starred_domains: tuple[Glob, ...]

    def hold(self, host: str) -> bool:
        if any(glob.matches(host) for glob in self.hosts):
            return True
        if any(host == domain or host.endswith("." + domain) for domain in self.domains):
            return True
        if not self.starred_domains:
            return False
        registrable = registrable_domain(host)
        return any(glob.matches(registrable) for glob in self.starred_domains)

    def __bool__(self) -> bool:
        return bool(self.hosts or self.domains or self.starred_domains)


@dataclass(frozen=True, slots=True)
class CompiledScope:
    """The scope's configuration, compiled once."""

    mode: Mode
    include: Names
    exclude: Names
    include_paths: tuple[Glob, ...]
    exclude_paths: tuple[Glob, ...]
    forgotten: Forgotten = NOTHING
    blocked: Forgotten = NOTHING
    countries: Countries | None = None
    include_countries: frozenset[str] = frozenset()
    exclude_countries: frozenset[str] = frozenset()
    content: Content = field(default_factory=Content)
    wrapped: tuple[Glob, ...] = ()
    margin: int = 0
    focused: bool = False  # pages are judged by topic or language
    rules: tuple[Callable[[Candidate, CompiledScope], Outcome | None], ...] = field(init=False)

    def __post_init__(self) -> None:
        asked = tuple(rule for rule in RULES if rule not in _CONFIGURED or _CONFIGURED[rule](self))
        object.__setattr__(self, "rules", asked)


Rule = Callable[[Candidate, CompiledScope], Outcome | None]
IN: Final = Verdict(True)


def scope_of(config: Config, mode: Mode | None = None, forgotten: Forgotten = NOTHING) -> CompiledScope:
    """The scope of a crawl from its whole configuration."""
    wrapped: tuple[str, ...] = ()
    if config.crawl.profile == "wrapper":
        from nephila.markup.wrappers import read_wrappers

        wrapped = read_wrappers(config.convert.wrappers).patterns
    topic_ = config.topic
    focused = bool(topic_.wanted or topic_.unwanted or topic_.wanted_pages or config.scope.languages)
    return compile_scope(config.scope, mode or config.crawl.mode, forgotten, config.content, wrapped, focused=focused)


def compile_scope(
    scope: Scope, mode: Mode, forgotten: Forgotten = NOTHING, content: Content = _ALL_CONTENT,
    wrapped: tuple[str, ...] = (), *, focused: bool = False,
) -> CompiledScope:  # fmt: skip
    """Compile the configuration; a host or country that can be none is refused by its key."""
    wanted, unwanted = _codes("include", scope.include_countries), _codes("exclude", scope.exclude_countries)
    if (wanted or unwanted) and not scope.country_ranges:
        raise ConfigError(
            "scope.country_ranges names no file, so that no address can be placed; "
            'name one, such as ["KR=kr_ipv4_ranges.csv.gz"] or ["GeoLite2-Country.mmdb"].'
        )
    return CompiledScope(
        mode=mode,
        include=_names("include", scope.include_hosts, scope.include_domains),
        exclude=_names("exclude", scope.exclude_hosts, scope.exclude_domains),
        include_paths=tuple(map(whole_path_glob, scope.include_paths)),
        exclude_paths=tuple(map(whole_path_glob, scope.exclude_paths)),
        forgotten=forgotten,
        blocked=compile_rules(normal_rule(rule, NO_RULES, "scope.block: ") for rule in scope.block),
        countries=Countries(scope.country_ranges, "scope.country_ranges") if wanted or unwanted else None,
        include_countries=wanted,
        exclude_countries=unwanted,
        content=content,
        wrapped=tuple(map(whole_glob, wrapped)),
        margin=scope.margin,
        focused=focused,
    )


def decide(candidate: Candidate, scope: CompiledScope) -> Verdict:
    """Whether a site or URL is in, and which rule says no."""
    for rule in scope.rules:
        refusal = rule(candidate, scope)
        if refusal is not None:
            return Verdict(False, refusal, rule.__name__, _found(rule.__name__, candidate, scope))
    return IN


def rule_of(reason: str) -> str:
    """The rule in a reason that was kept with a URL."""
    return reason.partition(":")[0]


def tally_of(rule: str) -> str:
    """Under which name the refusals of a rule are counted."""
    return f"rule:{rule}"


def site_candidate(site: str, *, from_seeds: bool, address: str = "") -> Candidate:
    """The site as a whole: no rule about paths is asked."""
    return Candidate(site, host_of(site).rstrip("."), None, from_seeds, address=address)


def url_candidate(url: str, *, from_seeds: bool, is_seed: bool = False) -> Candidate:
    """A URL in normal form."""
    site, path = split(url)
    return Candidate(site, host_of(site).rstrip("."), path, from_seeds, is_seed)


def scheme(candidate: Candidate, _: CompiledScope) -> Outcome | None:
    """Only http and https are collected."""
    return None if candidate.site.startswith(("http://", "https://")) else Outcome.BLOCKED_SCHEME


def forgotten(candidate: Candidate, scope: CompiledScope) -> Outcome | None:
    """What `nephila forget` has removed stays away, seeds or not."""
    return Outcome.FORGOTTEN if scope.forgotten and _named(scope.forgotten, candidate) else None


def mode(candidate: Candidate, scope: CompiledScope) -> Outcome | None:
    """In mode `sites` links to other sites than the seeds' are not followed (S0-5); in `parties`, to no other site."""
    return None if scope.mode == "web" or candidate.from_seeds else Outcome.SCOPE_REJECTED


def block_list(candidate: Candidate, scope: CompiledScope) -> Outcome | None:
    """`exclude_hosts`, `exclude_domains` and `block` are never asked, seeds or not."""
    if scope.exclude.hold(candidate.host) or (scope.blocked and _named(scope.blocked, candidate)):
        return Outcome.SCOPE_REJECTED
    return None


def _named(rules: Forgotten, candidate: Candidate) -> bool:
    if candidate.path is None:
        return rules.whole_site(candidate.site) is not None
    return rules.rule_for(candidate.site, candidate.path) is not None


def include_hosts_and_domains(candidate: Candidate, scope: CompiledScope) -> Outcome | None:
    """Where hosts or domains to collect are named, a site is under one of them."""
    return None if not scope.include or scope.include.hold(candidate.host) else Outcome.SCOPE_REJECTED


def exclude_paths(candidate: Candidate, scope: CompiledScope) -> Outcome | None:
    """Paths never asked."""
    return Outcome.SCOPE_REJECTED if _path_in(candidate.path, scope.exclude_paths) else None


def include_paths(candidate: Candidate, scope: CompiledScope) -> Outcome | None:
    """Where paths to collect are named, a URL lies under one of them."""
    if not scope.include_paths or candidate.path is None or _path_in(candidate.path, scope.include_paths):
        return None
    return Outcome.SCOPE_REJECTED


def content(candidate: Candidate, scope: CompiledScope) -> Outcome | None:
    """What its name says to be of a type that is skipped is not asked for, unless the user named it."""
    if candidate.path is None or candidate.is_seed or handling_of_path(candidate.path, scope.content) != "skip":
        return None
    return Outcome.SCOPE_REJECTED


def wrappers(candidate: Candidate, scope: CompiledScope) -> Outcome | None:
    """A wrapper-based crawl asks for its seeds and for what its wrappers name, nothing else (S4-1)."""
    if candidate.path is None or candidate.is_seed:
        return None
    url = candidate.site + candidate.path
    return None if any(glob.matches(url) for glob in scope.wrapped) else Outcome.SCOPE_REJECTED


def country(candidate: Candidate, scope: CompiledScope) -> Outcome | None:
    """S1-8: only sites whose address lies in a country that is wanted; asked once the address is known."""
    if not candidate.address or scope.countries is None:
        return None
    found = scope.countries.of(candidate.address)
    wanted = found in scope.include_countries if scope.include_countries else True
    return None if wanted and found not in scope.exclude_countries else Outcome.SCOPE_REJECTED


def topic(candidate: Candidate, scope: CompiledScope) -> Outcome | None:
    """S4-1: links of pages off topic are followed within the margin alone."""
    return Outcome.SCOPE_REJECTED if candidate.astray == "topic" and candidate.strayed > scope.margin else None


def language(candidate: Candidate, scope: CompiledScope) -> Outcome | None:
    """Links of pages in another language are followed within the margin alone."""
    return Outcome.SCOPE_REJECTED if candidate.astray == "language" and candidate.strayed > scope.margin else None


RULES: Final[tuple[Rule, ...]] = (
    scheme,
    forgotten,
    mode,
    block_list,
    include_hosts_and_domains,
    exclude_paths,
    include_paths,
    content,
    wrappers,
    country,
    topic,
    language,
)

_CONFIGURED: Final[dict[Rule, Callable[[CompiledScope], bool]]] = {
    forgotten: lambda scope: bool(scope.forgotten),
    mode: lambda scope: scope.mode != "web",
    block_list: lambda scope: bool(scope.exclude) or bool(scope.blocked),
    include_hosts_and_domains: lambda scope: bool(scope.include),
    exclude_paths: lambda scope: bool(scope.exclude_paths),
    include_paths: lambda scope: bool(scope.include_paths),
    content: lambda scope: "skip" in astuple(scope.content),
    wrappers: lambda scope: bool(scope.wrapped),
    country: lambda scope: scope.countries is not None,
    topic: lambda scope: scope.focused,
    language: lambda scope: scope.focused,
}
"""When a rule has anything to say; one without a line is always asked."""


def _found(rule: str, candidate: Candidate, scope: CompiledScope) -> str:
    if rule == country.__name__ and scope.countries is not None:
        where = scope.countries.of(candidate.address)
        return f"{candidate.address} is in {where}" if where != NOWHERE else f"{candidate.address} is in no range"
    if rule in (topic.__name__, language.__name__):
        return f"{candidate.strayed} pages in a row"
    return ""


def _path_in(path: str | None, globs: tuple[Glob, ...]) -> bool:
    """A pattern may mean the path alone (`/*.pdf`) or the path with its query (`*?print=1`)."""
    if path is None or not globs:
        return False
    spelled = canonical_path(path)
    alone = spelled.partition("?")[0]
    return any(glob.matches(spelled) or glob.matches(alone) for glob in globs)


def _codes(section: str, countries: tuple[str, ...]) -> frozenset[str]:
    for code in countries:
        if not (len(code.strip()) == 2 and code.strip().isalpha() and code.isascii()):
            raise ConfigError(
                f'scope.{section}_countries: "{code}" is no country code; write two letters, such as "KR".'
            )
    return frozenset(code.strip().upper() for code in countries)


def _names(section: str, hosts: tuple[str, ...], domains: tuple[str, ...]) -> Names:
    spelled = [_as_in_urls(f"scope.{section}_domains", domain.removeprefix("*.")) for domain in domains]
    return Names(
        hosts=tuple(whole_glob(_as_in_urls(f"scope.{section}_hosts", host)) for host in hosts),
        domains=tuple(domain for domain in spelled if "*" not in domain),
        starred_domains=tuple(whole_glob(domain) for domain in spelled if "*" in domain),
    )


def _as_in_urls(key: str, name: str) -> str:
    """The name as it stands in URLs. What can stand in none would silently match nothing, so it is refused."""
    spelled = name.strip().strip(".").lower()
    if "*" in spelled and _STARRED.fullmatch(spelled):
        return spelled
    url = normalise(f"http://{spelled}/", NO_RULES)
    if isinstance(url, Refusal) or "@" in spelled or split(url) != (f"http://{host_of(url)}", "/"):
        raise ConfigError(f'{key}: "{name}" is no host; write a name without scheme, port or path, such as "*.ac.kr".')
    return host_of(url)
