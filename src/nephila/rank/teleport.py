"""Teleport vectors from files: where a person, or a topic, begins anew.

A teleport file has one page per line, `page` or `page<TAB>weight`; a topics file `topic<TAB>page` or
`topic<TAB>page<TAB>weight`. A page is its id, its name or its URL. Weights are made to sum to 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from nephila.errors import NephilaError, UsageError
from nephila.rank.arrays import Ids, Ranks

Find = Callable[[list[str]], dict[str, int]]
Topics = dict[str, Ranks]
_TOPIC = re.compile(r"[A-Za-z0-9_]{1,40}")


def read_teleport(path: Path, ids: Ids, find: Find) -> Ranks:
    """One vector over the rows whose page ids are `ids`."""
    return _vector(path, list(_lines(path)), ids, find)


def read_topics(path: Path, ids: Ids, find: Find) -> Topics:
    """One vector per topic, in the order in which the topics are first named."""
    lines: dict[str, list[tuple[int, list[str]]]] = {}
    for number, words in _lines(path):
        if len(words) < 2 or not _TOPIC.fullmatch(words[0]):
            raise NephilaError(f"{path}, line {number}, is not `topic<TAB>page`, the topic in letters, digits and _.")
        lines.setdefault(words[0], []).append((number, words[1:]))
    return {topic: _vector(path, found, ids, find) for topic, found in lines.items()}


def _vector(path: Path, lines: list[tuple[int, list[str]]], ids: Ids, find: Find) -> Ranks:
    order = np.argsort(ids, kind="stable")
    inorder = ids[order]
    vector = np.zeros(len(ids))
    known = find([words[0] for _, words in lines])
    for number, words in lines:
        page = known.get(words[0])
        place = int(np.searchsorted(inorder, page)) if page is not None else len(ids)
        if page is None or place >= len(ids) or inorder[place] != page:
            raise NephilaError(f"{path}, line {number}: {words[0]!r} is not among the ranked pages; remove the line.")
        weight = _weight(path, number, words)
        vector[order[place]] += weight
    total = float(vector.sum())
    if total <= 0:
        raise NephilaError(f"{path} names no page with a weight above 0; name at least one.")
    return vector / total


def _weight(path: Path, number: int, words: list[str]) -> float:
    if len(words) == 1:
        return 1.0
    try:
        weight = float(words[1])
    except ValueError:
        weight = math.nan
    if len(words) > 2 or not math.isfinite(weight) or weight < 0:
        raise NephilaError(f"{path}, line {number}: {words[1]!r} is not a weight; write a number from 0 on.")
    return weight


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read as a teleport file ({error}); name a text file.") from None
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line.rstrip().split("\t")
