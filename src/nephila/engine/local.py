"""The engine of one machine: worker processes, each on its own socket pair."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine, Generator, Iterable
from typing import Any, Self, TypeVar

from nephila.engine.calls import Call, call_of, encode
from nephila.engine.connection import Connection
from nephila.engine.nursery import Nursery
from nephila.engine.process import Process, end_processes, exit_code, keep_on_core, start_process
from nephila.engine.seam import DEFAULT_TRIES, Channel, Handle, OneMap
from nephila.engine.spreading import MapWorker, Spreading

P = TypeVar("P")
R = TypeVar("R")
A = TypeVar("A")


class LocalEngine:
    """Starts at most `workers` processes for `map`, when they are first needed, and keeps them until it is closed."""

    name = "local"

    def __init__(self, workers: int, *, pin: bool = False) -> None:
        self.workers = workers
        self._pin = pin
        self._one_map = OneMap()
        self._idle: list[MapWorker] = []
        self._handles: list[LocalHandle] = []
        self._started = 0
        self._spawned = 0
        self._nursery = Nursery.open()

    def map(
        self, task: Callable[[P], R], partitions: Iterable[P], *, tries: int = DEFAULT_TRIES
    ) -> Generator[R, None, None]:
        return self._results(call_of(task, 1), partitions, tries)

    def _results(self, call: Call, partitions: Iterable[Any], tries: int) -> Generator[Any, None, None]:
        with self._one_map:
            spreading = Spreading(call, self.workers, tries, self._idle, self._start_map_worker)
            yield from spreading.results(partitions)

    async def spawn(
        self, worker: Callable[[Channel, A], Coroutine[Any, Any, None]], arguments: Iterable[A]
    ) -> list[Handle]:
        call = call_of(worker, 2)
        packed = [encode(argument, f"an argument of {call.name}") for argument in arguments]
        self._handles = [handle for handle in self._handles if not handle.reaped]
        started: list[Handle] = []
        for argument in packed:
            process, sock = self._start("spawn", call.name)
            connection = await Connection.over(sock, half_open=False)
            handle = LocalHandle(self._spawned, process, connection)
            self._spawned += 1
            self._handles.append(handle)
            started.append(handle)
            await connection.send(argument)
        return started

    def close(self) -> None:
        """End every worker process: those of `map` by closing their sockets, spawned ones by SIGTERM."""
        for worker in self._idle:
            worker.sock.close()
        for handle in self._handles:
            handle.let_go()
        end_processes([worker.process for worker in self._idle] + [handle.process for handle in self._handles])
        self._idle.clear()
        self._handles = []
        if self._nursery is not None:
            self._nursery.close()
            self._nursery = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _start(self, *words: str) -> tuple[Process, socket.socket]:
        born = self._nursery.bear(words) if self._nursery is not None else None
        process, sock = born or start_process(*words)
        if self._pin:
            keep_on_core(process, self._started)
        self._started += 1
        return process, sock

    def _start_map_worker(self) -> MapWorker:
        return MapWorker(*self._start("map"))


class LocalHandle:
    """The parent's end of a spawned worker process."""

    def __init__(self, number: int, process: Process, connection: Connection) -> None:
        self.number = number
        self.process = process
        self._connection = connection
        self._loop = asyncio.get_running_loop()

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def alive(self) -> bool:
        # The socket ends a moment before the process can be waited for: either is enough.
        return not self._connection.ended and self.process.poll() is None

    @property
    def reaped(self) -> bool:
        return self.process.returncode is not None

    async def send(self, frame: bytes) -> bool:
        return await self._connection.send(frame)

    async def receive(self) -> bytes | None:
        return await self._connection.receive()

    def finish(self) -> None:
        self._connection.finish()

    def terminate(self) -> None:
        self.process.terminate()

    def kill(self) -> None:
        self.process.kill()

    async def join(self) -> int | None:
        code = await exit_code(self.process)
        await self._connection.settle()
        return code

    def let_go(self) -> None:
        """For an engine that closes: SIGTERM, and no more frames."""
        self.process.terminate()
        if not self._loop.is_closed():
            self._connection.abort()
