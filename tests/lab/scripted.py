"""A web of a few written answers, served by the real protocol in a thread, and a raw client for it."""

from __future__ import annotations

import asyncio
import queue
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from nephila.clock import Clock
from nephila.lab import witness
from nephila.lab.answer import Answer, Manner
from nephila.lab.post import Post
from nephila.lab.server import listen, loopback_socket
from nephila.lab.shared_clock import CLOCK_FILE, SharedClock
from nephila.lab.wire import plain

ADDRESS = "127.5.6.7"


@dataclass
class ScriptedWeb:
    """Answers by target; notes what it was asked."""

    answers: dict[str, Answer]
    asked: list[tuple[str, int, str, str]] = field(default_factory=list)
    news: threading.Condition = field(default_factory=threading.Condition)

    def answer(self, host: str, port: int, target: str, address: str, now: float) -> Answer:
        with self.news:
            self.asked.append((host, port, target, address))
            self.news.notify_all()
        return self.answers.get(target) or plain(404)


def page(
    body: bytes = b"<html>hello</html>",
    manner: Manner = Manner.WHOLE,
    status: int = 200,
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html"),),
    delay_s: float = 0.0,
) -> Answer:
    return Answer(manner, status, headers, body, delay_s)


@dataclass
class Served:
    web: ScriptedWeb
    port: int
    folder: Path
    clock: SharedClock
    loop: asyncio.AbstractEventLoop
    post: Post
    thread: threading.Thread
    stopped: asyncio.Event

    def end(self) -> None:
        if self.thread.is_alive():
            self.loop.call_soon_threadsafe(self.stopped.set)
        self.thread.join(10)
        assert not self.thread.is_alive()

    def connect(self, address: str = ADDRESS) -> socket.socket:
        return socket.create_connection((address, self.port), timeout=10)

    def ask(self, request: bytes, address: str = ADDRESS) -> bytes:
        """Send raw bytes, read until the server closes."""
        with self.connect(address) as client:
            client.sendall(request)
            return read_all(client)

    def until_asked(self, times: int) -> None:
        with self.web.news:
            assert self.web.news.wait_for(lambda: len(self.web.asked) >= times, timeout=10)

    def flush(self) -> None:
        """Have the witness's lines written, after all that the server has done so far."""
        written = threading.Event()

        def write() -> None:
            self.post.flush()
            written.set()

        self.loop.call_soon_threadsafe(write)
        assert written.wait(10)

    def get(self, target: str, *headers: str, method: str = "GET", address: str = ADDRESS) -> bytes:
        return self.ask(get(target, "Connection: close", *headers, method=method), address)


def get(target: str, *headers: str, method: str = "GET", host: str = "a.example") -> bytes:
    return "\r\n".join([f"{method} {target} HTTP/1.1", f"Host: {host}", *headers, "", ""]).encode()


def read_all(client: socket.socket) -> bytes:
    pieces = []
    while piece := client.recv(65536):
        pieces.append(piece)
    return b"".join(pieces)


def read_answer(client: socket.socket) -> tuple[bytes, bytes]:
    """Head and body of one answer on a connection that stays open."""
    seen = b""
    while b"\r\n\r\n" not in seen:
        piece = client.recv(65536)
        assert piece, seen
        seen += piece
    head, _, body = seen.partition(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:"))
    while len(body) < length:
        body += client.recv(65536)
    return head, body


@contextmanager
def serving(answers: dict[str, Answer], folder: Path, clock: Clock | None = None) -> Iterator[Served]:
    bound = loopback_socket(0)
    web = ScriptedWeb(answers)
    started: queue.Queue[Served] = queue.Queue()
    stopped = asyncio.Event()

    async def serve() -> None:
        with (
            SharedClock.create(folder / CLOCK_FILE, clock or Clock()) as our_clock,
            SharedClock(folder / CLOCK_FILE) as their_clock,
        ):
            post = Post(web, our_clock, folder)
            server = await listen(post, bound)
            port = bound.getsockname()[1]
            started.put(Served(web, port, folder, their_clock, asyncio.get_running_loop(), post, thread, stopped))
            await stopped.wait()
            server.close()
            post.stop()

    thread = threading.Thread(target=lambda: uvloop.run(serve()))
    thread.start()
    served = started.get(timeout=10)
    try:
        yield served
    finally:
        served.end()


def witnessed(folder: Path) -> list[witness.Request]:
    return list(witness.read(folder).rows())
