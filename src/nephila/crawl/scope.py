"""Whether a site or a URL is in: one pure function, a tuple of rules asked in order, the first refusal decides.

A rule is a function of a candidate and the compiled scope; it returns None ("nothing against it") or the outcome of
its refusal. Its name is what `nephila why URL` prints. Further rules (countries, languages, topics) are further
functions of the same shape in `RULES`. Whether robots.txt allows a URL is not asked here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from nephila.config.sections import Scope
from nephila.crawl.forgotten import NOTHING, Forgotten
from nephila.crawl.patterns import Glob, canonical_path, whole_glob, whole_path_glob
from nephila.errors import ConfigError
from nephila.records import Outcome
from nephila.urls import NO_RULES, Refusal, host_of, normalise, registrable_domain, split

Mode = Literal["web", "sites", "parties"]

_STARRED: Final = re.compile(r"[a-z0-9*._-]+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A site, or a URL of it, in normal form. `path` is None when the site as a whole is asked about."""

    site: str
    host: str
    path: str | None
    from_seeds: bool  # the site is one of the seeds' sites


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the candidate is in; if not, with which outcome and by which rule."""

    inside: bool
    outcome: Outcome | None = None
    rule: str = ""


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


IN: Final = Verdict(True)


def compile_scope(scope: Scope, mode: Mode, forgotten: Forgotten = NOTHING) -> CompiledScope:
    """Compile the configuration; a host that can be none is refused by its key."""
    return CompiledScope(
        mode=mode,
        include=_names("include", scope.include_hosts, scope.include_domains),
        exclude=_names("exclude", scope.exclude_hosts, scope.exclude_domains),
        include_paths=tuple(map(whole_path_glob, scope.include_paths)),
        exclude_paths=tuple(map(whole_path_glob, scope.exclude_paths)),
        forgotten=forgotten,
    )


def decide(candidate: Candidate, scope: CompiledScope) -> Verdict:
    """Whether a site or URL is in, and which rule says no."""
    for rule in RULES:
        refusal = rule(candidate, scope)
        if refusal is not None:
            return Verdict(False, refusal, rule.__name__)
    return IN


def site_candidate(site: str, *, from_seeds: bool) -> Candidate:
    """The site as a whole: no rule about paths is asked."""
    return Candidate(site, host_of(site).rstrip("."), None, from_seeds)


def url_candidate(url: str, *, from_seeds: bool) -> Candidate:
    """A URL in normal form."""
    site, path = split(url)
    return Candidate(site, host_of(site).rstrip("."), path, from_seeds)


def scheme(candidate: Candidate, _: CompiledScope) -> Outcome | None:
    """Only http and https are collected."""
    return None if candidate.site.startswith(("http://", "https://")) else Outcome.BLOCKED_SCHEME


def forgotten(candidate: Candidate, scope: CompiledScope) -> Outcome | None:
    """What `nephila forget` has removed stays away, seeds or not."""
    if not scope.forgotten:
        return None
    if candidate.path is None:
        return Outcome.FORGOTTEN if scope.forgotten.whole_site(candidate.site) else None
    return Outcome.FORGOTTEN if scope.forgotten.rule_for(candidate.site, candidate.path) else None


def mode(candidate: Candidate, scope: CompiledScope) -> Outcome | None:
    """In mode `sites` links to other sites than the seeds' are not followed (S0-5); in `parties`, to no other site."""
    return None if scope.mode == "web" or candidate.from_seeds else Outcome.SCOPE_REJECTED


def block_list(candidate: Candidate, scope: CompiledScope) -> Outcome | None:
    """`exclude_hosts` and `exclude_domains` are never asked, seeds or not."""
    return Outcome.SCOPE_REJECTED if scope.exclude.hold(candidate.host) else None


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


RULES: Final[tuple[Callable[[Candidate, CompiledScope], Outcome | None], ...]] = (
    scheme,
    forgotten,
    mode,
    block_list,
    include_hosts_and_domains,
    exclude_paths,
    include_paths,
)


def _path_in(path: str | None, globs: tuple[Glob, ...]) -> bool:
    """A pattern may mean the path alone (`/*.pdf`) or the path with its query (`*?print=1`)."""
    if path is None or not globs:
        return False
    spelled = canonical_path(path)
    alone = spelled.partition("?")[0]
    return any(glob.matches(spelled) or glob.matches(alone) for glob in globs)


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
