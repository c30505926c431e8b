"""robots.txt by RFC 9309: bytes come in, the rules for one robot go out, and nothing in the bytes can make it raise.

A file is a list of groups; a group is some `User-agent` lines and the rules under them. Ours are the rules of all
groups that name our product token, merged; without such a group, those of all groups for `*` (2.2.1). Other records,
`Crawl-delay` among them, never end a group (2.2.4). Everything is done on octets, so that a path in Latin-1 forbids
exactly the URLs that carry those octets, and no charset can turn a rule into "everything is allowed" (N12).
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from nephila.crawl.patterns import Rule, RuleIndex, canonical_path, canonical_pattern, index_rules

MAX_BYTES: Final = 500 * 1024
"""2.5: at least 500 KiB are parsed. What stands before this cap is obeyed, and the line it cuts is dropped (N10)."""

MAX_SITEMAPS: Final = 1000


class _Field(Enum):
    USER_AGENT = "user-agent"
    ALLOW = "allow"
    DISALLOW = "disallow"
    CRAWL_DELAY = "crawl-delay"
    SITEMAP = "sitemap"


# Misspellings that stand in real files; the search engines' open parsers forgive the same ones.
_SPELLINGS: Final[dict[_Field, tuple[str, ...]]] = {
    _Field.USER_AGENT: (
        *("user-agent", "useragent", "user agent", "user_agent", "user-agents"),
        *("users-agent", "user-agnet", "useg-agent", "ser-agent"),
    ),
    _Field.ALLOW: ("allow", "alow", "allaw", "allows"),
    _Field.DISALLOW: (
        *("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "desallow"),
        *("disallows", "disalllow", "disllow", "dis-allow"),
    ),
    _Field.CRAWL_DELAY: ("crawl-delay", "crawldelay", "crawl delay", "crawl_delay", "craw-delay"),
    _Field.SITEMAP: ("sitemap", "site-map", "sitemaps"),
}
_FIELDS: Final = {name: key for key, names in _SPELLINGS.items() for name in names}
_LONGEST_NAME: Final = max(map(len, _FIELDS))

_LINE_END: Final = re.compile(r"[\r\n]+")
_BLANK: Final = " \t\v\f"
_WORD_END: Final = re.compile(r"[ \t\v\f]+")
_MARKS: Final = _BLANK + "\xef\xbb\xbf\xc2\xa0"  # a byte order mark or no-break space, octet by octet
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]+")


def product_token(name: str) -> str:
    """What a `User-agent` line and a robot are compared by: `Nephila/1.0 (+…)` is `nephila`, `* # all` is `*`."""
    name = name.strip(_MARKS)
    if name == "*" or name.startswith(("* ", "*\t")):
        return "*"
    found = _TOKEN.match(name)
    return found.group().lower() if found else ""


@dataclass(frozen=True, slots=True)
class Group:
    """`User-agent` lines and what stands under them; patterns as written."""

    tokens: frozenset[str]
    rules: tuple[tuple[bool, str], ...]
    delays_s: tuple[tuple[Set[str], float], ...]  # (the tokens right above it, Crawl-delay)


@dataclass(frozen=True, slots=True)
class Robots:
    """One robots.txt, read."""

    groups: tuple[Group, ...] = ()
    sitemaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """What a robots.txt says to one robot."""

    rules: tuple[Rule, ...] = ()
    crawl_delay_s: float | None = None
    sitemaps: tuple[str, ...] = ()
    index: RuleIndex = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", index_rules(self.rules))

    def allows(self, path: str) -> bool:
        """Whether a path (with its query) may be asked; `/robots.txt` always may (2.2.2)."""
        rule = self.deciding(path)
        return rule is None or rule.allow

    def deciding(self, path: str) -> Rule | None:
        """The rule that decides about a path, for `nephila why`."""
        if path == "/robots.txt":
            return None
        return self.index.winner(canonical_path(path))


NO_RULES: Final = Rules()


def parse(body: bytes, *, cut: bool = False, max_bytes: int = MAX_BYTES) -> Robots:
    """Read a robots.txt. `cut` says that the body was longer than what is given, so its last line is not whole."""
    text = _octets(body[:max_bytes])
    if cut or len(body) > max_bytes:
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    groups: list[Group] = []
    sitemaps: dict[str, None] = {}
    tokens: set[str] = set()  # of the group being read
    latest: set[str] = set()  # the User-agent lines right above, to which a Crawl-delay belongs
    rules: list[tuple[bool, str]] = []
    delays: list[tuple[Set[str], float]] = []
    previous: _Field | None = None
    for key, value in _records(text):
        match key:
            case _Field.USER_AGENT:
                if rules:  # a rule closed the list of names: this line opens the next group
                    groups.append(Group(frozenset(tokens), tuple(rules), tuple(delays)))
                    tokens, rules, delays = set(), [], []
                if previous is not key:
                    latest = set()
                token = product_token(value)
                if token:
                    tokens.add(token)
                    latest.add(token)
            case _Field.ALLOW | _Field.DISALLOW:
                if tokens:
                    rules.append((key is _Field.ALLOW, value))
            case _Field.CRAWL_DELAY:
                delay_s = _delay_s(value)
                if delay_s is not None:
                    delays.append((latest, delay_s))  # shared, not copied: 20,000 names cost no more than one
            case _Field.SITEMAP:
                if value and len(sitemaps) < MAX_SITEMAPS:
                    sitemaps[value.encode("latin-1").decode("utf-8", "replace")] = None
                continue  # belongs to no group, wherever it stands
        previous = key
    groups.append(Group(frozenset(tokens), tuple(rules), tuple(delays)))
    return Robots(tuple(groups), tuple(sitemaps))


def rules_for(robots: Robots, name: str) -> Rules:
    """The rules for the robot of this name: its own groups merged, else those for `*`, else none (2.2.1)."""
    token = product_token(name)
    ours = [group for group in robots.groups if token in group.tokens]
    if not ours:
        token = "*"  # noqa: S105 - a product token is no secret
        ours = [group for group in robots.groups if token in group.tokens]
    merged: dict[tuple[bool, str], None] = {}
    for group in ours:
        merged.update(dict.fromkeys(group.rules))
    rules: dict[Rule, None] = {}
    for allow, value in merged:
        pattern = canonical_pattern(value)
        if pattern:  # an empty Disallow forbids nothing
            rules[Rule(allow, pattern)] = None
    delays = [delay_s for group in ours for named, delay_s in group.delays_s if token in named]
    return Rules(tuple(rules), max(delays, default=None), robots.sitemaps)


def _octets(body: bytes) -> str:
    """One character per octet of the file in UTF-8 or another charset that holds ASCII; UTF-16 is made UTF-8 first."""
    encoding = ""
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16-le" if body.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
    elif body[1:8:2] == b"\0\0\0\0" and b"\0" not in body[0:8:2]:
        encoding = "utf-16-le"
    elif body[0:8:2] == b"\0\0\0\0" and b"\0" not in body[1:8:2]:
        encoding = "utf-16-be"
    if encoding:
        body = body.decode(encoding, "replace").encode()
    return body.replace(b"\0", b"").decode("latin-1")


def _records(text: str) -> Iterator[tuple[_Field, str]]:
    for line in _LINE_END.split(text):
        name, colon, value = line.partition("#")[0].partition(":")
        if not colon:  # `Disallow /private`: two words and no colon
            words = _WORD_END.split(name.strip(_BLANK), 2)
            if len(words) != 2:
                continue
            name, value = words
        name = name.lstrip(_MARKS).rstrip(_BLANK)
        if len(name) > _LONGEST_NAME:
            continue
        key = _FIELDS.get(name.lower())
        if key is _Field.SITEMAP:  # its URL may hold a `#`, and has a `:` of its own
            value = line.partition(":")[2] if colon else value
        if key is not None:
            yield key, value.lstrip(_MARKS).rstrip(_BLANK)


def _delay_s(value: str) -> float | None:
    """A Crawl-delay in seconds; what is negative, infinite or no number is no delay (E14)."""
    if len(value) > 32 or not value.isascii():
        return None
    try:
        delay_s = float(value.replace(",", "."))
    except ValueError:
        return None
    return delay_s if math.isfinite(delay_s) and delay_s >= 0 else None
