"""A cap on bytes per second, by the numbers and on real sockets."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from nephila.crawl.fetcher import Connection, FetchRequest, Site
from nephila.crawl.throttle import BURST_S, Throttle, share_of
from nephila.records import Outcome

sys.path.insert(0, str(Path(__file__).parent))

from raw_web import answer, serving, shared


@given(st.lists(st.tuples(st.integers(1, 5000), st.floats(0, 0.3)), min_size=1, max_size=40))
def test_whoever_waits_as_told_never_receives_more_than_the_rate_and_a_burst(steps: list[tuple[int, float]]) -> None:
    throttle, now, received = Throttle(1000), 100.0, 0
    for count, pause_s in steps:
        now += pause_s + throttle.wait_s(now + pause_s)
        assert received <= 1000 * (now - 100.0 + BURST_S) + 1e-6
        throttle.took(count, now)
        received += count


def test_the_crawls_cap_is_divided_among_agents_and_the_smaller_cap_holds() -> None:
    assert [share_of(None, None, 2), share_of(1000, None, 4), share_of(1000, 100, 4), share_of(None, 7, 4)] == [
        None, 250, 100, 7,
    ]  # fmt: skip
    assert share_of(1, None, 4) == 1


async def test_a_body_comes_no_faster_than_the_cap_and_our_waiting_is_not_the_servers_time() -> None:
    async with serving(answer(b"x" * 60_000)) as web:
        capped = replace(shared(), throttle=Throttle(100_000))
        asked = Connection(Site("http", "site.test", web.port), "127.0.0.1", capped)
        started = time.monotonic()
        fetched = [await asked.fetch(FetchRequest("/")) for _ in range(2)]
        elapsed_s = time.monotonic() - started
        await asked.aclose()
    assert [each.outcome for each in fetched] == [Outcome.OK, Outcome.OK]
    # 120 KB at 100 KB/s; the last 60 KB are paid for after the answer
    assert elapsed_s >= 0.5
    assert all(each.total_ms < 1000 * elapsed_s * 0.8 for each in fetched)
