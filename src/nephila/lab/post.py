"""What the connections of one server process share: the web, the clock, the witness's log and a few counts."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Protocol

from nephila.lab.control import Status
from nephila.lab.request_log import REQUEST_COLUMNS, LineLog, requests_path
from nephila.lab.shared_clock import SharedClock
from nephila.lab.sites import AnswersRequests


class Stoppable(Protocol):
    def stop(self) -> None: ...


class Post:
    """One server process's place in the lab."""

    def __init__(
        self, web: AnswersRequests, shared_clock: SharedClock, folder: Path, process: int = 0, processes: int = 1
    ) -> None:
        self.web = web
        self.shared_clock = shared_clock
        self._log = LineLog(requests_path(folder, process), REQUEST_COLUMNS)
        self._process = process
        self._processes = processes
        self._open: set[Stoppable] = set()
        self._connections = 0
        self._requests = 0

    def arrived(self, connection: Stoppable) -> int:
        """Note a new connection; its number is unique over all processes."""
        self._open.add(connection)
        self._connections += 1
        return (self._connections - 1) * self._processes + self._process

    def left(self, connection: Stoppable) -> None:
        self._open.discard(connection)

    def witnessed(self, started_ns: int, ended_ns: int, simulated_at: float, rest: str) -> None:
        """Write one line; wall times follow from the monotonic ones, so that a jump of the wall clock shows."""
        self._requests += 1
        wall_now, real_now = time.time(), time.monotonic_ns()
        started_at = wall_now - (real_now - started_ns) / 1e9
        ended_at = wall_now - (real_now - ended_ns) / 1e9
        clock = self.shared_clock.clock()
        simulated_end_at = clock.simulated_at + (ended_at - clock.real_at) * clock.rate
        self._log.add(
            f"{started_ns}\t{ended_ns}\t{started_at:.6f}\t{ended_at:.6f}\t{simulated_at:.6f}\t{simulated_end_at:.6f}\t{rest}"
        )

    def status(self) -> Status:
        clock = self.shared_clock.clock()
        return Status(
            process=self._process,
            processes=self._processes,
            pid=os.getpid(),
            requests=self._requests,
            connections=len(self._open),
            simulated_now=clock.now(),
            rate=clock.rate,
        )

    def flush(self) -> None:
        self._log.flush()

    def stop(self) -> None:
        """End every connection, witness what was under way, and close the log."""
        for connection in list(self._open):
            connection.stop()
        self._log.close()
