"""Which URLs must not be here: rules as people write them, compiled once, and one question.

http://www.example.org/a.html      this page
http://www.example.org             this site: all its pages, now and later (no slash behind the host)
www.example.org                    this host: its sites of either scheme and any port
http://www.example.org/private/*   every URL that fits; a star stands for any text
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from nephila.crawl.patterns import Glob, canonical_path, whole_glob, whole_path_glob
from nephila.errors import UsageError
from nephila.store.folder import CrawlFolder
from nephila.store.forgotten import rules_in_force
from nephila.urls import NO_RULES, Refusal, StripRules, host_of, normalise, split

_HOST: Final = re.compile(r"[\w.-]+|\[[0-9a-fA-F:.]+\]")
_SITE: Final = re.compile(r"https?://[^/?#]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class UrlPattern:
    """A rule with stars, before and behind the first slash of the path."""

    text: str
    site: Glob
    path: Glob

    def fits(self, site: str, path: str) -> bool:
        return self.site.matches(site) and self.path.matches(canonical_path(path))


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Rules in force."""

    pages: frozenset[str] = frozenset()
    sites: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    patterns: tuple[UrlPattern, ...] = field(default=())

    def __bool__(self) -> bool:
        return bool(self.pages or self.sites or self.hosts or self.patterns)

    def whole_site(self, site: str) -> str | None:
        """The rule that forgets a site as a whole."""
        if site in self.sites:
            return site
        host = host_of(site)
        return host if host in self.hosts else None

    def rule_for(self, site: str, path: str) -> str | None:
        """The rule that forgets a URL, given as its site and its path; None where there is none."""
        if site + path in self.pages:
            return site + path
        return self.whole_site(site) or next((each.text for each in self.patterns if each.fits(site, path)), None)


NOTHING: Final = Forgotten()


def normal_rule(text: str, strip: StripRules, where: str = "") -> str:
    """A rule in its one spelling; what can mean no URL is refused, with a word of where it stood."""
    given = text.strip()
    if "*" in given:
        site, _, path = given.partition("://")[2].partition("/")
        scheme = given.partition("://")[0].lower()
        if scheme in ("http", "https", "*") and site:
            return f"{scheme}://{site.lower()}/{path}"
    elif "://" not in given and _HOST.fullmatch(given) and "." in given.strip("."):
        url = normalise(f"http://{given}/", NO_RULES)
        if not isinstance(url, Refusal):
            return host_of(url)
    else:
        url = normalise(given, strip)
        if not isinstance(url, Refusal):
            return split(url)[0] if _SITE.fullmatch(given) else url
    raise UsageError(
        f"{where}{text!r} names no page or site; write http://www.example.org/a.html (a page), "
        "http://www.example.org (a site), www.example.org (a host) or http://www.example.org/private/* (all that fits)."
    )


def compile_rules(rules: Iterable[str]) -> Forgotten:
    """Rules in their normal spelling, as the folder keeps them."""
    pages, sites, hosts, patterns = set(), set(), set(), []
    for rule in rules:
        if "*" in rule:
            site, path = _parts(rule)
            patterns.append(UrlPattern(rule, whole_glob(site), whole_path_glob(path)))
        elif "://" not in rule:
            hosts.add(rule)
        elif rule.count("/") == 2:
            sites.add(rule)
        else:
            pages.add(rule)
    return Forgotten(frozenset(pages), frozenset(sites), frozenset(hosts), tuple(patterns))


def _parts(rule: str) -> tuple[str, str]:
    scheme, _, rest = rule.partition("://")
    site, slash, path = rest.partition("/")
    return f"{scheme}://{site}", slash + path


def read_forgotten(folder: CrawlFolder) -> Forgotten:
    """What a folder must not let in again."""
    rules = rules_in_force(folder)
    return compile_rules(rules) if rules else NOTHING
