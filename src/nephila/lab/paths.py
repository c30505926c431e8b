"""The path of every page, computed from (seed, site, page), and the page of every path.

A path carries its page's number: the first digits after the last slash. What is read from a path is checked by making
the path again. Lengths, without the first slash, follow S1-28 (mean 71.78, at most 255). All paths are in normal
form as made: nothing in the crawler's own URL code is used here, so that the lab can be its judge.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from nephila.lab.draw import Stream, Table, draw, draws, key_of, site_key
from nephila.lab.listed import listed

PAGES_AT_MOST: Final = 1 << 31
"""More than any site has: for whoever reads a path before he knows the site's size."""

_SHORTEST: Final = 12
_LONGEST: Final = 255
_LENGTH_SCALE: Final = 20.674105  # makes the mean 71.78 over all documents, the home pages' 0 among them
_LENGTHS: Final = Table(
    [(length - 10) ** 2 * math.exp(-(length - 10) / _LENGTH_SCALE) for length in range(_SHORTEST, _LONGEST + 1)]
)
_LENGTH_THRESHOLDS: Final = _LENGTHS.thresholds

_WORDS: Final = listed("""
    bbs board notice news product company intro about photo gallery event free info goods shop cafe club
    member data pds guide study research paper lecture course lab public admin site map link people culture
    travel sports music movie game health book library archive online service support customer community
    forum qna faq guest korea seoul busan history tour hotel car stock job school kids art life
""")
_PATHS_HELD: Final = 1 << 14
_DIRECTORIES: Final = 4096
_STEM_SIGNS: Final = 1 << 15
_EXTENSIONS: Final = (".html", ".html", ".html", ".htm", ".php", ".asp", ".jsp", ".cgi")
_SCRIPTS: Final = ("view.php", "read.asp", "list.jsp", "show.cgi")
_KOREAN: Final = ("검색", "자료실", "게시판", "공지사항", "학교", "여행", "음악", "뉴스")

_CODE: Final = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_GENERATIONS_AT_MOST: Final = 1 << 24
_SESSION: Final = re.compile(
    r";(?:jsessionid|sessionid)=[0-9a-z]*|(?<=[?&])(?:sid|phpsessid)=[0-9a-z]*&?", re.IGNORECASE
)


def _directories() -> tuple[str, ...]:
    made: list[str] = []
    key = key_of(Stream.PATH, 1)
    for number in range(_DIRECTORIES):
        word = draw(key, number)
        parts = 1 + word % 4
        made.append("".join(_WORDS[(word >> (6 + 7 * i)) % len(_WORDS)] + "/" for i in range(parts)))
    return tuple(made)


def _stems() -> str:
    key = key_of(Stream.PATH, 2)
    signs = ""
    number = 0
    while len(signs) < _STEM_SIGNS + _LONGEST:
        signs += _WORDS[draw(key, number) % len(_WORDS)] + "_"
        number += 1
    return signs


DIRECTORIES: Final = _directories()
_STEMS: Final = _stems()


class MakePath(Protocol):
    """What `path_of` and a book of paths both are."""

    def __call__(self, style: PathStyle, page: int, generation: int = 0, /) -> str: ...


@dataclass(frozen=True, slots=True)
class PathStyle:
    """How one site writes its paths."""

    key: int
    first_directory: int
    directories: int
    korean_codec: str  # "" where no path holds Korean words
    folds_case: bool  # the server does not tell upper from lower case (S3-18)

    def directory(self, number: int) -> str:
        return DIRECTORIES[(self.first_directory + number % self.directories) % _DIRECTORIES]


def path_key(seed: int, site: int) -> int:
    return site_key(seed, site, Stream.PATH)


def path_lengths(seed: int, site: int, pages: int) -> NDArray[np.int64]:
    """Lengths of the paths of the first pages, without the first slash; the home page's is 0."""
    lengths = _LENGTHS.picks(draws(path_key(seed, site), 0, pages)) + _SHORTEST
    lengths[0] = 0
    return lengths


def path_of(style: PathStyle, page: int, generation: int = 0) -> str:
    """The path and query of a page in normal form; a later holder of its place has its generation behind the number."""
    if page == 0:
        return "/"
    word = draw(style.key, page)
    length = _SHORTEST + bisect_right(_LENGTH_THRESHOLDS, word >> 32)  # _LENGTHS.pick
    directory = DIRECTORIES[(style.first_directory + (word >> 8 & 0xFF) % style.directories) % _DIRECTORIES]
    start = word >> 16 & (_STEM_SIGNS - 1)
    form = word & 0xFF
    code = f"{page}-{generation}" if generation else str(page)
    if form < 64:  # a script with a query; the number may have leading zeros
        front = f"{directory}{_SCRIPTS[form & 3]}?id="
        room = length - len(front) - len(code)
        if form < 3 and style.korean_codec:
            encoded = quote(_KOREAN[start & 7].encode(style.korean_codec))
            if (room := room - 3 - len(encoded)) >= 6:
                return f"/{front}{code}&key={_STEMS[start : start + room - 5]}&q={encoded}"
            if room >= 0:
                return f"/{front}{code.zfill(len(code) + room)}&q={encoded}"
        elif room >= 6:
            return f"/{front}{code}&key={_STEMS[start : start + room - 5]}"
        elif room >= 0:
            return f"/{front}{code.zfill(len(code) + room)}"
    elif form < 68 and style.korean_codec:
        directory = quote(_KOREAN[start & 7]) + "/"
    end = "/" if form >= 224 else _EXTENSIONS[form & 7]
    room = length - len(directory) - len(code) - len(end)
    if room < 1:
        directory = ""
        room = max(length - len(code) - len(end), 1)
    return f"/{directory}{_STEMS[start : start + room]}{code}{end}"


class PathBook:
    """The paths made last: a page is linked to, asked for and linked from within a short time.

    Two generations of at most `_PATHS_HELD` paths each, some 300 bytes a path at the most: 10 MB.
    """

    __slots__ = ("_before", "held")

    def __init__(self) -> None:
        self.held: dict[int, str] = {}  # by key of the site's paths + page; keys are 64-bit hashes
        self._before: dict[int, str] = {}

    def path(self, style: PathStyle, page: int, generation: int = 0) -> str:
        """The same as `path_of`."""
        return self.held.get(style.key + page + (generation << 64)) or self.make(style, page, generation)

    def make(self, style: PathStyle, page: int, generation: int = 0) -> str:
        """The path of a page that `held` does not hold."""
        name = style.key + page + (generation << 64)
        path = self._before.get(name) or path_of(style, page, generation)
        if len(self.held) >= _PATHS_HELD:
            self._before = self.held.copy()
            self.held.clear()  # the same dict for ever: `links` keeps hold of it
        self.held[name] = path
        return path


def page_of(style: PathStyle, target: str, pages: int, make: MakePath = path_of) -> int | None:
    """The page that a request target names, whatever its generation."""
    named = place_of(style, target, pages, make)
    return None if named is None else named[0]


def place_of(style: PathStyle, target: str, pages: int, make: MakePath = path_of) -> tuple[int, int] | None:
    """(page, generation) that a request target names; session ids are cut, case is folded where the site folds it."""
    named = _place_named(style, target, pages, make)
    if named is None and "id=" in target.lower():
        return _place_named(style, without_session(target), pages, make)
    return named


def _place_named(style: PathStyle, target: str, pages: int, make: MakePath) -> tuple[int, int] | None:
    if target == "/":
        return 0, 0
    found = _CODE.search(target, target.rfind("/", 0, -1) + 1)
    if found is None or len(found[0]) > 30:
        return None
    page, generation = int(found[1]), int(found[2] or 0)
    if not 0 < page < pages or not 0 <= generation < _GENERATIONS_AT_MOST:
        return None
    path = make(style, page, generation)
    if path == target or (style.folds_case and path.lower() == target.lower()):
        return page, generation
    return None


def without_session(target: str) -> str:
    """The target without session ids, as the stripping rules of `links.strip_parameters` leave it."""
    return _SESSION.sub("", target).rstrip("?&")


def in_other_case(path: str, variant: int) -> str:
    """A case variant of a path: 1 all capitals, 2 each part of the path capitalised; the query stays."""
    front, mark, query = path.partition("?")
    if variant == 1:
        return front.upper() + mark + query
    return "/".join(part[:1].upper() + part[1:] for part in front.split("/")) + mark + query
