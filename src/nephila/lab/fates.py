"""What becomes of requests: the fates of home pages and of other pages, in the shares of S1-26 and S1-27."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nephila.lab import figures
from nephila.lab.draw import Stream, Table, draws, key_of, permuted, site_key, web_key


class Fate(IntEnum):
    """What becomes of a request for a page (S1-26, S1-27)."""

    OK = 0
    NOT_FOUND = 1
    FORBIDDEN = 2
    SERVER_ERROR = 3
    MOVED = 4
    FOUND = 5
    RESET = 6
    CUT_BODY = 7
    STALL_BODY = 8
    SHORT_HEADER = 9
    NOT_HTTP = 10
    HANG = 11
    NO_NAME = 12
    NAME_FAILS = 13
    REFUSED = 14


# Table 1's rows divided into fates. The paper does not divide its "rest"; nor does it say which codes came.
_SEED_FATES: Final = (
    (Fate.OK, figures.SEED_RESPONSES["OK"]),
    (Fate.NOT_FOUND, figures.SEED_RESPONSES["code"] * 0.45),
    (Fate.FORBIDDEN, figures.SEED_RESPONSES["code"] * 0.15),
    (Fate.SERVER_ERROR, figures.SEED_RESPONSES["code"] * 0.10),
    (Fate.FOUND, figures.SEED_RESPONSES["code"] * 0.30),
    (Fate.NO_NAME, figures.SEED_RESPONSES["noIP"] * 0.9),
    (Fate.NAME_FAILS, figures.SEED_RESPONSES["noIP"] * 0.1),
    (Fate.STALL_BODY, figures.SEED_RESPONSES["dTim/hTim"] * 0.5),
    (Fate.HANG, figures.SEED_RESPONSES["dTim/hTim"] * 0.5),
    (Fate.REFUSED, figures.SEED_RESPONSES["rest"] * 0.6),
    (Fate.RESET, figures.SEED_RESPONSES["rest"] * 0.1),
    (Fate.SHORT_HEADER, figures.SEED_RESPONSES["rest"] * 0.15),
    (Fate.NOT_HTTP, figures.SEED_RESPONSES["rest"] * 0.15),
)
_SEED_FATE: Final = Table([weight for _, weight in _SEED_FATES])
_SEED_FAILURE: Final = Table([weight for _, weight in _SEED_FATES[1:]])
_ALIVE: Final = Table(figures.BATCHES_ALIVE)

RESPONSE_OF: Final = {
    Fate.OK: "OK",
    Fate.NOT_FOUND: "code",
    Fate.FORBIDDEN: "code",
    Fate.SERVER_ERROR: "code",
    Fate.MOVED: "code",
    Fate.FOUND: "code",
    Fate.RESET: "cErr",
    Fate.REFUSED: "cErr",
    Fate.CUT_BODY: "dErr/dTim",
    Fate.STALL_BODY: "dErr/dTim",
    Fate.SHORT_HEADER: "rest",
    Fate.NOT_HTTP: "rest",
    Fate.HANG: "rest",
    Fate.NO_NAME: "rest",
    Fate.NAME_FAILS: "rest",
}
"""Table 2's row of a fate (S1-27)."""


def _failures_below_seeds() -> dict[str, float]:
    """Table 2 counts the seeds too: what they contribute is taken off before the rest is shared out."""
    left = {row: float(count) for row, count in figures.DOCUMENT_RESPONSES.items()}
    for fate, count in _SEED_FATES:
        left[RESPONSE_OF[fate]] -= count
    return left


_LEFT: Final = _failures_below_seeds()
_FAILURES: Final = (
    (Fate.NOT_FOUND, _LEFT["code"] * 0.62),
    (Fate.FORBIDDEN, _LEFT["code"] * 0.07),
    (Fate.SERVER_ERROR, _LEFT["code"] * 0.06),
    (Fate.MOVED, _LEFT["code"] * 0.10),
    (Fate.FOUND, _LEFT["code"] * 0.15),
    (Fate.RESET, _LEFT["cErr"]),
    (Fate.CUT_BODY, _LEFT["dErr/dTim"] * 0.6),
    (Fate.STALL_BODY, _LEFT["dErr/dTim"] * 0.4),
    (Fate.SHORT_HEADER, _LEFT["rest"] * 0.5),
    (Fate.NOT_HTTP, _LEFT["rest"] * 0.4),
    (Fate.HANG, _LEFT["rest"] * 0.1),
)
_FAILURE: Final = Table([weight for _, weight in _FAILURES])
# By depth: a draw from here on fails. The last stands for all depths below the survey's.
_FAILS_FROM: Final = {
    profile: [
        np.uint64(min(round(figures.success(depth, profile) * (1 << 32)), (1 << 32) - 1) << 32)
        for depth in range(len(figures.REQUESTED) + 1)
    ]
    for profile in ("survey", "study")
}
_FAILURE_FATES: Final = np.array([fate for fate, _ in _FAILURES], dtype=np.uint8)


class Law(NamedTuple):
    """What all sites of one web have in common. Part of the key of much that is kept, so it must be hashed fast."""

    seed: int
    sites: int
    profile: str
    max_depth: int
    faults: bool
    growth: float = 1.0


def stratum(law: Law, site: int, stream: Stream) -> int:
    """The site's place in a shuffled order of all sites: shares of sites hold at any scale, not only on average."""
    return permuted(web_key(law.seed, stream, 1), site, law.sites)


def seed_fate(law: Law, site: int) -> Fate:
    """What becomes of the home page (S1-26)."""
    if not law.faults:
        return Fate.OK
    if law.profile == "study":  # its seeds are up in 0 to 9 batches (S1-37); those of 0 fail as Table 1's failures do
        if batches_alive(law, site):
            return Fate.OK
        return _SEED_FATES[1 + _SEED_FAILURE.pick(site_key(law.seed, site, Stream.SEED_FATE))][0]
    place = (stratum(law, site, Stream.SEED_FATE) << 64) // law.sites
    return _SEED_FATES[_SEED_FATE.pick(place)][0]


def batches_alive(law: Law, site: int) -> int:
    """In how many of nine batches the study finds the home page (S1-37)."""
    return _ALIVE.pick((stratum(law, site, Stream.LIVENESS) << 64) // law.sites)


def always_up(law: Law, site: int) -> bool:
    """Whether a home page that answers does so in every batch."""
    return law.profile == "survey" or not law.faults or batches_alive(law, site) == len(figures.BATCHES_ALIVE) - 1


def page_fates(law: Law, key: int, depth: int, first: int, count: int) -> NDArray[np.uint8]:
    """The fates of pages of one depth below the home page."""
    fates = np.zeros(count, dtype=np.uint8)
    if law.faults:
        fails_from = _FAILS_FROM[law.profile]
        failed = (draws(key, first, count) >= fails_from[min(depth, len(fails_from) - 1)]).nonzero()[0]
        if len(failed):
            again = draws(key_of(key, Stream.CODE), first, count)[failed]
            fates[failed] = _FAILURE_FATES[_FAILURE.picks(again)]
    return fates
