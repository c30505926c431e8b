"""Outcomes over time: spans widen, and nothing is lost or counted twice."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from nephila.crawl.timeline import MOST_SPANS, Spans

visits = st.lists(
    st.tuples(st.floats(1e9, 1e9 + 1e6), st.sampled_from(["ok", "http_error", "reset"]), st.integers(1, 50)),
    max_size=80,
)


@given(visits)
def test_every_request_is_in_exactly_one_span(rows: list[tuple[float, str, int]]) -> None:
    spans = Spans()
    for at, outcome, count in rows:
        spans.add(at, outcome, count)
    timeline = spans.timeline()
    total: Counter[str] = Counter()
    for at, outcome, count in rows:
        total[outcome] += count
        [holding] = [span for span in timeline.spans if span.at <= at < span.at + timeline.width_s]
        assert holding.outcomes[outcome] >= count
    assert sum((Counter(span.outcomes) for span in timeline.spans), Counter()) == total
    assert len(timeline.spans) <= MOST_SPANS


@given(visits)
def test_spans_have_no_gaps(rows: list[tuple[float, str, int]]) -> None:
    spans = Spans()
    for row in rows:
        spans.add(*row)
    timeline = spans.timeline()
    starts = [span.at for span in timeline.spans]
    assert starts == [starts[0] + place * timeline.width_s for place in range(len(starts))] if starts else not rows


def test_a_minute_is_shown_second_by_second_and_a_day_by_quarters_of_an_hour() -> None:
    spans = Spans()
    for second in range(60):
        spans.add(1e9 + second, "ok", 1)
    assert spans.timeline().width_s == 1
    for minute in range(1440):
        spans.add(1e9 + 60 * minute, "ok", 1)
    assert spans.timeline().width_s == 1024
