"""`map` over processes: give partitions out, collect answers, give out again what a dead worker held.

One thread watches all workers' sockets; the end of a socket is the death of its worker. Partitions are taken from
their iterable only while fewer than LOOK_AHEAD per worker are taken and not yet given back as results, so that memory
stays bounded when one partition is slow or the caller is.
"""

from __future__ import annotations

import selectors
import socket
import subprocess
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from nephila.engine.calls import Answer, Call, Failed, Request, decode, encode, error_of
from nephila.engine.frames import read_frame, write_frame
from nephila.engine.process import Process, describe_exit, end_processes
from nephila.engine.seam import GRACE_S
from nephila.errors import WorkerDiedError

LOOK_AHEAD: Final = 4

_ANSWERS = msgspec.msgpack.Decoder(Answer)


@dataclass(frozen=True, slots=True)
class Portion:
    """A partition on its way: packed, with its place in the order and how many workers died of it so far."""

    number: int
    packed: bytes
    deaths: int = 0


@dataclass(eq=False, slots=True)
class MapWorker:
    """A worker process and the portion it works on."""

    process: Process
    sock: socket.socket
    portion: Portion | None = None


class Spreading:
    """One map in progress. `idle` are the engine's workers; it gets back those that are still fit at the end."""

    def __init__(
        self, call: Call, workers: int, tries: int, idle: list[MapWorker], start: Callable[[], MapWorker]
    ) -> None:
        self._call = call
        self._workers = workers
        self._tries = tries
        self._idle = idle
        self._start = start
        self._busy = selectors.DefaultSelector()
        self._again: deque[Portion] = deque()
        self._answers: dict[int, Answer | WorkerDiedError] = {}
        self._taken = 0
        self._given_back = 0
        self._at_end = False

    def results(self, partitions: Iterable[Any]) -> Iterator[Any]:
        source = iter(partitions)
        try:
            while True:
                self._give_out(source)
                if self._given_back in self._answers:
                    yield self._result(self._answers.pop(self._given_back))
                    self._collect(timeout_s=0)
                elif self._busy.get_map():
                    self._collect(timeout_s=None)
                else:
                    return
        finally:
            self._give_up()

    def _give_out(self, source: Iterator[Any]) -> None:
        while len(self._busy.get_map()) < self._workers and (portion := self._next_portion(source)):
            worker = self._free_worker()
            worker.portion = portion
            self._busy.register(worker.sock, selectors.EVENT_READ, worker)
            request = msgspec.msgpack.encode(Request(self._call.name, portion.packed))
            try:
                write_frame(worker.sock, request)
            except OSError:
                self._bury(worker)

    def _next_portion(self, source: Iterator[Any]) -> Portion | None:
        if self._again:
            return self._again.popleft()
        if self._at_end or self._taken - self._given_back >= self._workers * LOOK_AHEAD:
            return None
        for partition in source:
            portion = Portion(self._taken, encode(partition, f"partition {self._taken} of {self._call.name}"))
            self._taken += 1
            return portion
        self._at_end = True
        return None

    def _free_worker(self) -> MapWorker:
        while self._idle:
            worker = self._idle.pop()
            if worker.process.poll() is None:
                return worker
            worker.sock.close()
        return self._start()

    def _collect(self, timeout_s: float | None) -> None:
        for key, _ in self._busy.select(timeout_s):
            worker: MapWorker = key.data
            frame = read_frame(worker.sock)
            if frame is None:
                self._bury(worker)
                continue
            assert worker.portion is not None
            answer = _ANSWERS.decode(frame)
            self._answers[worker.portion.number] = answer
            # After an error only the partitions before it still matter, and those are taken already.
            self._at_end = self._at_end or isinstance(answer, Failed)
            worker.portion = None
            self._busy.unregister(worker.sock)
            self._idle.append(worker)

    def _bury(self, worker: MapWorker) -> None:
        """A worker is dead: its portion goes to another, unless too many died of it."""
        self._busy.unregister(worker.sock)
        worker.sock.close()
        try:
            code = worker.process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            worker.process.kill()
            code = worker.process.wait()
        assert worker.portion is not None
        portion = replace(worker.portion, deaths=worker.portion.deaths + 1)
        if portion.deaths < self._tries:
            self._again.append(portion)
            return
        self._at_end = True
        self._answers[portion.number] = WorkerDiedError(
            f"partition {portion.number} of {self._call.name} ({self._shown(portion)}) is given up after "
            f"{portion.deaths} dead worker(s), the last by {describe_exit(code)}; "
            "if memory ran out, use fewer workers, then run the command again"
        )

    def _shown(self, portion: Portion) -> str:
        shown = repr(decode(self._call.argument_decoder, portion.packed, "a partition"))
        return shown if len(shown) <= 200 else f"{shown[:200]}…"

    def _result(self, answer: Answer | WorkerDiedError) -> Any:
        number = self._given_back
        self._given_back += 1
        if isinstance(answer, WorkerDiedError):
            raise answer
        if isinstance(answer, Failed):
            raise error_of(answer, self._call.name, number)
        return decode(self._call.result_decoder, answer.result, f"the result of {self._call.name}")

    def _give_up(self) -> None:
        """End the workers that are still at work: nobody waits for their answer any more."""
        left: list[MapWorker] = [key.data for key in self._busy.get_map().values()]
        self._busy.close()
        for worker in left:
            worker.process.kill()
            worker.sock.close()
        end_processes([worker.process for worker in left])
