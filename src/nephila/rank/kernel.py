"""Which loops run: the compiled ones (`_kernel.c`) where they were built, else their numpy twin (`plain.py`).

NEPHILA_PURE=1 forces the twin. Callers say `kernel.LOOPS.sweep(...)`, so that a test can exchange the loops.
"""

from __future__ import annotations

import os
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from nephila.rank import plain
from nephila.rank.arrays import Degrees, Offsets, Pages, Reals

FORM: Final = 2
"""The form of the functions below; a kernel built from an older file has another, and its twin serves instead."""


class Loops(Protocol):
    """The loops over links; `plain.py` says what each does."""

    def sweep(
        self, offsets: Offsets, sources: Pages, edge_base: int, z: Reals, own: Reals, degrees: Degrees,
        weights: Reals | None, base: float, damping: float, first: int, last: int, width: int, /,
    ) -> float: ...  # fmt: skip

    def pull(
        self, offsets: Offsets, sources: Pages, edge_base: int, z: Reals, sums: Reals, first: int, last: int,
        width: int, /,
    ) -> None: ...  # fmt: skip

    def count(self, pages: Pages, counts: NDArray[np.uint64] | NDArray[np.uint32], /) -> bool: ...

    def mark(self, pages: Pages, seen: NDArray[np.bool_], /) -> bool: ...

    def scatter(
        self, sources: Pages, targets: Pages, cursor: NDArray[np.uint64], rows: Pages, first: int, last: int, /
    ) -> bool: ...

    def tidy(
        self, offsets: Offsets, sources: Pages, lengths: NDArray[np.uint32], first: int, last: int, /
    ) -> tuple[int, int]: ...

    def parse(
        self, text: bytes, sources: NDArray[np.int64], targets: NDArray[np.int64], columns: int, /
    ) -> tuple[int, int, int, int, int]: ...


def _loops() -> tuple[Loops, bool]:
    if os.environ.get("NEPHILA_PURE") != "1":
        try:
            from nephila.rank import _kernel  # type: ignore[attr-defined]
        except ImportError:
            pass
        else:
            if getattr(_kernel, "FORM", 1) == FORM:
                return _kernel, True
    return plain, False


LOOPS, COMPILED = _loops()
