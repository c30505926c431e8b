"""`DIR/study/study.json`: what a change study has been asked for, and what became of each of its batches.

It is replaced whole before a batch begins and after it is observed, so that a study that is killed goes on where it
was: a batch with no end is the one to be completed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Self

import msgspec

from nephila.errors import DamagedError, NephilaError
from nephila.store.durable import make_directory, replace_file
from nephila.store.folder import CrawlFolder

NAME: Final = "study.json"
FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class BatchRow:
    """One pass over the same sites; times are UTC seconds of the study's clock, `ended_at` None while it lasts."""

    number: int
    began_at: float
    ended_at: float | None = None
    requests: int = 0
    downloaded: int = 0


@dataclass(frozen=True, slots=True)
class StudyLog:
    """The plan and its batches so far."""

    batches_planned: int
    every_s: float
    seeds: tuple[str, ...]
    batches: tuple[BatchRow, ...] = ()
    format: int = FORMAT

    @property
    def done(self) -> tuple[BatchRow, ...]:
        return tuple(batch for batch in self.batches if batch.ended_at is not None)

    @property
    def unfinished(self) -> BatchRow | None:
        return next((batch for batch in self.batches if batch.ended_at is None), None)

    def due_at(self, now: float) -> float:
        """When the next batch begins: an interval after the last began, and never in the past."""
        return max(now, self.batches[-1].began_at + self.every_s) if self.batches else now

    def begun(self, now: float) -> Self:
        return replace(self, batches=(*self.batches, BatchRow(len(self.batches) + 1, now)))

    def ended(self, batch: BatchRow) -> Self:
        return replace(self, batches=(*self.done, batch))


def read_log(folder: CrawlFolder) -> StudyLog | None:
    """The folder's study; None where there is none."""
    path = folder.study / NAME
    try:
        log = msgspec.json.decode(path.read_bytes(), type=StudyLog)
    except FileNotFoundError:
        return None
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise DamagedError(
            f"{path} cannot be read ({problem}); the batches are whole: move it away and give the seeds again."
        ) from problem
    if log.format > FORMAT:
        raise NephilaError(f"{path} was made by a newer Nephila; upgrade Nephila to go on with this study.")
    return log


def write_log(folder: CrawlFolder, log: StudyLog) -> None:
    make_directory(folder.study)
    replace_file(folder.study / NAME, msgspec.json.format(msgspec.json.encode(log), indent=1) + b"\n")
