"""A connection and the hostile web: each row of RELIABILITY section 2 acted out byte for byte on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import gzip
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import uvloop

from nephila.clock import REAL_TIME
from nephila.config.sections import Crawl, Net
from nephila.crawl.addresses import Allowed
from nephila.crawl.connection import Limits
from nephila.crawl.fetcher import Connection, Fetched, FetchRequest, Site, fetching, needs_contact, user_agent
from nephila.errors import UsageError
from nephila.records import SHORT_HEADER, NetworkState, Outcome, network_state

sys.path.insert(0, str(Path(__file__).parent))

from raw_web import (
    DECODED_BYTES,
    LIMITS,
    WIRE_BYTES,
    Act,
    Visitor,
    answer,
    connection,
    serving,
    shared,
)

PAGE = FetchRequest("/page?q=1")
HEAD = b"HTTP/1.1 200 OK\r\n"


async def fetch_once(act: Act | bytes, request: FetchRequest = PAGE, **kwargs: object) -> Fetched:
    async with serving(act) as web:
        asked = connection(web.port, **kwargs)
        try:
            return await asked.fetch(request)
        finally:
            await asked.aclose()


def says(*parts: bytes, then: str = "close") -> Act:
    """Say these parts, then close, reset or be silent."""

    async def act(visitor: Visitor) -> None:
        for part in parts:
            await visitor.say(part)
        match then:
            case "close":
                visitor.writer.close()
            case "reset":
                visitor.reset()
            case "silence":
                await visitor.until_left()

    return act


def says_for_ever(start: bytes, again: bytes) -> Act:
    async def act(visitor: Visitor) -> None:
        await visitor.say(start)
        while True:
            await visitor.say(again)

    return act


def drips(start: bytes, every_s: float) -> Act:
    async def act(visitor: Visitor) -> None:
        await visitor.say(start)
        while True:
            await visitor.say(b"x")
            await asyncio.sleep(every_s)  # the behaviour under test is slowness itself

    return act


# What a good answer gives.


async def test_a_page_is_fetched_with_all_that_the_archive_needs() -> None:
    sent = answer(b"<p>hello", "Content-Type: text/html", "X-Name: \xc3\xa9")
    fetched = await fetch_once(sent)
    assert (fetched.outcome, fetched.reason, fetched.status, fetched.http_version) == (Outcome.OK, "", 200, "1.1")
    assert fetched.raw_header + fetched.wire_body == sent
    assert fetched.payload == b"<p>hello"
    assert fetched.header("content-type") == "text/html"
    assert fetched.header("x-name") == "é"
    assert fetched.received_bytes == len(sent)
    assert fetched.address == "127.0.0.1" and fetched.tls is None and not fetched.reused and not fetched.retried
    assert 0 < fetched.connect_ms <= fetched.first_byte_ms <= fetched.header_ms <= fetched.total_ms
    assert abs(fetched.started_at - time.time()) < 5


async def test_the_request_says_what_it_should_and_nothing_more() -> None:
    request = FetchRequest(
        "/a%0d%0a", etag='"v1"', modified_since="Sun, 15 Nov 2026 00:00:00 GMT", headers=(("X-Key", "k"),)
    )
    async with serving(answer(b"")) as web:
        asked = connection(web.port)
        fetched = await asked.fetch(request)
        await asked.aclose()
    lines = web.requests[0].decode().split("\r\n")
    assert fetched.request_bytes == web.requests[0]
    assert lines[:2] == ["GET /a%0d%0a HTTP/1.1", f"Host: site.test:{web.port}"]
    assert [line.partition(":")[0] for line in lines[2:-2]] == [
        "User-Agent", "Accept", "Accept-Encoding", "If-None-Match", "If-Modified-Since", "X-Key",
    ]  # fmt: skip


async def test_one_connection_serves_many_requests() -> None:
    async with serving(answer(b"again")) as web:
        asked = connection(web.port)
        answers = [await asked.fetch(PAGE) for _ in range(5)]
        await asked.aclose()
    assert [fetched.reused for fetched in answers] == [False, True, True, True, True]
    assert len(web.visitors) == 1
    assert answers[4].connect_ms == 0


@pytest.mark.parametrize("size", [0, 1, 100, 65_536, 200_000])
async def test_a_chunked_body_keeps_its_framing_for_the_archive(size: int) -> None:
    body = bytes(range(256)) * (size // 256 + 1)
    body = body[:size]
    pieces = [body[start : start + 1000] for start in range(0, size, 1000)]
    framed = b"".join(b"%x;ext=1\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\nX-Trailer: t\r\n\r\n"
    sent = HEAD + b"Transfer-Encoding: Chunked\r\n\r\n" + framed
    async with serving(sent) as web:
        asked = connection(web.port)
        answers = [await asked.fetch(PAGE), await asked.fetch(PAGE)]
        await asked.aclose()
    for fetched in answers:
        assert (fetched.outcome, fetched.payload, fetched.wire_body) == (Outcome.OK, body, framed)
    assert answers[1].reused


async def test_a_body_without_length_lasts_until_the_close() -> None:
    fetched = await fetch_once(says(b"HTTP/1.0 200 OK\r\n\r\n", b"one ", b"two"))
    assert (fetched.outcome, fetched.payload, fetched.http_version) == (Outcome.OK, b"one two", "1.0")


async def test_a_head_request_has_no_body_and_the_connection_goes_on() -> None:
    async with serving(answer(b"", "Content-Length: 1000", length=False)) as web:
        asked = connection(web.port)
        answers = [await asked.fetch(FetchRequest("/", method="HEAD")) for _ in range(2)]
        await asked.aclose()
    assert [(fetched.outcome, fetched.payload) for fetched in answers] == [(Outcome.OK, b"")] * 2
    assert answers[1].reused


async def test_an_answer_byte_by_byte_is_the_same_answer() -> None:
    sent = b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    fetched = await fetch_once(says(*(sent[place : place + 1] for place in range(len(sent))), then="silence"))
    assert (fetched.outcome, fetched.payload, fetched.wire_body) == (Outcome.OK, b"abc", b"3\r\nabc\r\n0\r\n\r\n")
    assert fetched.header("link") is None


# Which outcome follows from the status.


@pytest.mark.parametrize(
    ("status", "lines", "request_", "outcome"),
    [
        ("200 OK", (), PAGE, Outcome.OK),
        ("206 Partial", (), PAGE, Outcome.OK),
        ("301 Moved", ("Location: /x",), PAGE, Outcome.REDIRECT),
        ("302 Found", (), PAGE, Outcome.HTTP_ERROR),
        ("302 Found", ("Location: ",), PAGE, Outcome.HTTP_ERROR),
        ("304 Not Modified", (), PAGE, Outcome.HTTP_ERROR),  # A20
        ("304 Not Modified", (), FetchRequest("/", etag='"v"'), Outcome.NOT_MODIFIED),
        ("404 Not Found", (), PAGE, Outcome.HTTP_ERROR),
        ("503 Busy", ("Retry-After: 10",), PAGE, Outcome.HTTP_ERROR),
        ("999 Request denied", (), PAGE, Outcome.HTTP_ERROR),  # A18
        ("200", (), PAGE, Outcome.OK),
        ("200 ", (), PAGE, Outcome.OK),
        ("000 Nothing", (), PAGE, Outcome.BAD_HTTP),
        ("-1 Less", (), PAGE, Outcome.BAD_HTTP),
        ("101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade", (), PAGE, Outcome.BAD_HTTP),  # A22
    ],
)
async def test_the_status_decides(
    status: str, lines: tuple[str, ...], request_: FetchRequest, outcome: Outcome
) -> None:
    fetched = await fetch_once(answer(b"", *lines, status=status), request_)
    assert fetched.outcome is outcome


# Rows that end in one outcome: A, B and C of RELIABILITY section 2.

CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
LAST_CHUNK = CHUNKED + b"1\r\na\r\n0\r\n"
SOME = bytes(65536)
BOMB = gzip.compress(bytes(50 * 2**20))
ROWS: dict[str, tuple[Act | bytes, Outcome]] = {
    "A1 drip": (drips(HEAD + b"\r\n", 0.05), Outcome.TOO_SLOW),
    "A2 drip in the header": (drips(HEAD, 0.05), Outcome.TIMEOUT_HEADERS),
    "A3 hang": (says(then="silence"), Outcome.TIMEOUT_HEADERS),
    "A4 hang after the header": (says(HEAD + b"Content-Length: 9\r\n\r\n", then="silence"), Outcome.TRUNCATED_TIME),
    "A5 endless chunks": (says_for_ever(CHUNKED, b"4000\r\n" + bytes(0x4000) + b"\r\n"), Outcome.TRUNCATED_LENGTH),
    "A6 endless": (says_for_ever(HEAD + b"\r\n", SOME), Outcome.TRUNCATED_LENGTH),
    "A7 says 10 GB": (says_for_ever(HEAD + b"Content-Length: 10737418240\r\n\r\n", SOME), Outcome.TRUNCATED_LENGTH),
    "A8 short": (says(HEAD + b"Content-Length: 100\r\n\r\n" + bytes(50)), Outcome.TRUNCATED_DISCONNECT),
    "A8 short chunks": (says(CHUNKED + b"64\r\n" + bytes(50)), Outcome.TRUNCATED_DISCONNECT),
    "A10 two lengths": (HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", Outcome.BAD_HTTP),
    "A11 length in words": (HEAD + b"Content-Length: thousand\r\n\r\nab", Outcome.BAD_HTTP),
    "A11 length below zero": (HEAD + b"Content-Length: -5\r\n\r\nab", Outcome.BAD_HTTP),
    "A11 length beyond all": (HEAD + b"Content-Length: 99999999999999999999999\r\n\r\nab", Outcome.BAD_HTTP),
    "A13 bad chunk size": (CHUNKED + b"zz\r\nab\r\n", Outcome.BAD_HTTP),
    "A13 chunk size overflow": (CHUNKED + b"fffffffffffffffff\r\nab\r\n", Outcome.BAD_HTTP),
    "A13 endless chunk extension": (says_for_ever(CHUNKED + b"1;", b"e" * 4096), Outcome.BAD_HTTP),
    "A15 reset in the body": (says(HEAD + b"Content-Length: 99\r\n\r\nab", then="reset"), Outcome.TRUNCATED_DISCONNECT),
    "A16 empty reply": (says(), Outcome.BAD_HTTP),
    "A17 HTTP/0.9": (says(b"<html>hello</html>", then="silence"), Outcome.BAD_HTTP),
    "A17 other protocol": (says(b"SSH-2.0-OpenSSH_9.2\r\n", then="silence"), Outcome.BAD_HTTP),
    "A19 103 flood": (b"HTTP/1.1 103 Early Hints\r\n\r\n" * 10_000, Outcome.HEADERS_TOO_LARGE),
    "A19 100 flood": (b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000, Outcome.HEADERS_TOO_LARGE),
    "A21 endless trailers": (says_for_ever(LAST_CHUNK, b"X-Trailer: value\r\n" * 64), Outcome.HEADERS_TOO_LARGE),
    "A21 endless trailer": (says_for_ever(LAST_CHUNK + b"A: b\r\nB: ", b"x" * 4096), Outcome.HEADERS_TOO_LARGE),
    "B1 one long line": (says_for_ever(HEAD + b"X-Long: ", b"x" * 4096), Outcome.HEADERS_TOO_LARGE),
    "B1 one line over its cap": (HEAD + b"X-Long: " + b"x" * 17_000 + b"\r\n\r\n", Outcome.HEADERS_TOO_LARGE),
    "B2 many lines": (HEAD + b"A: b\r\n" * 10_000 + b"\r\n", Outcome.HEADERS_TOO_LARGE),
    "B2 more lines than allowed": (HEAD + b"A: b\r\n" * 257 + b"\r\n", Outcome.HEADERS_TOO_LARGE),
    "B4 folded": (HEAD + b"A: b\r\n c: d\r\nContent-Length: 0\r\n\r\n", Outcome.BAD_HTTP),
    "B5 NUL": (HEAD + b"A: b\0c\r\nContent-Length: 0\r\n\r\n", Outcome.BAD_HTTP),
    "B5 bare CR": (HEAD + b"A: b\rc\r\nContent-Length: 0\r\n\r\n", Outcome.BAD_HTTP),
    "B5 escape": (HEAD + b"A: \x1b[2J\r\nContent-Length: 0\r\n\r\n", Outcome.BAD_HTTP),
    "B8 strange coding": (answer(b"x", "Content-Encoding: __import__"), Outcome.DECODE_ERROR),
    "N9 strange transfer coding": (HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", Outcome.BAD_HTTP),
    "C1 bomb": (answer(BOMB, "Content-Encoding: gzip"), Outcome.DECODE_LIMIT),
    "C5 ten codings": (answer(b"x", "Content-Encoding: " + ", ".join(["gzip"] * 10)), Outcome.DECODE_ERROR),
    "C6 ten lines": (answer(b"x", *["Content-Encoding: gzip"] * 10), Outcome.DECODE_ERROR),
    "C7 empty members": (answer(gzip.compress(b"") * 5000, "Content-Encoding: gzip"), Outcome.DECODE_LIMIT),
    "C8 cut gzip": (answer(gzip.compress(b"weave" * 99)[:-6], "Content-Encoding: gzip"), Outcome.TRUNCATED_DISCONNECT),
    "C9 says gzip, is plain": (answer(b"<p>", "Content-Encoding: gzip"), Outcome.OK),
    "C10 bomb of a redirect": (answer(BOMB, "Content-Encoding: gzip", "Location: /", status="302 F"), Outcome.REDIRECT),
    "C10 bomb of an error": (answer(BOMB, "Content-Encoding: gzip", status="404 N"), Outcome.HTTP_ERROR),
    "reset before a byte": (says(then="reset"), Outcome.RESET),
    "404 cut short": (says(answer(b"", "Content-Length: 9", status="404 N", length=False)), Outcome.HTTP_ERROR),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
async def test_each_behaviour_ends_in_its_outcome_within_its_caps(row: str) -> None:
    act, outcome = ROWS[row]
    started = time.monotonic()
    fetched = await fetch_once(act)
    assert fetched.outcome is outcome, fetched.reason
    assert time.monotonic() - started < 2.0
    assert len(fetched.wire_body) <= WIRE_BYTES
    assert len(fetched.payload) <= DECODED_BYTES
    assert fetched.reason or outcome in (Outcome.OK, Outcome.HTTP_ERROR)


def test_each_behaviour_ends_in_the_same_outcome_on_uvloop() -> None:
    async def all_rows() -> dict[str, Outcome]:
        fetched = await asyncio.gather(*(fetch_once(act) for act, _ in ROWS.values()))
        return {row: one.outcome for row, one in zip(ROWS, fetched, strict=True)}

    assert uvloop.run(all_rows()) == {row: outcome for row, (_, outcome) in ROWS.items()}


def test_servers_that_hang_up_at_once_are_outcomes_on_uvloop_too() -> None:
    """Many at a time: some are gone before the loop comes back to the one that connected."""

    async def act(visitor: Visitor) -> None:
        visitor.writer.transport.abort()

    async def many() -> set[Outcome]:
        async with serving(act) as web:
            fetched = await asyncio.gather(*(connection(web.port).fetch(PAGE) for _ in range(400)))
            return {one.outcome for one in fetched}

    # a busy machine may not come to all of them in time
    late = {Outcome.TIMEOUT_CONNECT, Outcome.TIMEOUT_HEADERS}
    assert uvloop.run(many()) <= {Outcome.RESET, Outcome.BAD_HTTP, Outcome.REFUSED} | late


@pytest.mark.parametrize(
    ("row", "truncated"),
    [("A1 drip", "time"), ("A4 hang after the header", "time"), ("A6 endless", "length"), ("A8 short", "disconnect"),
     ("A15 reset in the body", "disconnect"), ("404 cut short", "disconnect"), ("A3 hang", None), ("C1 bomb", None)],
)  # fmt: skip
async def test_what_was_cut_says_how(row: str, truncated: str | None) -> None:
    assert (await fetch_once(ROWS[row][0])).truncated == truncated


async def test_what_arrived_before_the_end_is_kept() -> None:
    assert (await fetch_once(ROWS["A8 short"][0])).payload == bytes(50)
    assert len((await fetch_once(ROWS["A6 endless"][0])).payload) == WIRE_BYTES
    assert len((await fetch_once(ROWS["C1 bomb"][0])).payload) == DECODED_BYTES


async def test_the_states_of_the_paper_follow() -> None:  # S1-10, S1-11
    states = {
        "reset": await fetch_once(says(then="reset")),
        "short": await fetch_once(says(b"HTTP/1.1 200 OK\r\nCont")),
        "short by reset": await fetch_once(says(b"HTTP/1.1 200 OK\r\nCont", then="reset")),
        "not http": await fetch_once(says(b"hello\r\n")),
        "hang": await fetch_once(says(then="silence")),
        "cut": await fetch_once(ROWS["A8 short"][0]),
        "stall": await fetch_once(ROWS["A4 hang after the header"][0]),
    }
    assert {name: network_state(fetched.outcome, fetched.reason) for name, fetched in states.items()} == {
        "reset": NetworkState.CONNECT_ERROR,
        "short": NetworkState.HEADER_SHORT,
        "short by reset": NetworkState.HEADER_SHORT,
        "not http": NetworkState.HEADER_NOT_HTTP,
        "hang": NetworkState.HEADER_TIMEOUT,
        "cut": NetworkState.BODY_ERROR,
        "stall": NetworkState.BODY_TIMEOUT,
    }
    assert states["short"].reason == SHORT_HEADER


@pytest.mark.parametrize(
    "said",
    [
        answer(b"0123456789") + bytes(1000),  # A9: more than its length
        HEAD + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",  # A12: length and chunks
        HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nab",
        answer(b"", "Content-Length: 2", status="204 No Content", length=False) + b"ab",  # A20
        CHUNKED + b"0\r\n\r\n" + answer(b"smuggled"),
        CHUNKED + b"0\r\n\r\nHT",
        CHUNKED + b"0\r\n\r\nrubbish",
    ],
)
async def test_after_doubtful_framing_the_connection_is_not_used_again(said: bytes) -> None:  # N9
    async with serving(said) as web:
        asked = connection(web.port)
        answers = [await asked.fetch(PAGE) for _ in range(3)]
        await asked.aclose()
    assert [fetched.outcome for fetched in answers] == [Outcome.OK] * 3
    assert not any(b"smuggled" in fetched.payload for fetched in answers)
    assert len(web.visitors) == 3


async def test_an_answer_that_nobody_asked_for_closes_the_connection() -> None:
    said = asyncio.Event()

    async def act(visitor: Visitor) -> None:
        await visitor.say(answer(b"%d" % visitor.number))
        if visitor.number == 0:
            await said.wait()
            await visitor.say(answer(b"smuggled"))

    async with serving(act) as web:
        asked = connection(web.port)
        first = await asked.fetch(PAGE)
        said.set()
        await web.visitors[0].until_left()  # we hang up on it
        second = await asked.fetch(PAGE)
        await asked.aclose()
    assert (first.payload, second.payload) == (b"0", b"1")
    assert not second.reused


async def test_many_tiny_chunks_do_not_hold_up_the_loop() -> None:  # A14
    lag_s = 0.0

    async def watch_the_loop() -> None:
        nonlocal lag_s
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.005)
            lag_s = max(lag_s, time.monotonic() - before - 0.005)

    limits = dataclasses.replace(LIMITS, max_wire_bytes=2 * 2**20, header_s=5.0, idle_s=5.0)
    async with serving(CHUNKED + b"1\r\na\r\n" * 200_000 + b"0\r\n\r\n") as web:
        watcher = asyncio.create_task(watch_the_loop())
        asked = connection(web.port, limits=limits)
        fetched = await asked.fetch(PAGE)
        await asked.aclose()
        watcher.cancel()
    assert (fetched.outcome, fetched.payload) == (Outcome.OK, b"a" * 200_000)
    assert lag_s < 0.2


async def test_a_request_can_lower_the_cap_of_its_body() -> None:  # robots.txt
    fetched = await fetch_once(answer(bytes(1000)), FetchRequest("/robots.txt", max_wire_bytes=100))
    assert (fetched.outcome, fetched.truncated, len(fetched.payload)) == (Outcome.TRUNCATED_LENGTH, "length", 100)


async def test_the_total_time_out_ends_a_steady_body() -> None:
    limits = dataclasses.replace(LIMITS, total_s=0.3, min_rate_bytes_s=0)
    fetched = await fetch_once(drips(HEAD + b"\r\n", 0.02), limits=limits)
    assert (fetched.outcome, fetched.truncated, fetched.reason) == (Outcome.TRUNCATED_TIME, "time", "total time-out")
    assert 300 <= fetched.total_ms < 600


async def test_the_total_time_out_before_a_header() -> None:
    limits = dataclasses.replace(LIMITS, total_s=0.2, header_s=9.0)
    assert (await fetch_once(drips(HEAD, 0.02), limits=limits)).outcome is Outcome.TIMEOUT_TOTAL


# Connections that break.


async def test_a_kept_connection_that_went_stale_is_opened_again_once() -> None:  # H10, N18
    async def act(visitor: Visitor) -> None:
        if len(visitor.requests) % 2 == 0:
            visitor.reset() if visitor.number % 2 else visitor.writer.close()
            return
        await visitor.say(answer(b"once"))

    async with serving(act) as web:
        asked = connection(web.port)
        answers = [await asked.fetch(PAGE) for _ in range(6)]
        await asked.aclose()
    assert [fetched.outcome for fetched in answers] == [Outcome.OK] * 6
    assert [fetched.retried for fetched in answers] == [False] + [True] * 5
    assert not any(fetched.reused for fetched in answers)


async def test_a_stale_connection_is_not_opened_again_before_the_delay_is_over() -> None:
    # The server may have seen the first of the two requests: then it must not see the second at once.
    at: list[float] = []

    async def act(visitor: Visitor) -> None:
        at.append(time.monotonic())
        if len(visitor.requests) == 2:
            visitor.reset()
            return
        await visitor.say(answer(b"once"))

    async with serving(act) as web:
        asked = connection(web.port)
        asked._shared = replace(asked._shared, again_s=0.05)
        await asked.fetch(PAGE)
        fetched = await asked.fetch(PAGE)
        await asked.aclose()
    assert (fetched.outcome, fetched.retried) == (Outcome.OK, True)
    assert at[2] - at[1] >= 0.05


async def test_a_fresh_connection_that_breaks_is_not_tried_again_here() -> None:  # A16
    async with serving(says()) as web:
        asked = connection(web.port)
        fetched = await asked.fetch(PAGE)
        await asked.aclose()
    assert (fetched.outcome, fetched.reason, fetched.retried) == (Outcome.BAD_HTTP, SHORT_HEADER, False)
    assert len(web.requests) == 1


async def test_a_connection_that_the_server_closed_while_idle_is_simply_replaced() -> None:
    async with serving(answer(b"x")) as web:
        asked = connection(web.port)
        await asked.fetch(PAGE)
        web.visitors[0].writer.close()
        assert asked._wire is not None
        await asked._wire.wait_closed()
        fetched = await asked.fetch(PAGE)
        await asked.aclose()
    assert (fetched.outcome, fetched.reused, fetched.retried) == (Outcome.OK, False, False)


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_a_closed_port_refuses() -> None:  # H8
    fetched = await connection(closed_port()).fetch(PAGE)
    assert (fetched.outcome, fetched.reason) == (Outcome.REFUSED, "connection refused")


async def test_a_server_that_does_not_accept_is_a_connect_time_out() -> None:  # H9
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        port = deaf.getsockname()[1]
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
        fetched = await connection(port, limits=dataclasses.replace(LIMITS, connect_s=0.3)).fetch(PAGE)
        for filler in fillers:
            filler.close()
    assert fetched.outcome is Outcome.TIMEOUT_CONNECT
    assert fetched.total_ms < 600


@pytest.mark.parametrize("address", ["127.0.0.1", "::ffff:127.0.0.1"])
async def test_no_packet_goes_to_an_address_that_is_refused(address: str) -> None:  # N4, D7, D10
    async with serving(answer(b"secret")) as web:
        blocked = Connection(Site("http", "site.test", web.port), address, fetching(Net(), Crawl(), REAL_TIME))
        fetched = await blocked.fetch(PAGE)
    assert fetched.outcome is Outcome.BLOCKED_ADDRESS
    assert "127.0.0.1" in fetched.reason
    assert web.visitors == []


async def test_the_open_socket_is_checked_again() -> None:  # N14
    # Linux takes 0.0.0.0 to loopback: the address asked for is allowed here, the one at the other end is not.
    allowed = Allowed.parse(["0.0.0.0/8"])
    async with serving(answer(b"secret")) as web:
        fetched = await Connection(Site("http", "site.test", web.port), "0.0.0.0", shared(allowed=allowed)).fetch(PAGE)
    assert (fetched.outcome, fetched.reason) == (Outcome.BLOCKED_ADDRESS, "127.0.0.1 is loopback")
    assert web.requests == []


async def test_a_cancelled_fetch_leaves_no_connection_open() -> None:
    asked_for, left = asyncio.Event(), asyncio.Event()

    async def act(visitor: Visitor) -> None:
        asked_for.set()
        with contextlib.suppress(ConnectionError):
            await visitor.until_left()
        left.set()

    async with serving(act) as web:
        asked = connection(web.port, limits=dataclasses.replace(LIMITS, header_s=60.0))
        task = asyncio.create_task(asked.fetch(PAGE))
        await asked_for.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(left.wait(), 2)  # the server sees us go


async def test_two_hundred_slow_sites_do_not_slow_the_good_one() -> None:  # N1
    async def act(visitor: Visitor) -> None:
        if b"Host: slow" in visitor.requests[-1]:
            await visitor.until_left()
        await visitor.say(answer(b"quick"))

    limits = dataclasses.replace(LIMITS, header_s=30.0)
    async with serving(act) as web:
        slow = [connection(web.port, host=f"slow{number}.test", limits=limits) for number in range(200)]
        waiting = [asyncio.create_task(one.fetch(PAGE)) for one in slow]
        good = connection(web.port, limits=limits)
        answers = [await good.fetch(PAGE) for _ in range(50)]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await good.aclose()
    assert all(fetched.outcome is Outcome.OK for fetched in answers)
    assert sorted(fetched.total_ms for fetched in answers)[25] < 100


# What we say about ourselves, and what we refuse to say.


@pytest.mark.parametrize("target", ["/x\r\nX-Evil: 1", "/x\n", "/x\0", "x", "", "/ x", "/\u00e9", "http://other/"])
async def test_a_target_that_would_break_the_request_is_never_sent(target: str) -> None:  # N8, B6
    async with serving(answer(b"")) as web:
        fetched = await connection(web.port).fetch(FetchRequest(target))
    assert fetched.outcome is Outcome.URL_INVALID
    assert web.visitors == []


async def test_a_validator_with_a_line_end_is_never_sent() -> None:
    async with serving(answer(b"")) as web:
        fetched = await connection(web.port).fetch(FetchRequest("/", etag='"a"\r\nX-Evil: 1'))
    assert fetched.outcome is Outcome.URL_INVALID
    assert web.visitors == []


@pytest.mark.parametrize(
    "header", [("X-A", "b\r\nc"), ("X-A", "\0"), ("X A", "b"), ("", "b"), ("Host", "other"), ("Content-Length", "5")]
)
async def test_our_own_mistake_in_a_header_is_an_error(header: tuple[str, str]) -> None:
    async with serving(answer(b"")) as web:
        with pytest.raises(UsageError):
            await connection(web.port).fetch(FetchRequest("/", headers=(header,)))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Site("ftp", "a", 21),
        lambda: Site("http", "a\r\nb", 80),
        lambda: Site("http", "", 80),
        lambda: Site("http", "a", 0),
    ],
)
def test_a_site_that_is_none_is_refused(make: Callable[[], Site]) -> None:  # N5
    with pytest.raises(UsageError):
        make()


def test_the_host_header_leaves_out_the_usual_port() -> None:
    assert Site("http", "a.test", 80).authority == "a.test"
    assert Site("https", "a.test", 443).authority == "a.test"
    assert Site("https", "[::1]", 80).authority == "[::1]:80"


def test_we_say_who_we_are() -> None:
    assert user_agent(Net(contact="https://example.org/robot")) == "nephila/0.1.0 (+https://example.org/robot)"
    assert user_agent(Net()) == "nephila/0.1.0"
    assert user_agent(Net(user_agent="spider/2", contact="me@example.org")) == "spider/2 (+me@example.org)"


def test_a_contact_is_needed_before_leaving_this_machine() -> None:
    needs_contact(["127.0.0.1", "::1"], Net())
    needs_contact(["8.8.8.8"], Net(contact="me@example.org"))
    with pytest.raises(UsageError, match=r"8\.8\.8\.8 is not on this machine: set net\.contact"):
        needs_contact(["127.0.0.1", "8.8.8.8"], Net())


def test_the_limits_come_from_the_configuration() -> None:
    net = Net(connect_timeout=1, header_timeout=2, idle_timeout=3, total_timeout=4, min_rate=5, max_header_size=6)
    made = fetching(net, Crawl(max_page_size=7, max_decoded_size=8), REAL_TIME).limits
    assert made == Limits(1, 2, 3, 4, 5, 20.0, 7, 8, dataclasses.replace(LIMITS.header_caps, total_bytes=6))
