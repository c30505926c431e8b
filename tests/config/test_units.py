import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.config.units import parse_duration, parse_size, show_duration, show_size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("1h 30m", 5400),
        ("1h30m", 5400),
        ("250ms", 0.25),
        ("2d", 172_800),
        ("1w", 604_800),
        ("1.5 min", 90),
    ],
)
def test_a_duration_is_read_with_its_unit(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(("text", "size"), [("2MiB", 2**21), ("500KB", 500_000), ("10", 10), ("1.5 GiB", 3 * 2**29)])
def test_a_size_is_read_with_its_unit(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "fast", "30 parsecs", "s", "-3s", "30s!", "1e9s"])
def test_a_duration_that_is_none_is_refused_with_the_form_expected(text: str) -> None:
    with pytest.raises(ValueError, match='a duration such as "30s"'):
        parse_duration(text)


@pytest.mark.parametrize("text", ["", "big", "2MiB 3KiB", "-1", "12 miles"])
def test_a_size_that_is_none_is_refused_with_the_form_expected(text: str) -> None:
    with pytest.raises(ValueError, match='a size such as "2MiB"'):
        parse_size(text)


@given(st.integers(min_value=0, max_value=10**13))
def test_a_duration_is_shown_as_it_is_read(milliseconds: int) -> None:
    assert parse_duration(show_duration(milliseconds / 1000)) == pytest.approx(milliseconds / 1000, rel=1e-12)


@given(st.integers(min_value=0, max_value=2**60))
def test_a_size_is_shown_as_it_is_read(size: int) -> None:
    assert parse_size(show_size(size)) == pytest.approx(size, rel=1e-12)
