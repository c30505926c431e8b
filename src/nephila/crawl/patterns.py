"""Path patterns: percent-encoding made equal, `*` and `$` matched in linear time, the longest match found by look-up.

In: the allow and disallow lines of one robots.txt group. Out: whether a path may be asked. The invariant: the cost of
one answer is bounded, however cunningly the file was written (E15, E16); there is no back-tracking anywhere.

RFC 9309 2.2.2: the rule with the most octets wins, and Allow wins a tie. Patterns without a wildcard are found by
looking up the path's own prefixes; those with one by the piece of text that a path must hold for them to match.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

# What a path may hold as it is (RFC 3986), without the four that mean something in a pattern or an escape.
_PLAIN: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?:@!&'()+,;=[]#")
_NEEDS_WORK: Final = re.compile(r"[^A-Za-z0-9\-._~/?:@!&'()+,;=\[\]#]")
# An escape of one of these means another resource than the character itself, so the escape stays: `a%2Fb` is not `a/b`.
_DELIMITERS: Final = frozenset("/?#")
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_GRAM: Final = 8
_FEW: Final = 48  # so many wildcard rules are tried one by one faster than the path is cut into pieces


def _canonical(text: str) -> str:
    """One spelling for all equal ones: unreserved and reserved characters bare, all others as upper-case escapes.

    `text` holds one character per octet. `*`, `$` and a lone `%` come out escaped.
    """
    if not _NEEDS_WORK.search(text):
        return text
    parts: list[str] = []
    at, end = 0, len(text)
    while at < end:
        character = text[at]
        if character == "%" and at + 2 < end and text[at + 1] in _HEX and text[at + 2] in _HEX:
            character = chr(int(text[at + 1 : at + 3], 16))
            plain = character in _PLAIN and character not in _DELIMITERS
            at += 3
        else:
            plain = character in _PLAIN
            at += 1
        parts.append(character if plain else f"%{ord(character):02X}")
    return "".join(parts)


def _octets(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")


def canonical_path(path: str) -> str:
    """The path and query of a URL, spelled as patterns are; an empty one is `/`."""
    return _canonical(_octets(path)) or "/"


def canonical_pattern(value: str) -> str:
    """The pattern of an allow or disallow line (one character per octet); empty when the line forbids nothing."""
    if not value:
        return ""
    anchored = value.endswith("$")
    pattern = "*".join(_canonical(piece) for piece in value.removesuffix("$").split("*"))
    if not pattern.startswith(("/", "*")):
        pattern = "/" + pattern  # `Disallow: private` is no path; its author can only have meant this
    return pattern + ("$" if anchored else "")


@dataclass(frozen=True, slots=True)
class Glob:
    """Literal pieces between stars; the first stands at the start, and the last at the end if `anchored`."""

    pieces: tuple[str, ...]
    anchored: bool

    def matches(self, text: str) -> bool:
        """Leftmost pieces first: for stars alone that is never wrong, so nothing is ever tried twice."""
        first, *rest = self.pieces
        if not text.startswith(first):
            return False
        if not rest:
            return not self.anchored or len(text) == len(first)
        at = len(first)
        last = rest.pop()
        for piece in rest:
            at = text.find(piece, at)
            if at < 0:
                return False
            at += len(piece)
        if self.anchored:
            return len(text) - len(last) >= at and text.endswith(last)
        return text.find(last, at) >= 0


def whole_glob(pattern: str) -> Glob:
    """A pattern that must cover the whole text, as in the scope's configuration."""
    return Glob(tuple(pattern.split("*")), anchored=True)


def whole_path_glob(pattern: str) -> Glob:
    """The same for canonical paths: `/문서/*` is written as people read it."""
    return Glob(tuple(_canonical(_octets(piece)) for piece in pattern.split("*")), anchored=True)


def _rule_glob(pattern: str) -> Glob:
    return Glob(tuple(re.split(r"\*+", pattern.removesuffix("$"))), pattern.endswith("$"))


@dataclass(frozen=True, slots=True)
class Rule:
    """One allow or disallow line, its pattern in canonical spelling."""

    allow: bool
    pattern: str


# A file can be written so that every one of 20,000 patterns nearly matches its site's long URLs. Trying them all took
# 130 ms per URL, in which no other site is served; a site that asks for that is left alone instead.
TOO_MANY: Final = Rule(allow=False, pattern="too many wildcard patterns nearly match")
_OCTETS_TRIED: Final = 2_000_000


@dataclass(frozen=True, slots=True)
class _Wild:
    octets: int
    rule: Rule
    glob: Glob


@dataclass(frozen=True, slots=True)
class RuleIndex:
    """The rules of one group, arranged for look-up."""

    plain: dict[str, Rule]
    lengths: tuple[int, ...]  # of the plain patterns, ascending
    exact: dict[str, Rule]  # `/path$`, without the `$`
    wild: tuple[_Wild, ...]  # the most octets first, allow before disallow
    grams: dict[str, list[int]] = field(default_factory=dict)  # text a path must hold -> places in `wild`
    gram_lengths: tuple[int, ...] = ()

    def winner(self, path: str) -> Rule | None:
        """The rule that decides about a canonical path, if any matches."""
        best: Rule | None = None
        for place in range(bisect_right(self.lengths, len(path)) - 1, -1, -1):
            best = self.plain.get(path[: self.lengths[place]])
            if best is not None:
                break
        best = _stronger(best, self.exact.get(path))
        octets = -1 if best is None else len(best.pattern)
        tries_left = _OCTETS_TRIED // len(path)
        for wild in self._candidates(path):
            if wild.octets < octets:
                break
            if tries_left == 0:
                return TOO_MANY
            tries_left -= 1
            if wild.glob.matches(path):
                return _stronger(best, wild.rule)
        return best

    def _candidates(self, path: str) -> Iterable[_Wild]:
        if not self.grams:
            return self.wild
        held: set[str] = set()  # each gram once, however often the path repeats it
        for length in self.gram_lengths:
            held.update(path[start : start + length] for start in range(len(path) - length + 1))
        places: set[int] = set()
        for gram in held & self.grams.keys():
            places.update(self.grams[gram])
        return [self.wild[place] for place in sorted(places)]


def _stronger(one: Rule | None, other: Rule | None) -> Rule | None:
    if one is None or other is None:
        return one or other
    return max(one, other, key=lambda rule: (len(rule.pattern), rule.allow))


def index_rules(rules: Sequence[Rule]) -> RuleIndex:
    """Arrange the rules of one group; of two that say the same of the same pattern the allowing one stays."""
    plain: dict[str, Rule] = {}
    exact: dict[str, Rule] = {}
    starred: dict[str, Rule] = {}
    for rule in rules:
        if "*" in rule.pattern:
            table, key = starred, rule.pattern
        elif rule.pattern.endswith("$"):
            table, key = exact, rule.pattern[:-1]
        else:
            table, key = plain, rule.pattern
        if rule.allow or key not in table:
            table[key] = rule
    wild = tuple(
        _Wild(len(rule.pattern), rule, _rule_glob(rule.pattern))
        for rule in sorted(starred.values(), key=lambda rule: (-len(rule.pattern), not rule.allow))
    )
    grams: dict[str, list[int]] = {}
    if len(wild) > _FEW:
        for place, entry in enumerate(wild):
            grams.setdefault(max(entry.glob.pieces, key=len)[:_GRAM], []).append(place)
    return RuleIndex(
        plain=plain,
        lengths=tuple(sorted({len(pattern) for pattern in plain})),
        exact=exact,
        wild=wild,
        grams=grams,
        gram_lengths=tuple(sorted({len(gram) for gram in grams})),
    )
