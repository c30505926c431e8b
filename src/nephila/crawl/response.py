"""Reading one answer: bytes go in as they come, an `Answer` in the making comes out. No sockets, no time.

The header is cut out of the stream here, within its caps, and judged by llhttp (httptools), whose view of it must be
ours. Chunked bodies are undone by llhttp, too; all others are counted. Framing that could be read in two ways ends
the connection after the answer, or the answer (N7, N9, A5-A22, B1-B6).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

import httptools

from nephila.records import SHORT_HEADER, Outcome

_END_OF_HEADER: Final = re.compile(rb"\n\r?\n")
_LINE: Final = re.compile(rb"[^\n]*\n")


@dataclass(frozen=True, slots=True)
class HeaderCaps:
    """Bytes of the whole header (interim answers and trailers counted), of a line, and how many of each."""

    total_bytes: int = 64 * 2**10
    line_bytes: int = 16 * 2**10
    lines: int = 256
    interim_answers: int = 10


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with an answer as it came over the wire."""

    outcome: Outcome
    reason: str


class Phase(Enum):
    HEADER = auto()
    BODY = auto()
    DONE = auto()


class _Framing(Enum):
    NONE = auto()
    LENGTH = auto()
    CHUNKED = auto()
    UNTIL_CLOSE = auto()


class ResponseReader:
    """One answer. `feed` until `phase` is DONE or `fault` is set; `end` when the connection closed."""

    __slots__ = (
        "_caps", "_chunked_payload", "_framing", "_header_bytes", "_interim", "_is_head", "_message_complete",
        "_parser", "_pending", "_raw_headers", "_remaining_bytes", "_silent_bytes", "_trailer_bytes", "_trailers",
        "_wire", "fault", "header_received", "headers", "http_version", "max_wire_bytes", "phase", "raw_header",
        "reusable", "status", "wire_bytes",
    )  # fmt: skip

    def __init__(self, *, is_head: bool, caps: HeaderCaps, max_wire_bytes: int) -> None:
        self._caps = caps
        self._is_head = is_head
        self._pending = b""
        self._header_bytes = 0
        self._interim = 0
        self._raw_headers: list[tuple[bytes, bytes]] = []
        self._framing = _Framing.NONE
        self._remaining_bytes = 0
        self._wire: list[bytes] = []
        self._chunked_payload = bytearray()
        self._silent_bytes = 0
        self._trailers = 0
        self._trailer_bytes = 0
        self._message_complete = False
        self._parser: httptools.HttpResponseParser | None = self._new_parser()
        self.max_wire_bytes = max_wire_bytes
        self.phase = Phase.HEADER
        self.header_received = False  # whether a byte of it came
        self.fault: Fault | None = None
        self.status = 0
        self.http_version = ""
        self.headers: tuple[tuple[str, str], ...] = ()
        self.raw_header = b""
        self.reusable = False
        self.wire_bytes = 0

    # The parser knows us by our methods: a circle that would keep every body until the garbage collector comes. It is
    # let go of as soon as it is not needed.
    def _new_parser(self) -> httptools.HttpResponseParser:
        parser = httptools.HttpResponseParser(self)
        # Chunked wins over a length (A12; the connection is not used again), and a line may end without CR.
        parser.set_dangerous_leniencies(lenient_chunked_length=True, lenient_optional_cr_before_lf=True)
        return parser

    # What llhttp calls.

    def on_message_begin(self) -> None:
        if self._message_complete:
            self.reusable = False  # an answer behind the answer belongs to no request of ours

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._message_complete:
            return
        if self.phase is Phase.BODY:
            self._trailers += 1
            self._trailer_bytes += len(name) + len(value) + 4
        else:
            self._raw_headers.append((name, value))

    def on_body(self, piece: bytes) -> None:
        if not self._message_complete:
            self._chunked_payload += piece

    def on_message_complete(self) -> None:
        self._message_complete = True

    # What the connection calls.

    def feed(self, received: bytes) -> None:
        """Take what came; after DONE or a fault nothing more may be fed."""
        while received and self.phase is Phase.HEADER and self.fault is None:
            self.header_received = True
            received = self._feed_header(received)
        if received and self.phase is Phase.BODY and self.fault is None:
            self._feed_body(received)
        elif received and self.phase is Phase.DONE:
            self.reusable = False  # bytes after the end belong to no request of ours (A9, A20)
        if self.phase is Phase.DONE or self.fault is not None:
            self._parser = None

    def give_up(self, fault: Fault) -> None:
        """The answer takes too long: what came of it until now is all."""
        self.fault = fault
        self.reusable = False
        self._parser = None

    def end(self, *, was_reset: bool) -> None:
        """The connection closed: whole if the answer lasts until then, else cut."""
        if self.phase is Phase.BODY and self._framing is _Framing.UNTIL_CLOSE and not was_reset:
            self.phase = Phase.DONE
        elif self.phase is Phase.BODY:
            reason = "connection reset" if was_reset else "connection closed"
            self.fault = Fault(Outcome.TRUNCATED_DISCONNECT, f"{reason} in the body")
        elif self.phase is Phase.HEADER and was_reset and not self.header_received:
            self.fault = Fault(Outcome.RESET, "connection reset")
        elif self.phase is Phase.HEADER:
            self.fault = Fault(Outcome.BAD_HTTP, SHORT_HEADER)
        self.reusable = False
        self._parser = None

    @property
    def wanted_bytes(self) -> int:
        """How many bytes may still come before a cap is passed, and the one that passes it."""
        header_bytes = 0
        if self.phase is Phase.HEADER:
            header_bytes = self._caps.total_bytes - self._header_bytes - len(self._pending)
        return header_bytes + self.max_wire_bytes - self.wire_bytes + 1

    @property
    def wire_body(self) -> bytes:
        """What followed the header, as sent; a packet that holds the last chunk is kept whole."""
        return self._wire[0] if len(self._wire) == 1 else b"".join(self._wire)

    def content(self, wire_body: bytes) -> bytes:
        """The body without its framing, still content-coded."""
        return bytes(self._chunked_payload) if self._framing is _Framing.CHUNKED else wire_body

    def _feed_header(self, received: bytes) -> bytes:
        """Take the header of the answer, or of an interim one; returns what follows it."""
        pending = self._pending + received if self._pending else received
        searched_from = max(0, len(self._pending) - 2)
        room = self._caps.total_bytes - self._header_bytes
        end = _END_OF_HEADER.search(pending, searched_from)
        head_bytes = end.end() if end else len(pending)
        if head_bytes > room:
            self.fault = Fault(Outcome.HEADERS_TOO_LARGE, f"header of more than {self._caps.total_bytes} bytes")
            return b""
        if end is None:
            self._pending = pending
            # Whatever does not begin like an answer is refused at once, not after the header time-out.
            if not b"HTTP/".startswith(pending.lstrip(b"\r\n")[:5]):
                self.fault = Fault(Outcome.BAD_HTTP, "not HTTP")
            return b""
        head, rest = pending[: end.end()], pending[end.end() :]
        self._pending = b""
        self._header_bytes += len(head)
        if not head.strip(b"\r\n"):
            return rest  # empty lines before the status line
        self._judge_header(head)
        return rest

    def _judge_header(self, head: bytes) -> None:
        if head.count(b"\n") - 2 > self._caps.lines:
            self.fault = Fault(Outcome.HEADERS_TOO_LARGE, f"header of more than {self._caps.lines} lines")
            return
        if len(head) > self._caps.line_bytes and max(map(len, _LINE.findall(head))) > self._caps.line_bytes:
            self.fault = Fault(Outcome.HEADERS_TOO_LARGE, f"header line of more than {self._caps.line_bytes} bytes")
            return
        parser = self._parser
        assert parser is not None
        try:
            parser.feed_data(head)
            status = parser.get_status_code()
        except httptools.HttpParserUpgrade:
            self.fault = Fault(Outcome.BAD_HTTP, "the server changes the protocol")
            return
        except httptools.HttpParserError as error:
            self.fault = Fault(Outcome.BAD_HTTP, str(error) or "no HTTP header")
            return
        if self._chunked_payload or not 100 <= status <= 999:
            self.fault = Fault(Outcome.BAD_HTTP, f"status {status}" if not self._chunked_payload else "no HTTP header")
        elif status == 101:
            self.fault = Fault(Outcome.BAD_HTTP, "the server changes the protocol")
        elif status < 200:
            self._interim += 1
            if self._interim > self._caps.interim_answers:
                self.fault = Fault(Outcome.HEADERS_TOO_LARGE, f"more than {self._caps.interim_answers} interim answers")
            self._raw_headers.clear()
            self._message_complete = False
            self._parser = self._new_parser()
        else:
            self._begin_body(head, status, parser.get_http_version())

    def _begin_body(self, head: bytes, status: int, http_version: str) -> None:
        self.status = status
        self.http_version = http_version
        self.raw_header = head
        self.headers = _texts(self._raw_headers)
        lengths: list[str] = []
        codings: list[str] = []
        options: list[str] = []
        for name, value in self.headers:
            if name == "content-length":
                lengths.append(value)
            elif name == "transfer-encoding":
                codings.append(value)
            elif name == "connection":
                options.append(value)
        named = {option.strip() for option in ",".join(options).lower().split(",")}
        self.reusable = "close" not in named and (self.http_version == "1.1" or "keep-alive" in named)
        self.phase = Phase.BODY
        if self._is_head or status in (204, 304):
            self.phase = Phase.DONE
        elif codings:
            if ",".join(codings).strip().lower() != "chunked":
                self.fault = Fault(Outcome.BAD_HTTP, "a transfer coding that we did not ask for")
            self._framing = _Framing.CHUNKED
            self.reusable = self.reusable and not lengths
        elif lengths:
            self._framing = _Framing.LENGTH
            self._remaining_bytes = int(lengths[0])
            if self._remaining_bytes == 0:
                self.phase = Phase.DONE
        else:
            self._framing = _Framing.UNTIL_CLOSE
            self.reusable = False

    def _feed_body(self, received: bytes) -> None:
        room = self.max_wire_bytes - self.wire_bytes
        if self._framing is _Framing.LENGTH:
            taken = received[: min(room, self._remaining_bytes)]
            self._remaining_bytes -= len(taken)
            if self._remaining_bytes == 0:
                self.phase = Phase.DONE
                self.reusable = self.reusable and len(taken) == len(received)
        else:
            taken = received[:room] if len(received) > room else received
            if self._framing is _Framing.CHUNKED:
                self._feed_chunks(taken)
        self._wire.append(taken)
        self.wire_bytes += len(taken)
        if self.phase is Phase.BODY and self.fault is None and len(taken) < len(received):
            self.fault = Fault(Outcome.TRUNCATED_LENGTH, f"body of more than {self.max_wire_bytes} bytes")

    def _feed_chunks(self, received: bytes) -> None:
        before = len(self._chunked_payload)
        parser = self._parser
        assert parser is not None
        try:
            parser.feed_data(received)
        except httptools.HttpParserError as error:
            if self._message_complete:
                self.reusable = False  # bytes after the end
            else:
                self.fault = Fault(Outcome.BAD_HTTP, str(error) or "damaged chunks")
        if self._message_complete:
            self.phase = Phase.DONE
        self._silent_bytes = 0 if len(self._chunked_payload) > before else self._silent_bytes + len(received)
        if self._trailers > self._caps.lines or self._header_bytes + self._trailer_bytes > self._caps.total_bytes:
            self.fault = Fault(Outcome.HEADERS_TOO_LARGE, "too many trailers")
        elif self._silent_bytes > self._caps.line_bytes and self.phase is Phase.BODY:
            # llhttp has no cap for a chunk extension or a trailer line that never ends (A13, A21).
            outcome = Outcome.HEADERS_TOO_LARGE if self._trailers else Outcome.BAD_HTTP
            self.fault = Fault(outcome, "chunk framing without end")


def _texts(headers: list[tuple[bytes, bytes]]) -> tuple[tuple[str, str], ...]:
    """Most headers are ASCII, some are UTF-8, the rest is what RFC 9110 calls opaque: never an error."""
    try:
        return tuple([(name.decode().lower(), value.decode()) for name, value in headers])
    except UnicodeDecodeError:
        return tuple([(name.decode("latin-1").lower(), _text(value)) for name, value in headers])


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
