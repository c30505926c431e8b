"""Each manner as a raw socket sees it, and what the witness says of it."""

from __future__ import annotations

import re
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from scripted import ADDRESS, Served, get, page, read_all, read_answer, serving, witnessed

from nephila.clock import Clock
from nephila.lab import witness
from nephila.lab.answer import Manner

BIG = bytes(range(256)) * 40_000  # 10 MB: more than any socket buffer takes at once
DATED = (("ETag", '"v1"'), ("Last-Modified", "Tue, 01 Jan 2002 00:00:00 GMT"), ("Content-Type", "text/html"))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    answers = {
        "/": page(),
        "/empty": page(b""),
        "/dated": page(headers=DATED),
        "/big": page(BIG),
        "/gone": page(b"gone", status=410),
        "/nothing": page(b"", status=204),
        "/late": page(delay_s=0.2),
        **{f"/{manner}": page(b"x" * 1000, manner) for manner in Manner},
        "/empty-cut": page(b"", Manner.CUT_BODY),
    }
    with serving(answers, tmp_path) as running:
        yield running


def test_a_page_goes_out_whole_with_date_and_length(served: Served) -> None:
    head, _, body = served.get("/").partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[0] == b"HTTP/1.1 200 OK"
    assert b"Content-Type: text/html" in lines
    assert b"Content-Length: 18" in lines
    assert b"Connection: close" in lines
    assert sum(line.startswith(b"Date: ") for line in lines) == 1
    assert body == b"<html>hello</html>"


def test_the_web_is_told_host_port_target_and_address_asked(served: Served) -> None:
    served.ask(get("/?q=1", "Connection: close", host="B.Example:8480"), "127.9.8.7")
    assert served.web.asked == [("b.example", served.port, "/?q=1", "127.9.8.7")]


def test_a_target_that_is_a_whole_url_names_its_host(served: Served) -> None:
    served.get("http://C.example:8480/?x")
    served.get("http://d.example")
    assert [(host, target) for host, _, target, _ in served.web.asked] == [("c.example", "/?x"), ("d.example", "/")]


def test_a_connection_is_kept_and_used_again(served: Served) -> None:
    with served.connect() as client:
        for _ in range(3):
            client.sendall(get("/"))
            _, body = read_answer(client)
            assert body == b"<html>hello</html>"
    assert len(served.web.asked) == 3


def test_pipelined_requests_are_answered_in_order(served: Served, tmp_path: Path) -> None:
    with served.connect() as client:
        client.sendall(get("/late") + get("/gone") + get("/empty", "Connection: close"))
        seen = read_all(client)
    assert re.findall(rb"HTTP/1.1 (\d+)", seen) == [b"200", b"410", b"200"]
    # and all three were under way at once, as the witness sees it
    served.flush()
    assert witness.overlaps(witness.read(tmp_path)) == {ADDRESS: 3}


def test_http_1_0_closes_unless_asked_to_stay(served: Served) -> None:
    assert served.ask(b"GET / HTTP/1.0\r\nHost: a.example\r\n\r\n").endswith(b"hello</html>")
    with served.connect() as client:
        client.sendall(b"GET / HTTP/1.0\r\nHost: a.example\r\nConnection: keep-alive\r\n\r\n")
        head, _ = read_answer(client)
        assert b"Connection: keep-alive" in head


def test_head_has_the_length_and_no_body(served: Served) -> None:
    seen = served.get("/", method="HEAD")
    assert b"Content-Length: 18\r\n" in seen
    assert seen.endswith(b"\r\n\r\n")


def test_no_body_and_no_length_with_204(served: Served) -> None:
    seen = served.get("/nothing")
    assert seen.startswith(b"HTTP/1.1 204 No Content\r\n")
    assert b"Content-Length" not in seen


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ('If-None-Match: "v1"', 304),
        ('If-None-Match: "v0", W/"v1"', 304),
        ("If-None-Match: *", 304),
        ('If-None-Match: "v2"', 200),
        ("If-Modified-Since: Tue, 01 Jan 2002 00:00:00 GMT", 304),
        ("If-Modified-Since: Mon, 31 Dec 2001 23:59:59 GMT", 200),
        ("If-Modified-Since: yesterday", 200),
    ],
)
def test_a_known_page_is_not_sent_again(served: Served, header: str, status: int) -> None:
    seen = served.get("/dated", header)
    assert seen.startswith(b"HTTP/1.1 %d " % status)
    assert b'ETag: "v1"' in seen
    assert seen.endswith(b"hello</html>") == (status == 200)


def test_an_etag_wins_over_a_date(served: Served) -> None:
    seen = served.get("/dated", 'If-None-Match: "v2"', "If-Modified-Since: Tue, 01 Jan 2002 00:00:00 GMT")
    assert seen.startswith(b"HTTP/1.1 200 ")


def test_a_body_larger_than_all_buffers_arrives_whole(served: Served) -> None:
    head, _, body = served.get("/big").partition(b"\r\n\r\n")
    assert b"Content-Length: %d" % len(BIG) in head
    assert body == BIG


def test_the_end_of_a_body_nobody_reads_is_not_witnessed(served: Served, tmp_path: Path) -> None:
    with served.connect() as client:
        client.sendall(get("/big", "Connection: close"))
        client.recv(1, socket.MSG_PEEK)
        read_from_ns = time.monotonic_ns()
        assert len(read_all(client)) > len(BIG)
    served.flush()
    (row,) = witnessed(tmp_path)
    assert row.ended_ns > read_from_ns


def test_reset_is_a_reset_before_the_first_byte(served: Served) -> None:
    with served.connect() as client, pytest.raises(ConnectionResetError):
        client.sendall(get("/reset"))
        client.recv(1)


@pytest.mark.parametrize(("target", "sent"), [("/hang", b""), ("/stall_body", b"x" * 500)])
def test_a_silent_server_stays_silent_until_the_client_leaves(served: Served, target: str, sent: bytes) -> None:
    with served.connect() as client:
        client.sendall(get(target))
        seen = b""
        while seen.partition(b"\r\n\r\n")[2] != sent:
            seen += client.recv(65536)
        served.until_asked(1)
        client.settimeout(0.3)
        with pytest.raises(TimeoutError):
            client.recv(65536)
    assert bool(seen) == bool(sent)


def test_a_short_header_ends_before_its_blank_line(served: Served) -> None:
    seen = served.get("/short_header")
    assert seen.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\n\r\n" not in seen


def test_not_http_has_no_status_line(served: Served, tmp_path: Path) -> None:
    seen = served.get("/not_http")
    assert seen
    assert not seen.startswith(b"HTTP/")


@pytest.mark.parametrize(("target", "promised", "sent"), [("/cut_body", 1000, 500), ("/empty-cut", 1, 0)])
def test_a_cut_body_is_shorter_than_promised(served: Served, target: str, promised: int, sent: int) -> None:
    with served.connect() as client:
        client.sendall(get(target))  # keep-alive: the server closes all the same
        head, _, body = read_all(client).partition(b"\r\n\r\n")
    assert b"Content-Length: %d" % promised in head
    assert len(body) == sent


def test_head_of_a_cut_page_is_whole(served: Served) -> None:
    assert served.get("/cut_body", method="HEAD").endswith(b"\r\n\r\n")


def test_other_methods_are_refused(served: Served) -> None:
    assert served.get("/", "Content-Length: 0", method="POST").startswith(b"HTTP/1.1 405 ")
    assert served.web.asked == []


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 70_000,
    ],
)
def test_what_is_no_request_gets_400_and_the_door(served: Served, request_bytes: bytes, tmp_path: Path) -> None:
    with served.connect() as client:
        client.sendall(request_bytes)
        assert client.recv(65536).startswith(b"HTTP/1.1 400 ")
    served.flush()
    assert [row.status for row in witnessed(tmp_path)] == [400]


def test_an_upgrade_is_not_taken_and_the_page_is_the_last(served: Served) -> None:
    with served.connect() as client:
        client.sendall(get("/", "Connection: Upgrade", "Upgrade: h2c"))
        seen = read_all(client)
    assert seen.count(b"HTTP/1.1") == 1
    assert seen.endswith(b"hello</html>")


def test_a_client_that_only_closes_its_sending_side_is_answered(served: Served) -> None:
    with served.connect() as client:
        client.sendall(get("/late"))
        client.shutdown(socket.SHUT_WR)
        assert read_all(client).endswith(b"hello</html>")


def test_a_connection_from_another_address_is_refused(served: Served) -> None:
    other = _own_other_address()
    if other is None:
        pytest.skip("this machine has no address but loopback")
    with pytest.raises(OSError), served.connect(other) as client:
        client.sendall(get("/"))
        if not client.recv(1):
            raise ConnectionResetError
    assert served.web.asked == []


def _own_other_address() -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing; asks the kernel which address it would use
        except OSError:
            return None
        own: str = probe.getsockname()[0]
    return None if own.startswith("127.") else own


def test_every_request_leaves_one_line_whatever_became_of_it(tmp_path: Path) -> None:
    answers = {f"/{manner}": page(b"x" * 1000, manner) for manner in Manner}
    with serving(answers, tmp_path) as served:
        for count, target in enumerate(answers, start=1):
            with served.connect() as client:
                client.sendall(get(target))
                served.until_asked(count)
        with served.connect() as client:
            client.sendall(get("/hang"))
            served.until_asked(len(answers) + 1)
            served.end()  # with a request still under way
    rows = witnessed(tmp_path)
    expected = {
        "whole": 200,
        "reset": 0,
        "hang": 0,
        "short_header": 0,
        "not_http": 0,
        "cut_body": 200,
        "stall_body": 200,
    }
    assert {row.manner: row.status for row in rows} == expected
    assert sorted(row.target for row in rows) == sorted([*answers, "/hang"])
    assert all(row.started_ns <= row.ended_ns and row.address == ADDRESS for row in rows)


def test_delays_count_in_simulated_seconds(tmp_path: Path) -> None:
    # Given a clock that runs 1,000 times as fast
    with serving({"/": page(delay_s=100.0)}, tmp_path, Clock(1000.0, 5_000_000.0, time.time())) as served:
        # when a page takes 100 simulated seconds
        began = time.monotonic()
        served.get("/")
        took_s = time.monotonic() - began
    # then it takes a tenth of a second, and the witness tells the simulated times
    assert 0.1 <= took_s < 5
    (row,) = witnessed(tmp_path)
    assert row.simulated_at >= 5_000_000.0
    assert row.simulated_end_at - row.simulated_at >= 99.9


def test_a_clock_set_faster_shortens_a_pause_under_way(tmp_path: Path) -> None:
    with serving({"/": page(delay_s=3600.0)}, tmp_path) as served, served.connect() as client:
        client.sendall(get("/", "Connection: close"))
        served.until_asked(1)
        served.clock.set(rate=1e6)
        assert read_all(client).endswith(b"hello</html>")


def test_targets_cannot_forge_lines_in_the_witness(tmp_path: Path) -> None:
    with serving({}, tmp_path) as served:
        served.ask(b"GET /a\\tb HTTP/1.1\r\nHost: evil\thost\r\nConnection: close\r\n\r\n")
    (row,) = witnessed(tmp_path)
    assert row.target == "/a\\\\tb"
    assert row.host == "evil\\thost"
