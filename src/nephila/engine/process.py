"""A worker process: how it is started, and how its end is awaited."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final, Protocol

from nephila.engine.seam import GRACE_S

_PARENTS_STDERR: Final = 2
_POLL_S: Final = 0.05


class Process(Protocol):
    """A worker process as its engine sees it: started (`subprocess.Popen`) or forked (`nursery.Born`)."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def kill(self) -> None: ...

    def terminate(self) -> None: ...


def start_process(*words: str) -> tuple[Process, socket.socket]:
    """Start `nephila.engine.worker FD WORDS` and give it with our end of the socket pair.

    Popen and not asyncio's own, because the map has no event loop and because the signal mask below must be put
    back before anything else runs in this thread.
    """
    ours, theirs = socket.socketpair()
    # Ctrl-C reaches the whole process group, but only the parent decides what it means. The child inherits the
    # blocked signal and ignores it before it lets it through, so that not even its imports can be interrupted.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-P", "-m", "nephila.engine.worker", str(theirs.fileno()), *words],
            stdin=subprocess.DEVNULL,
            stdout=_PARENTS_STDERR,
            pass_fds=[theirs.fileno()],
            env=os.environ | {"PYTHONPATH": _import_path()},
        )
    except BaseException:
        ours.close()
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        theirs.close()
    return process, ours


def keep_on_core(process: Process, number: int) -> None:
    """Let a process run on one core alone, in turn over those that we may use."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(process.pid, {cores[number % len(cores)]})


def end_processes(processes: list[Process]) -> None:
    """Wait for processes that were asked to end; kill those that do not within the time of grace."""
    left_s = GRACE_S
    for process in processes:
        while left_s > 0:
            try:
                process.wait(_POLL_S)
                break
            except subprocess.TimeoutExpired:
                left_s -= _POLL_S
        process.kill()
        process.wait()


async def exit_code(process: Process) -> int:
    """Wait for the end without blocking the event loop."""
    while (code := process.poll()) is None:
        try:
            pidfd = os.pidfd_open(process.pid)
        except (AttributeError, OSError):
            await asyncio.sleep(_POLL_S)  # a system without pidfd, or the end is just being told
            continue
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        loop.add_reader(pidfd, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(pidfd)
            os.close(pidfd)
    return code


def describe_exit(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def _import_path() -> str:
    """The parent's import path, so that a name means the same function on both sides."""
    return os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
