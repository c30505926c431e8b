"""Whatever a template is given, markup stays text and characters that act are written out."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.inert import inert
from nephila.serve.pages import link
from nephila.serve.parameters import Parameter, WrongParameter, read_query
from nephila.serve.remembering import Remembered
from nephila.serve.rendering import duration, make_environment, moment, number, size

TEMPLATE = make_environment().from_string(
    '<p title="{{ text }}">{{ text }}</p>{% for each in [text] %}{{ each }}{% endfor %}'
)


@given(st.text())
def test_no_text_leaves_its_place(text: str) -> None:
    shown = TEMPLATE.render(text=text)
    assert shown.count("<") == 2 and shown.count(">") == 2 and shown.count('"') == 2
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f]", shown)


def test_what_acts_is_written_out_and_what_is_a_letter_stays() -> None:
    assert inert("a\u202eb\x1b[2J\u2066c") == "a⟨202e⟩b⟨001b⟩[2J⟨2066⟩c"
    assert inert("한국어 العربية می\u200cخواهم 👩\u200d🔬\n\t") == "한국어 العربية می\u200cخواهم 👩\u200d🔬\n\t"


@given(st.text(), st.text())
def test_a_link_is_made_of_harmless_characters(name: str, value: str) -> None:
    assert re.fullmatch(r"/why(\?[A-Za-z0-9%&=+._~*-]*)?", link("/why", url=value, x=name))


@pytest.mark.parametrize(
    ("shown", "expected"),
    [(number(1234567), "1,234,567"), (number(1.25), "1.2"), (number(99.0), "99"), (size(0), "0 bytes"),
     (size(1500), "1.5 KB"), (size(2.5e15), "2500.0 TB"), (duration(5.25), "5.2 s"), (duration(3600), "1 h 00 min"),
     (duration(200_000), "2 d 7 h"), (moment(None), "–"), (moment(1e30), "–"), (moment(86_400), "1970-01-02 00:00:00")],
)  # fmt: skip
def test_figures_are_shown_as_people_say_them(shown: str, expected: str) -> None:
    assert shown == expected


PARAMETERS = (
    Parameter("url", "a URL", required=True), Parameter("page", "a page", "number"),
    Parameter("order", "an order", "choice", choices=("largest", "name")), Parameter("all", "all", "switch"),
)  # fmt: skip


@given(st.binary(max_size=200))
def test_any_query_is_read_or_refused_in_a_sentence(query: bytes) -> None:
    try:
        given_ = read_query(query, PARAMETERS)
    except WrongParameter as wrong:
        assert str(wrong).endswith(".")
    else:
        assert 1 <= given_.number("page") <= 10_000 and given_.text("order") in ("largest", "name")


def test_defaults_stand_where_nothing_is_said() -> None:
    given_ = read_query(b"url=http%3A%2F%2Fa.test%2F", PARAMETERS)
    assert given_.text("url") == "http://a.test/"
    assert (given_.number("page"), given_.text("order"), given_.switch("all")) == (1, "largest", False)


def test_what_was_costly_to_count_holds_longer() -> None:
    # given a figure that takes two seconds to count
    clock, counted = [0.0], []

    def count() -> int:
        counted.append(clock[0])
        clock[0] += 2.0
        return len(counted)

    remembered = Remembered(count, 1.0, now=lambda: clock[0])
    assert remembered() == 1
    # then it is remembered for forty, and counted anew after that
    clock[0] = 41.0
    assert remembered() == 1
    clock[0] = 42.5
    assert remembered() == 2
