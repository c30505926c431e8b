"""Windows and marks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nephila.search.fields import words_of
from nephila.search.results import pieces
from nephila.search.snippets import marks_in, needles_of, snippet


def marked(text: str, *words: str) -> list[str]:
    marks = marks_in(text, needles_of([words_of(word) for word in words]))
    return [text[start:end] for start, end in marks]


def test_whole_words_are_marked_without_regard_to_case_and_accents() -> None:
    assert marked("Café au lait; CAFE, cafeteria", "café") == ["Café", "CAFE"]


def test_a_korean_word_is_marked_inside_a_longer_one() -> None:
    assert marked("인터넷 검색엔진을 검색", "검색") == ["검색", "검색"]
    assert marked("인터넷 검색엔진을 검색", "검색엔진") == ["검색엔진"]


def test_a_phrase_is_marked_with_what_stands_between() -> None:
    assert marked("The web-graph and the graph", "web graph") == ["web-graph"]


def test_a_window_shows_where_the_words_are_together() -> None:
    text = "alpha " + "x " * 500 + "alpha beta " + "y " * 500 + "beta"
    shown, marks = snippet([text], needles_of([["alpha"], ["beta"]]), 100)
    assert [shown[start:end] for start, end in marks] == ["alpha", "beta"]
    assert shown.startswith("… ") and shown.endswith(" …") and len(shown) < 110


def test_a_text_without_the_words_shows_its_beginning() -> None:
    assert snippet(["", "first words of a text"], needles_of([["absent"]]), 100) == ("first words of a text", ())


@given(st.text(max_size=300), st.lists(st.text(max_size=8), max_size=4), st.integers(20, 200))
def test_marks_lie_within_whatever_is_shown(text: str, words: list[str], size: int) -> None:
    shown, marks = snippet([text], needles_of([words_of(word) for word in words]), size)
    ends = [0]
    for start, end in marks:
        assert ends[-1] <= start < end <= len(shown)
        ends.append(end)
    assert "".join(piece for piece, _ in pieces(shown, marks)) == shown
    assert "\n" not in shown
