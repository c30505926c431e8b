"""An agent of the exact block ranking (S0-25): it holds the links into its own rows and sweeps them.

Its vector is [what my rows give | what the foreign rows that link to mine give]; foreign values are fixed while it
sweeps, and renewed by the coordinator between two rounds. `aggregation.py` tells the whole round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nephila.engine import Channel
from nephila.rank import kernel
from nephila.rank.arrays import Degrees, Offsets, Pages
from nephila.rank.block_messages import (
    Border,
    Flow,
    Given,
    Needs,
    Post,
    Result,
    Scale,
    Shard,
    Stop,
    reals,
    whole_numbers,
)
from nephila.rank.link_file import LinkFile


@dataclass(slots=True)
class Holding:
    """The rows of an agent, their links renumbered into its own vector `z`."""

    offsets: Offsets
    sources: Pages
    degrees: Degrees
    z: Any
    foreign: Any
    block: Any
    pair: Any
    pairs: tuple[Any, Any]
    base: float
    damping: float

    @property
    def rows(self) -> int:
        return len(self.degrees)


async def agent(channel: Channel, shard: Shard) -> None:
    """Rank the rows of a shard together with the others until the coordinator says stop."""
    post = Post(channel)
    held, first_block, blocks = _hold(shard)
    counts = np.bincount(held.block[: held.rows][held.degrees > 0] - first_block, minlength=blocks)
    await post.send(Needs(held.foreign.tobytes(), held.pairs[0].tobytes(), held.pairs[1].tobytes(), counts.tobytes()))
    border = await post.receive()
    assert isinstance(border, Border)
    lent = whole_numbers(border.rows) - shard.first
    while True:
        await post.send(Given(held.z[lent].tobytes()))
        taken = await post.receive()
        assert isinstance(taken, Given)
        held.z[held.rows :] = reals(taken.z)
        y, flow = _flow(held, first_block, blocks)
        await post.send(flow)
        match await post.receive():
            case Scale(factors):
                held.z *= reals(factors)[held.block]
                _sweep(held, shard.local_sweeps)
            case Stop():
                await post.send(Result(y.tobytes()))
                return
            case other:
                raise AssertionError(f"{type(other).__name__} was not expected")


def _hold(shard: Shard) -> tuple[Holding, int, int]:
    file = LinkFile.open(shard.link_file)
    links, first, last = file.links, shard.first, shard.last
    begin, end = int(links.offsets[first]), int(links.offsets[last])
    heads = links.sources[begin:end].astype(np.int64)
    offsets = (links.offsets[first : last + 1] - links.offsets[first]).astype(np.uint64)
    inside = (heads >= first) & (heads < last)
    foreign = np.unique(heads[~inside])
    rows = last - first
    number = np.where(inside, heads - first, rows + np.searchsorted(foreign, heads))
    starts = whole_numbers(shard.block_starts)
    members = np.concatenate((np.arange(first, last), foreign))
    block = np.searchsorted(starts, members, side="right") - 1
    degrees = links.degrees[first:last].copy()
    pair, pairs = _pairs(block, number, offsets, degrees)
    z = np.zeros(len(members))
    z[:rows] = np.divide(_start(shard, file.links.pages), degrees, out=np.zeros(rows), where=degrees > 0)
    held = Holding(
        offsets, number.astype(np.uint32), degrees, z, foreign, block, pair, pairs,
        (1 - shard.damping) / file.links.pages, shard.damping,
    )  # fmt: skip
    first_block = int(np.searchsorted(starts, first, side="right")) - 1
    return held, first_block, int(np.searchsorted(starts, last, side="left")) - first_block


def _start(shard: Shard, pages: int) -> Any:
    """The values of my rows before the first exchange: those of the last ranking, or all alike."""
    rows = shard.last - shard.first
    if shard.start is None:
        return np.full(rows, 1 / pages)
    return np.fromfile(shard.start, "<f8", rows, offset=8 * shard.first)


def _pairs(block: Any, number: Any, offsets: Offsets, degrees: Degrees) -> tuple[Any, tuple[Any, Any]]:
    """Which pair of blocks each link belongs to; links to dangling pages, which give nothing on, have none (-1)."""
    rows = np.repeat(np.arange(len(degrees)), (offsets[1:] - offsets[:-1]).astype(np.int64))
    key = block[number] * (int(block.max(initial=0)) + 1) + block[rows]
    counted = degrees[rows] > 0
    keys, places = np.unique(key[counted], return_inverse=True)
    pair = np.full(len(number), -1, np.int64)
    pair[counted] = places
    width = int(block.max(initial=0)) + 1
    return pair, (keys // width, keys % width)


def _flow(held: Holding, first_block: int, blocks: int) -> tuple[Any, Flow]:
    """T(y) for my rows, and what the coordinator needs to know of it."""
    sums = np.empty(held.rows)
    kernel.LOOPS.pull(held.offsets, held.sources, 0, held.z, sums, 0, held.rows, 8)
    y = held.base + held.damping * sums
    linked = held.degrees > 0
    before = held.z[: held.rows] * held.degrees
    counted = held.pair >= 0
    between = np.bincount(held.pair[counted], weights=held.z[held.sources[counted]], minlength=len(held.pairs[0]))
    own = np.bincount(held.block[: held.rows] - first_block, weights=before, minlength=blocks)
    wrong = float(np.abs(y - before)[linked].sum())
    return y, Flow(between.tobytes(), own.tobytes(), wrong, float(y.sum()))


def _sweep(held: Holding, most: int) -> None:
    """Local sweeps with the inflow from outside fixed, until they change little."""
    own = np.empty(held.rows)
    begun = 0.0
    for number in range(most):
        change = kernel.LOOPS.sweep(
            held.offsets, held.sources, 0, held.z, own, held.degrees, None, held.base, held.damping, 0, held.rows, 8
        )
        held.z[: held.rows] = own
        begun = begun or change
        if number and change <= begun * 1e-3:
            return
