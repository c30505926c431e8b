"""What one site in memory knows of its patterns: counted here, judged by `traps`, kept on disk for those that matter.

Small patterns are a number each; from `LEARN_FROM` pages on a pattern is watched, and its row goes to disk with the
page that changed it. A kill costs the counts of small patterns, no more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from nephila.crawl.combinations import Combinations
from nephila.crawl.traps import (
    LEARN_FROM,
    NEW_BYTES,
    CompiledTraps,
    PatternRow,
    SeenTexts,
    after_page,
    branch_of,
    looks_endless,
    number_rows,
    numbers_of,
    pattern_of,
    skeleton,
    sleeping_reason,
    sleeps,
    text_runs,
)
from nephila.urls import url_hash

MOST_COUNTED: Final = 1_000
MOST_PROBES: Final = 4
SITE: Final = ""
"""Stands for the whole site where branches are probed."""


@dataclass(frozen=True, slots=True)
class KeptPattern:
    """A watched pattern as it lies on disk."""

    pattern: int
    name: str
    asked: int
    recent: int
    grown: int


@dataclass(slots=True)
class _Watched:
    name: str
    row: PatternRow
    texts: SeenTexts = field(default_factory=SeenTexts)
    combinations: Combinations = field(default_factory=Combinations)
    _first: list[str] = field(default_factory=list)
    _varying: set[int] = field(default_factory=set)

    def varying(self, numbers: list[str]) -> int:
        """How many of the numbers in its URLs have been seen to vary."""
        self._first = self._first or numbers
        pairs = zip(self._first, numbers, strict=False)  # URLs of a branch have more or fewer
        self._varying.update(place for place, (first, number) in enumerate(pairs) if first != number)
        return len(self._varying)


@dataclass(frozen=True, slots=True)
class Brought:
    """What a page brought besides its text: whether it is HTML, a copy, a soft 404, and where its new URLs lie."""

    is_html: bool
    is_copy: bool
    is_soft_404: bool
    outside_pattern: bool = False
    outside_branch: bool = False
    inside_pattern: bool = False
    inside_branch: bool = False
    depth: int = 0


class SiteTraps:
    """The patterns of one site."""

    __slots__ = ("_counts", "_missing", "_probes", "_watched")

    def __init__(self, kept: Iterable[KeptPattern] = (), *, is_honest: bool = False) -> None:
        self._counts: dict[int, int] = {}
        self._watched = {row.pattern: _Watched(row.name, PatternRow(row.asked, row.recent, row.grown)) for row in kept}
        self._missing = is_honest  # whether the site has ever said that something is not there
        self._probes: dict[str, _Error | None] = {}  # what was probed, and the answer if there was one

    def refusal(self, path: str, traps: CompiledTraps) -> str | None:
        """Why a URL of this site is not asked; None where nothing speaks against it."""
        if not self._watched:
            return None
        for name in (pattern_of(path), branch_of(path)):
            watched = self._watched.get(url_hash(name))
            if watched is not None and sleeps(watched.row, traps.keys):
                return sleeping_reason(watched.name, watched.row)
        return None

    def learn(self, path: str, body: bytes, brought: Brought) -> list[KeptPattern]:
        """A page came: its pattern and branch count one more. Returns the rows that go to disk."""
        changed = []
        runs: list[bytes] | None = None
        numbers = numbers_of(path)
        for name, has_new_urls, is_larger in (
            (pattern_of(path), brought.outside_pattern, brought.inside_pattern),
            (branch_of(path), brought.outside_branch, brought.inside_branch),
        ):
            key = url_hash(name)
            watched = self._watched.get(key)
            if watched is None:
                asked = self._counts.pop(key, 0) + 1
                if asked < LEARN_FROM:
                    self._counts[key] = asked
                    continue
                watched = self._watched[key] = _Watched(name, PatternRow(asked - 1))
            combines, varying = watched.combinations.seen(path), watched.varying(numbers)
            grew = is_larger and (combines or looks_endless(path, brought.depth, varying))
            is_new = has_new_urls or not brought.is_html
            if brought.is_html and not (grew or watched.row.grown):
                is_new = True  # what has never grown without end cannot sleep, whatever its text: reading it is dear
            elif brought.is_html:
                runs = [*text_runs(body, path), *number_rows(body)] if runs is None else runs
                is_new = watched.texts.new_bytes(runs) >= NEW_BYTES or is_new
            is_new = is_new and not brought.is_copy and not brought.is_soft_404
            watched.row = after_page(watched.row, is_new=is_new, grew=grew)
            changed.append(KeptPattern(key, name, watched.row.asked, watched.row.recent, watched.row.grown))
        if len(self._counts) > MOST_COUNTED:
            # The rarest go: a trap's pattern is never among them.
            least = sorted(self._counts.values())[len(self._counts) // 2]
            self._counts = {key: count for key, count in self._counts.items() if count > least}
        return changed

    # Soft 404: a site that answers 200 to everything (U3)

    def was_missing(self) -> None:
        """The site said 404: it tells what is there from what is not."""
        self._missing = True

    def probe(self, path: str, requested: int, probe_after: int | None) -> str | None:
        """The path of something that cannot be there, when it is time to ask for it: once per site, and per branch."""
        if probe_after is None or self._missing or requested < probe_after or len(self._probes) >= MOST_PROBES:
            return None
        branch = branch_of(path)
        if SITE not in self._probes:
            return f"/{NOWHERE}"
        if branch in ("/", "/?") or branch in self._probes or url_hash(branch) not in self._watched:
            return None
        return f"{path[: path.index('/', 1) + 1]}{NOWHERE}"

    def probed(self, path: str, body: bytes | None) -> None:
        """What came of a probe; None: the site said that it is not there."""
        where = SITE if path == f"/{NOWHERE}" else branch_of(path)
        self._probes[where] = None if body is None else _Error(skeleton(body), frozenset(text_runs(body, path)))
        if body is None and where == SITE:
            self._missing = True

    def is_soft_404(self, path: str, body: bytes, *, trusted: bool) -> bool:
        """Whether a page is like the answer to what cannot be there: in its form, and on a trusted site in its words.

        Programs that make a page of every URL exist too; of a site that the user has named they are collected.
        """
        if not self._probes or path == "/":
            return False
        for error in (self._probes.get(SITE), self._probes.get(branch_of(path))):
            if error is None or error.skeleton != skeleton(body):
                continue
            if not trusted or error.says(text_runs(body, path)):
                return True
        return False


@dataclass(frozen=True, slots=True)
class _Error:
    """A page that says 200 and means 404."""

    skeleton: int
    runs: frozenset[bytes]

    def says(self, runs: list[bytes]) -> bool:
        """Whether it consists of the same words, for the most part."""
        in_all = {*runs, *self.runs}
        shared_bytes = sum(map(len, self.runs.intersection(runs)))
        return shared_bytes > 0 and shared_bytes >= _ALIKE * sum(map(len, in_all))


_ALIKE: Final = 0.8
NOWHERE: Final = "nephila-asks-for-what-is-not-here"
