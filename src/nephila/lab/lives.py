"""How long the URL at a place of a site's tree lives, and which pages list what is new; in the `study` profile alone.

S1's documents were of several kinds (4.8): some lasted, some came and went within days, some were seen once and never
again. Here a place in the tree is held by one URL after another; its life says how fast they follow each other. Places
that change hands lie below lists, pages of the kind 0a0 that change almost daily: a page's bytes change with the URLs
it links to, and so nothing else has to. How many places of each life a depth has comes from S1-44 and S1-45.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nephila.lab.draw import Stream, draw, draws, share, site_key
from nephila.lab.fates import Law
from nephila.lab.names import Names


class Life(IntEnum):
    """Of the URLs at one place."""

    LASTING = 0  # one URL for ever
    CHURNING = 1  # a URL that goes after some days, and another in its stead
    PASSING = 2  # another URL every day
    BRIEF = 3  # another URL every 4.75 or 9.5 days: two or four of S1's batches see it


LIST_RATE: Final = 1.5
"""Changes per day from which on a page is a list."""

LIST_SHARE_OF_0A0: Final = 0.2592
"""Of pages of the kind 0a0, by their rates' distribution (`change`)."""

LIST_SHARE: Final = LIST_SHARE_OF_0A0 * 0.2471
"""Of all pages below the home page."""

# By depth, from 1 on: places whose URLs change, and those of them that pass or are brief (`bench/study_fit.py`).
CHANGING_SHARE: Final = (0.0, 0.0380, 0.4223, 0.4629, 0.4788, 0.4427, 0.4578, 0.4389, 0.4348, 0.3937)
PASSING_SHARE: Final = (0.0, 0.0380, 0.0562, 0.1224, 0.1484, 0.0895, 0.1141, 0.0832, 0.0765, 0.0093)
_BRIEF_SHARE: Final = (0.0, 0.0, 0.0335, 0.0312, 0.0302, 0.0323, 0.0315, 0.0326, 0.0328, 0.0352)
_LIST_HOMES: Final = 0.110  # of home pages, by their domains' distributions

# (shape, scale per day) of home pages' change rates: S1-42, S1-43 by 4.6.
BY_DOMAIN: Final = {
    "ac.kr": (0.1583, 0.4364),
    "co.kr": (0.0893, 11.64),
    "go.kr": (0.1260, 0.6439),
    "or.kr": (0.0692, 1.434),
    "pe.kr": (0.3785, 0.0423),
    "kr": (0.0897, 5.570),
    "com": (0.1062, 8.224),
    "net": (0.1506, 0.9354),
    "org": (0.1885, 4.659),
}
_MOST_PER_DAY: Final = 24.0


def gamma_rate(shape: float, scale: float, probability: float) -> float:
    """The quantile of a Gamma distribution, in changes per day."""
    from scipy.special import gammaincinv  # heavy, and needed by the study alone

    # Six digits: what a later release of the library computes differently in the last place must not move a change.
    return min(float(f"{float(gammaincinv(shape, probability)) * scale:.6g}"), _MOST_PER_DAY)


def domain_law(host: str) -> tuple[float, float]:
    """(shape, scale per day) of the change rates of home pages under a host's domain."""
    labels = host.split(".")
    return BY_DOMAIN.get(".".join(labels[-2:])) or BY_DOMAIN.get(labels[-1]) or BY_DOMAIN["com"]


@lru_cache(maxsize=8)
def _names(seed: int, sites: int) -> Names:
    return Names(seed, sites)


@lru_cache(maxsize=1 << 13)
def home_rate(law: Law, site: int) -> float:
    """Expected changes of a home page per day."""
    word = draw(site_key(law.seed, site, Stream.RATE), 0)
    return gamma_rate(*domain_law(_names(law.seed, law.sites).make(site)), share(word))


def is_list(law: Law, site: int, page: int) -> bool:
    """Whether a page lists what is new, so that the URLs below it change."""
    if law.profile == "survey":
        return False
    if page == 0:
        return home_rate(law, site) > LIST_RATE
    return draw(site_key(law.seed, site, Stream.LISTS), page) < int(LIST_SHARE * 2.0**64)


def lists(law: Law, site: int, first: int, count: int) -> NDArray[np.bool_]:
    """`is_list` for pages below the home page."""
    flags: NDArray[np.bool_] = draws(site_key(law.seed, site, Stream.LISTS), first, count) < np.uint64(
        int(LIST_SHARE * 2.0**64)
    )
    return flags


def place_lives(
    law: Law, site: int, listing: NDArray[np.bool_], children: NDArray[np.int64], starts: list[int]
) -> NDArray[np.uint8]:
    """The lives of all places that are known: the home page's, then those of all children in order."""
    known = 1 + int(children.sum())
    lives = np.zeros(known, dtype=np.uint8)
    if law.profile == "survey" or known == 1:
        return lives
    places = np.arange(1, known)
    depth = np.minimum(np.searchsorted(np.array(starts), places, side="right") - 1, len(CHANGING_SHARE) - 1)
    below = np.repeat(listing, children)  # an island's pages are below none
    words = draws(site_key(law.seed, site, Stream.LIFE), 1, known - 1)
    chosen = np.where(words < _BRIEF_BELOW[depth], Life.BRIEF, _OTHERWISE[depth])
    chosen = np.where(words < _PASSES_BELOW[depth], Life.PASSING, chosen)
    lives[1:] = np.where(below, chosen, Life.LASTING)
    return lives


# Of the places below lists: a home page's list holds lasting places and passing ones, any other churning and passing.
_PASSES: Final = [0.0, CHANGING_SHARE[1] / _LIST_HOMES] + [
    passing / changing for passing, changing in zip(PASSING_SHARE[2:], CHANGING_SHARE[2:], strict=True)
]
_PASSES_BELOW: Final = np.array([int(chance * 2.0**64) for chance in _PASSES], dtype=np.uint64)
_BRIEF_BELOW: Final = np.array(
    [
        int((passes + (brief / changing if changing else 0.0)) * 2.0**64)
        for passes, brief, changing in zip(_PASSES, _BRIEF_SHARE, CHANGING_SHARE, strict=True)
    ],
    dtype=np.uint64,
)
_OTHERWISE: Final = np.array([Life.LASTING, Life.LASTING] + [Life.CHURNING] * 8, dtype=np.uint8)
