"""Reading an answer does not depend on how it was cut into packets, and no bytes make it raise (N7, N9)."""

from __future__ import annotations

import gc
import itertools
import weakref

from hypothesis import given, settings
from hypothesis import strategies as st

from nephila.crawl.response import Fault, HeaderCaps, Phase, ResponseReader
from nephila.records import Outcome

CAPS = HeaderCaps(total_bytes=4096, line_bytes=1024, lines=32)
MAX_WIRE_BYTES = 10_000


def reader(*, is_head: bool = False, max_wire_bytes: int = MAX_WIRE_BYTES) -> ResponseReader:
    return ResponseReader(is_head=is_head, caps=CAPS, max_wire_bytes=max_wire_bytes)


def read(packets: list[bytes], **kwargs: bool) -> ResponseReader:
    """Feed packets as a connection does: not beyond the end, then the close."""
    reading = reader(**kwargs)
    for packet in packets:
        if reading.phase is Phase.DONE or reading.fault is not None:
            break
        reading.feed(packet)
    if reading.phase is not Phase.DONE and reading.fault is None:
        reading.end(was_reset=False)
    return reading


def told(reading: ResponseReader) -> tuple[object, ...]:
    outcome = reading.fault.outcome if reading.fault else None
    return reading.phase, outcome, reading.status, reading.headers, reading.content(reading.wire_body)


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    """Whole answers in each framing, with interim answers before them."""
    body = draw(st.binary(max_size=400))
    interim = draw(st.sampled_from([b"", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 E\r\nLink: a\r\n\r\n" * 3]))
    end = draw(st.sampled_from([b"\r\n", b"\n"]))
    lines = [b"HTTP/1.1 200 OK", b"Server: x", b"X-Name: \xec\x95\x88"]
    framing = draw(st.sampled_from(["length", "chunked", "close"]))
    if framing == "length":
        lines.append(b"Content-Length: %d" % len(body))
    if framing == "chunked":
        lines.append(b"Transfer-Encoding: chunked")
        size = draw(st.integers(1, 200))
        pieces = [body[start : start + size] for start in range(0, len(body), size)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    return interim + end.join([*lines, b"", b""]) + body


def cut(whole: bytes, places: list[int]) -> list[bytes]:
    bounds = [0, *sorted({place % (len(whole) + 1) for place in places}), len(whole)]
    return [whole[a:b] for a, b in itertools.pairwise(bounds) if a < b]


@given(answers(), st.lists(st.integers(0, 10_000), max_size=12))
def test_packets_do_not_matter(whole: bytes, places: list[int]) -> None:
    at_once = read([whole])
    assert at_once.phase is Phase.DONE
    assert told(read(cut(whole, places))) == told(at_once)


@given(st.lists(st.binary(max_size=300), max_size=10), st.booleans())
@settings(max_examples=150)
def test_no_bytes_make_it_raise(packets: list[bytes], is_head: bool) -> None:
    reading = read(packets, is_head=is_head)
    assert reading.phase is Phase.DONE or reading.fault is not None


@given(answers(), st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=4))
@settings(max_examples=150)
def test_a_damaged_answer_ends_in_an_outcome_and_within_its_cap(whole: bytes, damage: list[tuple[int, int]]) -> None:
    bytes_ = bytearray(whole)
    for place, value in damage:
        bytes_[place % len(bytes_)] = value
    reading = read([bytes(bytes_)])
    assert reading.phase is Phase.DONE or reading.fault is not None
    assert reading.wire_bytes <= MAX_WIRE_BYTES


@given(st.integers(0, 300), st.integers(0, 300))
def test_the_cap_of_the_wire_is_exact(body_bytes: int, cap_bytes: int) -> None:
    reading = reader(max_wire_bytes=cap_bytes)
    reading.feed(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % body_bytes + bytes(body_bytes))
    if body_bytes <= cap_bytes:
        assert (reading.phase, reading.fault) == (Phase.DONE, None)
    else:
        assert reading.fault is not None
        assert reading.fault.outcome is Outcome.TRUNCATED_LENGTH
    assert reading.wire_bytes == min(body_bytes, cap_bytes)


def test_a_length_beyond_all_memory_reserves_nothing() -> None:  # A7
    reading = reader()
    reading.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000\r\n\r\nabc")
    assert (reading.phase, reading.wire_body) == (Phase.BODY, b"abc")


def test_what_was_read_is_freed_without_the_garbage_collector() -> None:
    class Watched(ResponseReader):
        __slots__ = ("__weakref__",)

    def ended(how: str) -> weakref.ref[Watched]:
        reading = Watched(is_head=False, caps=CAPS, max_wire_bytes=MAX_WIRE_BYTES)
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        reading.feed(head + (b"0\r\n\r\n" if how == "whole" else b"zz" if how == "bad" else b"5\r\nab"))
        if how == "slow":
            reading.give_up(Fault(Outcome.TRUNCATED_TIME, "slow"))
        if how == "cut":
            reading.end(was_reset=True)
        return weakref.ref(reading)

    gc.disable()
    try:
        assert {how: ended(how)() for how in ("whole", "bad", "slow", "cut")} == dict.fromkeys(
            ("whole", "bad", "slow", "cut")
        )
    finally:
        gc.enable()
