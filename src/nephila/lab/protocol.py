"""One connection to the lab: parses requests, asks the web, and acts the answer's script out on the raw transport.

Requests of one connection are answered one after another, in order, even when they came together (pipelining); each
leaves one line in the witness, whatever became of it. HTTP is parsed by httptools and written by hand, because the
lab must be able to break it.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections import deque
from collections.abc import Iterator
from typing import Final, cast

import httptools

from nephila.lab.answer import Answer, Manner
from nephila.lab.control import control_answer, is_control
from nephila.lab.post import Post
from nephila.lab.request_log import one_field
from nephila.lab.wire import End, Request, Scripted, Step, Wait, conditional, plain, script

_MAX_HEAD_BYTES: Final = 64 * 2**10
_MAX_BODY_BYTES: Final = 64 * 2**10
_MAX_QUEUED: Final = 16
_STEPS_AT_ONCE: Final = 64  # of an endless answer
_WAIT_SLICE_S: Final = 0.25  # a clock that is set anew takes hold of running pauses within this real time
_NO_LINGER: Final = struct.pack("ii", 1, 0)  # close() sends RST
_NOTED_HEADERS: Final = frozenset((b"host", b"if-none-match", b"if-modified-since", b"content-type"))
_SITE_METHODS: Final = ("GET", "HEAD")


class SiteProtocol(asyncio.Protocol):
    """A client's connection; `post` is what all connections of a process share."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._transport: asyncio.Transport | None = None
        self._address = ""
        self._port = 0
        self._connection = 0
        self._waiting: deque[tuple[Request, int] | None] = deque()  # None stands for bytes that are no request
        self._busy = False
        self._leaving = False
        self._paused = False
        self._deaf = False
        self._steps: Iterator[Step] = iter(())
        self._pause: asyncio.TimerHandle | None = None
        self._line: tuple[Request, Answer | Scripted, int, float] | None = None
        self._read_ns = 0
        self._written_ns = 0
        self._parser: httptools.HttpRequestParser | None = httptools.HttpRequestParser(self)
        self._forget_request()

    # --- connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast(asyncio.Transport, transport)
        self._transport = stream
        local, peer = stream.get_extra_info("sockname"), stream.get_extra_info("peername")
        if not local or not peer or not (local[0].startswith("127.") and peer[0].startswith("127.")):
            self._leaving = True
            stream.abort()  # the lab is for this machine alone
            return
        self._address, self._port = local[0], local[1]
        self._connection = self._post.arrived(self)
        stream.set_write_buffer_limits(high=0)  # bytes go out at once, and we hear when they could not

    def connection_lost(self, exc: Exception | None) -> None:
        if self._pause is not None:
            self._pause.cancel()
        if self._line is not None:
            self._witness(time.monotonic_ns())
        self._leaving = True
        self._transport = None
        self._parser = None  # it holds us as we hold it: without this the memory waits for the collector
        self._steps = iter(())
        self._waiting.clear()
        self._post.left(self)

    def eof_received(self) -> bool:
        # A client may close its sending side and still wait for the answer; one that left a silent server has gone.
        self._leaving = True
        hanging = self._pause is None and not self._paused
        secure = self._transport is not None and self._transport.get_extra_info("ssl_object") is not None
        return self._busy and not hanging and not secure  # TLS ends both ways at once

    def stop(self) -> None:
        """The server stops: whatever is under way ends now, and is witnessed."""
        if self._transport is not None:
            self._transport.abort()
        if self._line is not None:
            self._witness(time.monotonic_ns())

    # --- reading

    def data_received(self, data: bytes) -> None:
        if self._leaving or self._parser is None:
            return
        self._read_ns = time.monotonic_ns()
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._leaving = True  # the request is answered as if it had not asked, and is the last one
        except httptools.HttpParserError:
            self._waiting.append(None)
        if self._started_ns and not self._headers_complete:
            self._head_bytes += len(data)
            if self._head_bytes > _MAX_HEAD_BYTES:
                self._waiting.append(None)
        if not self._busy:
            self._next_request()
        elif len(self._waiting) > _MAX_QUEUED and self._transport is not None and not self._deaf:
            self._deaf = True
            self._transport.pause_reading()

    def _forget_request(self) -> None:
        self._started_ns = 0
        self._head_bytes = 0
        self._headers_complete = False
        self._url = b""
        self._body = b""
        self._hosts = 0
        self._headers: dict[bytes, str] = {}

    def on_message_begin(self) -> None:
        self._forget_request()
        self._started_ns = self._read_ns

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        key = name.lower()
        if key in _NOTED_HEADERS:
            self._headers[key] = value.decode("latin-1")
            self._hosts += key == b"host"

    def on_headers_complete(self) -> None:
        self._headers_complete = True

    def on_body(self, body: bytes) -> None:
        if len(self._body) + len(body) <= _MAX_BODY_BYTES:
            self._body += body

    def on_message_complete(self) -> None:
        parser = self._parser
        assert parser is not None  # it is calling
        version = parser.get_http_version()
        headers = self._headers
        target, host = _target_and_host(self._url.decode("latin-1"), headers.get(b"host", ""))
        if self._hosts > 1 or (not host and version != "1.0"):
            self._waiting.append(None)  # RFC 9112 3.2
            return
        request = Request(
            method=parser.get_method().decode("latin-1"),
            target=target,
            host=host or self._address,
            port=self._port,
            address=self._address,
            http_version=version,
            keep_alive=parser.should_keep_alive(),
            if_none_match=headers.get(b"if-none-match", ""),
            if_modified_since=headers.get(b"if-modified-since", ""),
            content_type=headers.get(b"content-type", ""),
            body=self._body,
        )
        self._waiting.append((request, self._started_ns))
        self._started_ns = 0

    # --- answering

    def _next_request(self) -> None:
        while self._waiting and not self._busy and self._transport is not None:
            first = self._waiting.popleft()
            if first is None:
                self._leaving = True
                self._waiting.clear()
                request = Request("-", "-", "-", self._port, self._address, "1.1", keep_alive=False)
                self._answer(request, plain(400), self._started_ns or self._read_ns)
            else:
                request, started_ns = first
                self._answer(request, None, started_ns)

    def _answer(self, request: Request, answer: Answer | Scripted | None, started_ns: int) -> None:
        post = self._post
        now = post.shared_clock.clock().now()
        witnessed = True
        if answer is None:
            if is_control(request):
                answer, witnessed = control_answer(request, post.shared_clock, post.status()), False
            elif request.method not in _SITE_METHODS:
                answer = plain(405, headers=(("Allow", "GET, HEAD"),))
            else:
                answer = post.web.answer(request.host, request.port, request.target, request.address, now)
                if isinstance(answer, Answer):
                    answer = conditional(answer, request)
        self._line = (request, answer, started_ns, now) if witnessed else None
        self._steps = iter(answer.steps if isinstance(answer, Scripted) else script(answer, request, now))
        self._busy = True
        self._written_ns = started_ns
        self._act()

    def _act(self) -> None:
        """Go through the script until it ends, pauses, or the client does not read."""
        transport = self._transport
        left = _STEPS_AT_ONCE
        while transport is not None and not self._paused:
            if left == 0:  # others want to be served, and only the loop can tell us that the client has gone
                asyncio.get_running_loop().call_soon(self._act)
                return
            left -= 1
            step = next(self._steps)
            if isinstance(step, End):
                self._finish(step, transport)
                return
            if isinstance(step, Wait):
                self._wait(step.simulated_s)
                return
            self._written_ns = time.monotonic_ns()
            transport.write(step)

    def _wait(self, simulated_s: float) -> None:
        rate = self._post.shared_clock.clock().rate
        slice_s = min(simulated_s / rate, _WAIT_SLICE_S)
        rest_s = simulated_s - slice_s * rate
        loop = asyncio.get_running_loop()
        if rest_s > 1e-9:
            self._pause = loop.call_later(slice_s, self._wait, rest_s)
        else:
            self._pause = loop.call_later(slice_s, self._waited)

    def _waited(self) -> None:
        self._pause = None
        self._act()

    def _finish(self, end: End, transport: asyncio.Transport) -> None:
        match end:
            case End.KEEP:
                self._witness(self._written_ns)
                self._busy = False
                if self._leaving and not self._waiting:
                    transport.close()
                    return
                if self._deaf:
                    self._deaf = False
                    transport.resume_reading()
                if self._waiting:
                    asyncio.get_running_loop().call_soon(self._next_request)
            case End.CLOSE:
                self._witness(self._written_ns)
                self._leaving = True
                self._waiting.clear()
                transport.close()
            case End.RESET:
                self._witness(time.monotonic_ns())
                self._leaving = True
                transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
                transport.abort()
            case End.HANG:
                pass  # the line is written when the client leaves

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        if self._busy and self._pause is None:
            self._act()

    # --- the witness

    def witness_arrival(self) -> None:
        """Note the connection itself, for an address to which nobody may come."""
        now_ns = time.monotonic_ns()
        request = Request("-", "-", "-", self._port, self._address, "1.1", keep_alive=False)
        self._line = (request, plain(200), now_ns, self._post.shared_clock.clock().now())
        self._witness(now_ns)

    def _witness(self, ended_ns: int) -> None:
        if self._line is None:
            return
        request, answer, started_ns, simulated_at = self._line
        self._line = None
        self._post.witnessed(
            started_ns,
            ended_ns,
            simulated_at,
            f"{request.address}\t{one_field(request.host)}\t{request.port}\t{one_field(request.method)}\t"
            f"{one_field(request.target)}\t{answer.status if answer.manner in _WITH_STATUS else 0}\t{answer.manner}\t"
            f"{self._connection}\n",
        )


_WITH_STATUS: Final = (Manner.WHOLE, Manner.CUT_BODY, Manner.STALL_BODY)  # the others never show their status


def _target_and_host(target: str, host_header: str) -> tuple[str, str]:
    """Path and query, and the lower-case host without port. A target that is a whole URL names its own host."""
    authority = host_header
    if target[:7].lower() == "http://":
        authority, slash, path = target[7:].partition("/")
        target = slash + path or "/"
    host = authority.strip().lower()
    if host.startswith("["):
        return target, host.partition("]")[0] + "]"
    return target, host.partition(":")[0]
