"""Charts as geometry: everything drawn lies inside, and bigger figures are drawn bigger."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nephila.records import Outcome
from nephila.serve.charts import HEIGHT, KINDS, falling, kind_of, log_log, nice_top, over_time, share
from nephila.shown import RankBin, Span, Timeline

outcomes = st.dictionaries(st.sampled_from([each.value for each in Outcome]), st.integers(0, 10**9), max_size=6)
timelines = st.builds(
    lambda width, rows: Timeline(float(width), tuple(Span(place * width + 1e9, row) for place, row in enumerate(rows))),
    st.sampled_from([1, 2, 64, 4096]), st.lists(outcomes, max_size=130),
)  # fmt: skip


@given(timelines, st.booleans())
def test_every_bar_lies_inside_and_bars_of_a_span_do_not_overlap(timeline: Timeline, running: bool) -> None:
    chart = over_time(timeline, running=running)
    if chart is None:
        assert not timeline.spans
        return
    floors: dict[float, float] = {}
    for bar in chart.bars:
        assert bar.x >= 0 and bar.x + bar.width <= 100.05
        assert bar.y >= -0.01 and bar.y + bar.height <= floors.get(bar.x, HEIGHT) + 0.02
        assert bar.kind in KINDS
        floors[bar.x] = bar.y
    assert all(0 <= tick.place <= 100 for tick in chart.across)


def test_the_span_that_is_still_filling_is_not_drawn() -> None:
    timeline = Timeline(1.0, (Span(10.0, {"ok": 100}), Span(11.0, {"ok": 3})))
    running, ended = over_time(timeline, running=True), over_time(timeline, running=False)
    assert running is not None and len(running.bars) == 1
    assert ended is not None and len(ended.bars) == 2


def test_a_bar_is_as_high_as_its_share_of_the_scale() -> None:
    chart = over_time(Timeline(2.0, (Span(0.0, {"ok": 100, "http_error": 20, "reset": 4}),)), running=False)
    assert chart is not None
    heights = {bar.kind: bar.height for bar in chart.bars}
    assert heights["fetched"] == 5 * heights["answered"] == 25 * heights["failed"]
    assert [tick.label for tick in chart.down] == ["0", "40", "80"]  # 62 per second at most


@given(st.floats(1e-6, 1e12))
def test_a_scale_ends_at_a_round_number_that_is_not_far_above(value: float) -> None:
    top = nice_top(value)
    assert value * 0.99 <= top <= 1.6 * value
    assert len(f"{top:.3g}".split("e")[0].replace(".", "").strip("0")) <= 2


@given(
    st.lists(st.tuples(st.integers(-30, 40), st.integers(1, 10**9)), min_size=1, max_size=60, unique_by=lambda b: b[0])
)
def test_dots_of_ranks_lie_inside_and_more_pages_lie_higher(rows: list[tuple[int, int]]) -> None:
    bins = [RankBin(power, pages) for power, pages in sorted(rows)]
    chart = log_log(bins)
    assert chart is not None and len(chart.dots) == len(bins)
    assert all(0 <= dot.x <= 100 and 0 <= dot.y <= HEIGHT for dot in chart.dots)
    for one, other in zip(
        zip(bins, chart.dots, strict=True), list(zip(bins, chart.dots, strict=True))[1:], strict=False
    ):
        assert one[1].x < other[1].x
        if one[0].pages > 1.1 * other[0].pages:
            assert one[1].y < other[1].y


@given(st.lists(st.floats(0, 2), max_size=200))
def test_residuals_are_drawn_where_there_are_some(residuals: list[float]) -> None:
    chart = falling(residuals)
    positive = [value for value in residuals if value > 0]
    assert (chart is None) == (len(positive) < 2)
    if chart is not None:
        assert len(chart.dots) == len(positive)
        assert all(0 <= dot.x <= 100 and -0.01 <= dot.y <= HEIGHT + 0.01 for dot in chart.dots)


def test_a_bar_of_something_is_never_invisible() -> None:
    assert share(0, 100) == 0.0
    assert share(1, 10**9) > 0.5
    assert share(100, 100) == 100.0


def test_every_outcome_has_a_kind() -> None:
    assert {kind_of(outcome.value) for outcome in Outcome} == set(KINDS)
