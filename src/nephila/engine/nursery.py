"""Worker processes without the second in which Python imports what the parent has imported already.

A nursery is a copy of the parent, forked while that is young: it has its modules, one thread, and nothing of what the
parent opens later. It does nothing but fork workers when it is asked to, and tell how each of them ended. When the
parent is gone it waits for its workers, which end by their own life lines; when the nursery itself is killed its
workers die with it, and the parent starts others the long way (`process.start_process`).
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

import msgspec

from nephila.engine.process import Process

NURSERY, WORKER = "nephila-nursery", "nephila-worker"
"""The names of both in `ps -o comm` and `top`, where their command line is the parent's."""

_MOST_BYTES: Final = 2**16
_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15
_KILLED: Final = -int(signal.SIGKILL)


class Born:
    """A worker that a nursery forked: what `subprocess.Popen` is to one that was started."""

    def __init__(self, pid: int, status: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._status = status

    def fileno(self) -> int:
        """Readable when the worker has ended; -1 once that was read."""
        return self._status

    def poll(self) -> int | None:
        return self._read(0.0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._read(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(WORKER, timeout or 0.0)
        return code

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def _signal(self, number: signal.Signals) -> None:
        # The nursery tells of an end before it gives the process id free.
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _read(self, timeout_s: float | None) -> int | None:
        if self._status < 0:
            return self.returncode
        if not select.select([self._status], [], [], timeout_s)[0]:
            return None
        told = os.read(self._status, 16)
        os.close(self._status)
        self._status = -1
        self.returncode = int(told) if told else _KILLED  # without a word: with its nursery
        return self.returncode


class Nursery:
    """The parent's side."""

    def __init__(self, sock: socket.socket, pid: int) -> None:
        self._sock = sock
        self.pid = pid

    @classmethod
    def open(cls) -> Nursery | None:
        """A copy of this process, or None where it is not young any more: a fork copies no thread but this one."""
        if sys.platform != "linux" or threading.active_count() > 1:
            return None
        return cls.fork()

    @classmethod
    def fork(cls) -> Nursery:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        sys.stdout.flush()
        sys.stderr.flush()
        gc.freeze()  # what is there now is never looked at again by a child's collector: its pages stay shared
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            pid = os.fork()
            if pid == 0:
                _live(theirs)
        finally:
            gc.unfreeze()
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        theirs.close()
        return cls(ours, pid)

    def bear(self, words: tuple[str, ...]) -> tuple[Process, socket.socket] | None:
        """Fork a worker that does what `nephila.engine.worker` does with these words; None if the nursery is gone."""
        ours, theirs = socket.socketpair()
        told, telling = os.pipe()
        try:
            socket.send_fds(self._sock, [msgspec.msgpack.encode(words)], [theirs.fileno(), telling])
            answer = self._sock.recv(_MOST_BYTES)
        except OSError:
            answer = b""
        finally:
            theirs.close()
            os.close(telling)
        if not answer:
            ours.close()
            os.close(told)
            return None
        return Born(int(answer), told), ours

    def close(self) -> None:
        """The nursery ends when its last worker has ended."""
        self._sock.close()
        os.waitpid(self.pid, 0)


def _live(sock: socket.socket) -> NoReturn:
    """The nursery's whole life; it never returns into its parent's code."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C means
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        _set(_PR_SET_NAME, NURSERY)
        _redirect()
        _close_all_but(sock.fileno())
        _serve(sock)
        code = 0
    finally:
        os._exit(code)


def _serve(sock: socket.socket) -> None:
    ends: dict[int, tuple[int, int]] = {}  # pidfd -> process id, where to tell its end
    watched = select.poll()
    watched.register(sock, select.POLLIN)
    asking = True
    while asking or ends:
        for fd, _ in watched.poll():
            if fd in ends:
                watched.unregister(fd)
                _tell_end(*ends.pop(fd))
                os.close(fd)
                continue
            frame, fds, _, _ = socket.recv_fds(sock, _MOST_BYTES, 2)
            if not frame:
                asking = False  # the parent is gone: no more work, and none is left alone
                watched.unregister(sock)
                continue
            life_line, telling = fds
            pid = os.fork()
            if pid == 0:
                _work(frame, life_line)
            os.close(life_line)
            pidfd = os.pidfd_open(pid)
            ends[pidfd] = pid, telling
            watched.register(pidfd, select.POLLIN)
            sock.send(str(pid).encode())


def _tell_end(pid: int, telling: int) -> None:
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert ended is not None
    code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
    with suppress(BrokenPipeError):  # nobody wants to know
        os.write(telling, str(code).encode())
    os.close(telling)
    os.waitpid(pid, 0)  # only now the number may be given to another process


def _work(frame: bytes, life_line: int) -> NoReturn:
    code = 1
    try:
        _set(_PR_SET_PDEATHSIG, signal.SIGKILL)
        _set(_PR_SET_NAME, WORKER)
        _close_all_but(life_line)
        from nephila.engine.worker import main

        code = main([str(life_line), *msgspec.msgpack.decode(frame, type=list[str])])
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _set(option: int, value: str | int) -> None:
    """prctl(2): what this process is called, or when it shall be killed."""
    import ctypes

    ctypes.CDLL(None).prctl(option, value.encode() if isinstance(value, str) else int(value), 0, 0, 0)


def _redirect() -> None:
    """No standard input, and what is printed goes where the parent's errors go: its output is a report."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    # Whatever the parent has put in their places may be about to be closed.
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - a number, and for life
    sys.stdout = open(1, "w", closefd=False, errors="backslashreplace")  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False, buffering=1, errors="backslashreplace")  # noqa: SIM115


def _close_all_but(kept: int) -> None:
    """What the parent had open is the parent's: locks and sockets must end with it.

    Pipes that lead from here to here stay: libuv, once it was used, has one and dies without it.
    """
    links = {int(entry.name): _target(entry) for entry in Path("/proc/self/fd").iterdir()}
    ends = Counter(links.values())
    for fd, target in links.items():
        if fd > 2 and fd != kept and not (target.startswith("pipe:") and ends[target] > 1):
            with suppress(OSError):  # the one that the list itself was read with
                os.close(fd)


def _target(entry: Path) -> str:
    try:
        return str(entry.readlink())
    except OSError:
        return ""
