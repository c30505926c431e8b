"""The loops over links in numpy: the twin of `_kernel.c`, for machines without a C compiler.

Every function has the signature and the meaning of its compiled form; the same tests hold both. One difference is
allowed: within a sweep the twin uses the newest values from STRIDE rows to STRIDE rows, the kernel from row to row, so
that the twin may need a few more sweeps for the same ranks.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from nephila.rank.arrays import Degrees, Offsets, Pages, Reals

STRIDE: Final = 4096
_GAPS: Final = bytes.maketrans(b",;\t\r", b"    ")
_LARGEST: Final = (2**63 - 10) // 10 * 10


def sweep(
    offsets: Offsets, sources: Pages, edge_base: int, z: Reals, own: Reals, degrees: Degrees, weights: Reals | None,
    base: float, damping: float, first: int, last: int, width: int,
) -> float:  # fmt: skip
    """One Gauss-Seidel sweep over the rows [first, last); `own` gets the new values, the L1 change is returned."""
    newest = z.copy()
    change = 0.0
    for begin in range(first, last, STRIDE):
        end = min(begin + STRIDE, last)
        sums = np.empty(end - begin, z.dtype)
        pull(offsets, sources, edge_base, newest, sums, begin, end, width)
        degree = degrees[begin:end].astype(np.float64)
        linked = degree > 0
        given = base if weights is None else base * weights[begin:end].astype(np.float64)
        values = np.divide(given + damping * sums, degree, out=np.zeros(end - begin), where=linked)
        values = np.where(linked, values, newest[begin:end])
        change += float((np.abs(values - newest[begin:end]) * degree).sum())
        newest[begin:end] = values
    own[: last - first] = newest[first:last]
    return change


def pull(
    offsets: Offsets, sources: Pages, edge_base: int, z: Reals, sums: Reals, first: int, last: int, width: int
) -> None:
    """sums[v - first] = the sum of z over the in-links of v."""
    bounds = offsets[first : last + 1].astype(np.int64) - edge_base
    if bounds[-1] > len(sources) or bounds[0] < 0:
        raise ValueError("rows outside the links given")
    begins = bounds[:-1]
    filled = begins < bounds[1:]
    sums[: last - first] = 0
    if filled.any():
        values = z[sources[bounds[0] : bounds[-1]]].astype(np.float64)
        sums[: last - first][filled] = np.add.reduceat(values, begins[filled] - bounds[0])


def count(pages: Pages, counts: NDArray[np.uint64] | NDArray[np.uint32]) -> bool:
    """counts[page] += how often it occurs; False when a page lies outside."""
    if len(pages) and int(pages.max()) >= len(counts):
        return False
    counts += np.bincount(pages, minlength=len(counts)).astype(counts.dtype)
    return True


def mark(pages: Pages, seen: NDArray[np.bool_]) -> bool:
    """seen[page] = True for each page; False when a page lies outside."""
    if len(pages) and int(pages.max()) >= len(seen):
        return False
    seen[pages] = True
    return True


def scatter(sources: Pages, targets: Pages, cursor: NDArray[np.uint64], rows: Pages, first: int, last: int) -> bool:
    """Put the source of each link whose target lies in [first, last) at its row's cursor, and move the cursor on.

    Cursors are those of these rows alone.
    """
    inside = (targets >= first) & (targets < last)
    chosen, heads = targets[inside] - np.uint32(first), sources[inside]
    order = np.argsort(chosen, kind="stable")
    chosen, heads = chosen[order], heads[order]
    rows_met, begins, lengths = np.unique(chosen, return_index=True, return_counts=True)
    within = np.arange(len(chosen)) - np.repeat(begins, lengths)
    places = np.repeat(cursor[rows_met].astype(np.int64), lengths) + within
    if len(places) and places.max() >= len(rows):
        return False
    rows[places] = heads
    cursor[rows_met] += lengths.astype(np.uint64)
    return True


def tidy(offsets: Offsets, sources: Pages, lengths: NDArray[np.uint32], first: int, last: int) -> tuple[int, int]:
    """Sort each row of [first, last), drop repetitions and self-links, pack the rows: (links kept, self-links dropped).

    Offsets are those of these rows alone, from 0 on.
    """
    bounds = offsets[: last - first + 1].astype(np.int64)
    row = np.repeat(np.arange(first, last, dtype=np.uint64), np.diff(bounds))
    heads = sources[bounds[0] : bounds[-1]]
    itself = row == heads
    keys = np.unique((row[~itself] << np.uint64(32)) | heads[~itself])
    sources[bounds[0] : bounds[0] + len(keys)] = (keys & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    lengths[: last - first] = np.bincount((keys >> np.uint64(32)).astype(np.int64) - first, minlength=last - first)
    return len(keys), int(itself.sum())


def parse(
    text: bytes, sources: NDArray[np.int64], targets: NDArray[np.int64], columns: int
) -> tuple[int, int, int, int, int]:
    """Read whole lines: (bytes read, links, lines, columns, what is wrong with the next line or 0)."""
    done = links = lines = 0
    while done < len(text) and links < len(sources):
        end = text.find(b"\n", done)
        if end < 0:
            break
        words = text[done:end].translate(_GAPS).split()
        if words and words[0][:1] not in (b"#", b"%"):
            wrong = _wrong(words, text[done:end], columns)
            if wrong:
                return done, links, lines, columns, wrong
            columns = len(words)
            sources[links], targets[links] = int(words[0]), int(words[1])
            links += 1
        lines += 1
        done = end + 1
    return done, links, lines, columns, 0


def _wrong(words: list[bytes], line: bytes, columns: int) -> int:
    if len(words) < 2 or not (words[0].isdigit() and words[1].isdigit()) or b"\r" in line.rstrip(b"\r"):
        return 1
    if max(int(words[0]), int(words[1])) >= _LARGEST:
        return 2
    return 3 if columns and len(words) != columns else 0
