"""Concurrency and gaps, on rows made by hand, on random rows against a plain count, and on real concurrent requests."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from scripted import ADDRESS, get, page, read_all, serving

from nephila.lab import witness
from nephila.lab.request_log import REQUEST_COLUMNS, LineLog, requests_path
from nephila.lab.witness import Request, Requests

SECOND = 10**9


def row(
    start_s: float, end_s: float, host: str = "a.example", address: str = "127.1.0.1", rate: float = 1.0
) -> Request:
    return Request(
        started_ns=round(start_s * SECOND),
        ended_ns=round(end_s * SECOND),
        started_at=start_s,
        ended_at=end_s,
        simulated_at=start_s * rate,
        simulated_end_at=end_s * rate,
        address=address,
        host=host,
        port=8480,
        method="GET",
        target="/",
        status=200,
        manner="whole",
        connection=0,
    )


def test_no_requests_have_no_overlaps_and_no_gaps(tmp_path: Path) -> None:
    nothing = witness.read(tmp_path)
    assert len(nothing) == 0
    for per in ("site", "address"):
        assert witness.overlaps(nothing, per) == {}
        assert witness.gaps(nothing, per) == {}
    assert len(witness.read_queries(tmp_path)) == 0


def test_two_sites_on_one_address_overlap_by_address_alone() -> None:
    requests = Requests.of([row(0, 2, "a.example"), row(1, 3, "b.example"), row(2.5, 4, "a.example")])
    assert witness.overlaps(requests, "site") == {"a.example:8480": 1, "b.example:8480": 1}
    assert witness.overlaps(requests, "address") == {"127.1.0.1": 2}
    assert witness.gaps(requests, "site") == pytest.approx({"a.example:8480": 0.5})
    assert witness.gaps(requests, "address") == pytest.approx({"127.1.0.1": -1.0})


def test_one_after_another_at_the_same_instant_is_no_overlap() -> None:
    requests = Requests.of([row(0, 1), row(1, 2)])
    assert witness.overlaps(requests) == {"127.1.0.1": 1}
    assert witness.gaps(requests) == {"127.1.0.1": 0.0}


def test_a_request_of_no_duration_counts_as_one() -> None:
    assert witness.overlaps(Requests.of([row(1, 1)])) == {"127.1.0.1": 1}


def test_a_gap_is_counted_from_the_latest_end_not_from_the_latest_request() -> None:
    # Given a long answer, and a short one within it
    requests = Requests.of([row(0, 10), row(1, 2), row(12, 13)])
    found = witness.waits(requests)
    # then the third request waited 2 s after the first
    assert found.request.tolist() == [1, 2]
    assert found.previous.tolist() == [0, 0]
    assert found.gap_s.tolist() == pytest.approx([-9.0, 2.0])


def test_gaps_in_simulated_seconds() -> None:
    requests = Requests.of([row(0, 1, rate=60.0), row(3, 4, rate=60.0)])
    assert witness.gaps(requests, time="simulated") == pytest.approx({"127.1.0.1": 120.0})
    assert witness.gaps(requests, time="real") == pytest.approx({"127.1.0.1": 2.0})


ROWS = st.lists(
    st.builds(
        lambda start, length, host: row(start, start + length, f"h{host}.example", f"127.1.0.{host % 3}"),
        st.integers(0, 40),
        st.integers(0, 10),
        st.integers(0, 5),
    ),
    max_size=40,
)


@given(ROWS)
def test_overlaps_and_gaps_agree_with_a_plain_count(rows: list[Request]) -> None:
    requests = Requests.of(rows)
    most = witness.overlaps(requests)
    smallest = witness.gaps(requests)
    for address in {one.address for one in rows}:
        own = sorted((one for one in rows if one.address == address), key=lambda one: one.started_ns)
        lasting = [one for one in own if one.ended_ns > one.started_ns]
        at_once = max((sum(a.started_ns <= b.started_ns < a.ended_ns for a in lasting) for b in lasting), default=1)
        assert most[address] >= at_once
        if len(lasting) == len(own):
            assert most[address] == at_once
        ends = [max(one.ended_ns for one in own[:index]) for index in range(1, len(own))]
        plain = [(one.started_ns - end) / SECOND for one, end in zip(own[1:], ends, strict=True)]
        if plain:
            assert smallest[address] == pytest.approx(min(plain))
        else:
            assert address not in smallest


def test_rows_and_columns_are_the_same(tmp_path: Path) -> None:
    rows = [row(1, 2), row(2, 3, "b.example", "127.1.0.2")]
    assert list(Requests.of(rows).rows()) == rows
    only = Requests.of(rows).where(np.array([False, True]))
    assert list(only.rows()) == rows[1:]


def test_files_of_several_processes_are_read_as_one_sorted_by_arrival(tmp_path: Path) -> None:
    rows = [row(float(second), second + 0.5, f"h{second % 7}.example") for second in range(100)]
    for process in range(3):
        log = LineLog(requests_path(tmp_path, process), REQUEST_COLUMNS)
        for one in rows[process::3]:
            log.add("\t".join(str(getattr(one, name)) for name in REQUEST_COLUMNS) + "\n")
        log.close()
    assert list(witness.read(tmp_path).rows()) == rows


def test_half_a_line_of_a_killed_process_is_left_out(tmp_path: Path) -> None:
    log = LineLog(requests_path(tmp_path, 0), REQUEST_COLUMNS)
    log.add("\t".join(str(getattr(row(1, 2), name)) for name in REQUEST_COLUMNS) + "\n")
    log.add("17\t18\t1")
    log.close()
    assert list(witness.read(tmp_path).rows()) == [row(1, 2)]


def test_a_log_is_gone_on_with(tmp_path: Path) -> None:
    for second in (1, 2):
        log = LineLog(requests_path(tmp_path, 0), REQUEST_COLUMNS)
        log.add("\t".join(str(getattr(row(second, second), name)) for name in REQUEST_COLUMNS) + "\n")
        log.close()
    assert len(witness.read(tmp_path)) == 2


def test_real_requests_at_once_are_seen_as_such(tmp_path: Path) -> None:
    # Given a page that nobody gets before five have asked for it
    with serving({"/": page(), "/slow": page(delay_s=0.3)}, tmp_path) as served:
        clients = [served.connect() for _ in range(5)]
        for client in clients:
            client.sendall(get("/slow", "Connection: close"))
        served.until_asked(5)
        for client in clients:
            assert read_all(client)
            client.close()
        served.get("/", address="127.5.6.8")
        served.get("/", address="127.5.6.8")
    # then the witness has seen five at once at one address and one after another at the other
    requests = witness.read(tmp_path)
    assert witness.overlaps(requests) == {ADDRESS: 5, "127.5.6.8": 1}
    assert witness.gaps(requests)[ADDRESS] < 0 < witness.gaps(requests)["127.5.6.8"]
