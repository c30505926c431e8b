"""What is to be ranked: the rows, what is known of each, and the links between them on their way in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from nephila.rank.arrays import Blocks
from nephila.rank.gathering import Rows
from nephila.rank.link_building import Piece
from nephila.rank.report import Footing


class Unit(StrEnum):
    """What a block is (S0-26)."""

    SITE = "site"
    DOMAIN = "domain"
    COMMUNITY = "community"


@dataclass(frozen=True, slots=True)
class Groups:
    """The site, domain and community of each row; any of them may be unknown."""

    site: Blocks | None = None
    domain: Blocks | None = None
    community: Blocks | None = None

    def of(self, unit: Unit) -> Blocks | None:
        match unit:
            case Unit.SITE:
                return self.site
            case Unit.DOMAIN:
                return self.domain
            case Unit.COMMUNITY:
                return self.community


def _as_texts(numbers: list[int]) -> list[str]:
    return [str(number) for number in numbers]


def _as_numbers(words: list[str]) -> dict[str, int]:
    return {word: int(word) for word in words if word.isdecimal()}


@dataclass(frozen=True, slots=True)
class Naming:
    """Ids to names and back, many at once, since names lie on disk. Without names a number is its own."""

    pages: Callable[[list[int]], list[str]] = _as_texts
    sites: Callable[[list[int]], list[str]] = _as_texts
    domains: Callable[[list[int]], list[str]] = _as_texts
    find: Callable[[list[str]], dict[str, int]] = _as_numbers


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows in their order, with the links as pairs of rows. `links_in` is how many came in, ranked or not.

    `footing` says how far the input can be trusted, where that is known.
    """

    rows: Rows
    groups: Groups
    pieces: Callable[[], Iterator[Piece]]
    links_in: Callable[[], int]
    names: Naming
    footing: Callable[[], Footing | None] = lambda: None


def grouping_keys(groups: Groups, unit: Unit) -> list[Blocks]:
    """Sort keys, weakest first, that make the blocks of `unit` ranges of rows, and the sites ranges within them."""
    keys = (groups.site, groups.of(unit))
    return [key for key in keys if key is not None]


def reordered(groups: Groups, order: np.ndarray) -> Groups:
    """The groups of rows that were put into another order."""
    site, domain, community = groups.site, groups.domain, groups.community
    return Groups(
        None if site is None else site[order],
        None if domain is None else domain[order],
        None if community is None else community[order],
    )
