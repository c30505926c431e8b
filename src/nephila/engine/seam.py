"""What every engine promises to the rooms, and the errors that are the engine's own."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Iterable
from typing import Any, Final, Protocol, Self, TypeVar

from nephila.errors import NephilaError

P = TypeVar("P")
R = TypeVar("R")
A = TypeVar("A")

DEFAULT_TRIES: Final = 3
"""How often a partition is given out before the deaths of its workers are held against it."""

GRACE_S: Final = 2.0
"""How long a worker may go on once the other side is gone (DESIGN: a killed coordinator)."""


class TaskError(NephilaError):
    """A task failed by an exception, or cannot travel to a worker at all."""

    def __init__(self, sentence: str, traceback_text: str = "") -> None:
        super().__init__(f"{sentence}\n{traceback_text}".rstrip())
        self.traceback_text = traceback_text


class FrameTooLargeError(NephilaError):
    """A message or a partition is larger than a frame may be."""


class OneMap:
    """Holds an engine to one map at a time: a second would wait for workers that the first holds."""

    def __init__(self) -> None:
        self._busy = False

    def __enter__(self) -> None:
        if self._busy:
            raise TaskError("another map of this engine is not at its end; exhaust or close it first")
        self._busy = True

    def __exit__(self, *exc: object) -> None:
        self._busy = False


class Channel(Protocol):
    """One end of a two-way road for frames. Order is kept; `send` waits while the other side is slow to receive."""

    async def send(self, frame: bytes) -> bool:
        """False: the other side is gone. True does not promise that the frame arrives."""
        ...

    async def receive(self) -> bytes | None:
        """The next frame; None once the other side is gone and all it sent was received. Safe to cancel."""
        ...


class Handle(Channel, Protocol):
    """The parent's end of a long-lived worker."""

    @property
    def number(self) -> int:
        """Counts the workers of this engine from 0; a worker started in place of a dead one has a new number."""
        ...

    @property
    def pid(self) -> int | None:
        """None where the worker is no process of its own."""
        ...

    @property
    def alive(self) -> bool: ...

    def finish(self) -> None:
        """Send nothing more: the worker's `receive` gives None after the last frame; it may still send."""
        ...

    def terminate(self) -> None:
        """Cancel the worker (SIGTERM): its `finally` blocks run, `join` gives -15."""
        ...

    def kill(self) -> None:
        """End the worker at once (SIGKILL); `join` gives -9."""
        ...

    async def join(self) -> int | None:
        """Wait for the end and tell how: 0 returned, 1 failed, an error's exit code, or minus a signal's number.

        A worker whose frames nobody receives may wait for ever in `send`: receive until None, or kill, then join.
        """
        ...


class Engine(Protocol):
    """Where work is done. A context manager: leaving it ends every worker process."""

    @property
    def name(self) -> str: ...

    @property
    def workers(self) -> int: ...

    def map(
        self, task: Callable[[P], R], partitions: Iterable[P], *, tries: int = DEFAULT_TRIES
    ) -> Generator[R, None, None]:
        """Results in the order of the partitions, which are taken only a little ahead of the results.

        An error of the task is raised when its partition's turn has come, and no partition is tried again for it.
        One map at a time; closing the iterator gives the partitions in work up.
        """
        ...

    async def spawn(
        self, worker: Callable[[Channel, A], Coroutine[Any, Any, None]], arguments: Iterable[A]
    ) -> list[Handle]:
        """One long-lived worker per argument."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...
