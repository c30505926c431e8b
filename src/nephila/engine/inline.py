"""The simplest engine: everything in this process, nothing to kill. For tests, for debugging and for small work.

Values still travel as msgpack and frames through bounded lanes, so that what works here works with processes.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Generator, Iterable
from typing import Any, Self, TypeVar

from nephila.engine.calls import Call, Failed, call_of, decode, encode, error_of, perform, report_failure
from nephila.engine.frames import check_size
from nephila.engine.lane import Lane
from nephila.engine.seam import DEFAULT_TRIES, Channel, Handle, OneMap

P = TypeVar("P")
R = TypeVar("R")
A = TypeVar("A")


class InlineEngine:
    """`map` calls the task, `spawn` starts tasks of the running event loop."""

    name = "inline"

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._one_map = OneMap()
        self._handles: list[InlineHandle] = []
        self._started = 0

    def map(
        self, task: Callable[[P], R], partitions: Iterable[P], *, tries: int = DEFAULT_TRIES
    ) -> Generator[R, None, None]:
        return self._results(call_of(task, 1), partitions)

    def _results(self, call: Call, partitions: Iterable[Any]) -> Generator[Any, None, None]:
        with self._one_map:
            for number, partition in enumerate(partitions):
                answer = perform(call.name, encode(partition, f"partition {number} of {call.name}"))
                if isinstance(answer, Failed):
                    raise error_of(answer, call.name, number)
                yield decode(call.result_decoder, answer.result, f"the result of {call.name}")

    async def spawn(
        self, worker: Callable[[Channel, A], Coroutine[Any, Any, None]], arguments: Iterable[A]
    ) -> list[Handle]:
        call = call_of(worker, 2)
        packed = [encode(argument, f"an argument of {call.name}") for argument in arguments]
        self._handles = [handle for handle in self._handles if handle.alive]
        first = self._started
        started = [InlineHandle(first + place, call, argument) for place, argument in enumerate(packed)]
        self._started += len(started)
        self._handles += started
        return list(started)

    def close(self) -> None:
        for handle in self._handles:
            handle.terminate()
        self._handles = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class _InlineChannel:
    def __init__(self, incoming: Lane, outgoing: Lane) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    async def send(self, frame: bytes) -> bool:
        check_size(len(frame))
        return await self._outgoing.put(frame)

    async def receive(self) -> bytes | None:
        return await self._incoming.take()


class InlineHandle(_InlineChannel):
    """A worker that is a task of this event loop."""

    pid = None

    def __init__(self, number: int, call: Call, packed_argument: bytes) -> None:
        to_worker, from_worker = Lane(), Lane()
        super().__init__(from_worker, to_worker)
        self.number = number
        self._signal = signal.SIGTERM
        argument = decode(call.argument_decoder, packed_argument, f"the argument of {call.name}")
        self._task = asyncio.create_task(call.function(_InlineChannel(to_worker, from_worker), argument))
        self._task.add_done_callback(self._ended)
        self._exit_code: int | None = None

    @property
    def alive(self) -> bool:
        return not self._task.done()

    def finish(self) -> None:
        self._outgoing.close()

    def terminate(self) -> None:
        self._cancel(signal.SIGTERM)

    def kill(self) -> None:
        """A task cannot be killed; it is cancelled, and the exit code says it was meant otherwise."""
        self._cancel(signal.SIGKILL)

    async def join(self) -> int | None:
        await asyncio.wait({self._task})
        return self._exit_code

    def _cancel(self, number: signal.Signals) -> None:
        if not self._task.done() and not self._task.get_loop().is_closed():
            self._signal = number
            self._task.cancel()

    def _ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            self._exit_code = -self._signal
        else:
            error = task.exception()
            self._exit_code = 0 if error is None else report_failure(error)
        self._incoming.close()
        self._outgoing.close()
