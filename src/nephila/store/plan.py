"""`DIR/plan/`: which pages are to be visited again, as refresh planned it and crawl takes it.

    refresh.json            the plan in force: its number, when and how it was made, whether its round has ended
    revisits-NNNNNN.parquet its pages, the most urgent first
    watch.json              what `nephila watch` does and will do next

The rows are written before `refresh.json` names them, so that a plan is there whole or not at all. The former plans'
rows are deleted with the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from nephila.errors import DamagedError
from nephila.store.durable import aside_of, make_directory, publish, replace_file
from nephila.store.folder import CrawlFolder

NAME: Final = "refresh.json"
_WATCH: Final = "watch.json"
_ROWS: Final = "revisits-{:06}.parquet"


@dataclass(frozen=True, slots=True)
class PlanHead:
    """The plan in force. A page is due when its score has reached `price`."""

    number: int
    made_at: float
    policy: str
    budget: int
    per_day: float  # requests per day that the policy was told to reckon with
    new_pages: int
    rows: int
    candidates: int  # pages it was chosen from
    due: int  # of them, whose score had reached the price of the plan before
    price: float
    prior_shape: float
    prior_rate: float
    freshness: float  # expected share of current copies before the round
    ended_at: float | None = None
    change: str = "bytes"  # what counted as a change
    hour: int | None = None  # S4-5's, where the policy has one
    # What was found out about all pages, so that one of them can be told about alone; None: an earlier Nephila's plan.
    terms: tuple[float, ...] | None = None
    fitted: tuple[tuple[int, float, float], ...] = ()
    mean_rank: float = 0.0
    mean_interest: float = 0.0
    least_interest: float = 0.0


def read_plan(folder: CrawlFolder) -> PlanHead | None:
    """The plan in force; None where nothing was planned yet."""
    path = folder.plan / NAME
    try:
        return msgspec.json.decode(path.read_bytes(), type=PlanHead)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as problem:
        raise DamagedError(
            f"{path} cannot be read ({problem}); delete it, and the next round is planned anew."
        ) from None


def write_plan(folder: CrawlFolder, head: PlanHead, columns: Sequence[Any]) -> None:
    """Publish a plan; `columns` in the order of `plan_rows.REVISITS`."""
    from nephila.store.plan_rows import write_rows  # a crawl without a plan is spared pyarrow

    make_directory(folder.plan)
    path = folder.plan / _ROWS.format(head.number)
    write_rows(aside_of(path), columns)
    publish(aside_of(path), path)
    write_head(folder, head)
    for old in folder.plan.glob("revisits-*.parquet"):
        if old != path:
            old.unlink()


def write_head(folder: CrawlFolder, head: PlanHead) -> None:
    replace_file(folder.plan / NAME, msgspec.json.format(msgspec.json.encode(head), indent=1) + b"\n")


@dataclass(frozen=True, slots=True)
class WatchNote:
    """`watch.json`: what a watch did last and will do next, for those who ask and for itself after a restart."""

    noted_at: float
    doing: str
    next_at: float
    rounds: int
    every_s: float
    ended: bool = False
    requests: int = 0  # of the next round, at most


def read_watch(folder: CrawlFolder) -> WatchNote | None:
    """None where nobody ever watched, or the note is of no use any more."""
    try:
        return msgspec.json.decode((folder.plan / _WATCH).read_bytes(), type=WatchNote)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


def write_watch(folder: CrawlFolder, note: WatchNote) -> None:
    make_directory(folder.plan)
    replace_file(folder.plan / _WATCH, msgspec.json.encode(note) + b"\n")


def planned_pages(folder: CrawlFolder, plan: int, skip: int, count: int) -> Iterator[list[tuple[int, int]]]:
    """(site, hash) of a plan's pages behind the first `skip`, so many at a time."""
    path = folder.plan / _ROWS.format(plan)
    if not path.exists():
        raise DamagedError(f"{path} is missing; delete {folder.plan / NAME}, and the next round is planned anew.")
    from nephila.store.plan_rows import read_rows

    yield from read_rows(path, skip, count)
