"""How text becomes words: the same words as in every other index of this project."""

from __future__ import annotations

import unicodedata

import pytest
import tantivy
from hypothesis import given
from hypothesis import strategies as st

from nephila.markup.words import index_words
from nephila.search.fields import words_of
from nephila.search.wording import folded, normal, wording

ANY = st.text(max_size=40)
# Python cuts words at combining marks and Rust does not, so the two are compared where there are none.
HAN_AND_HANGUL = st.one_of(st.characters(min_codepoint=low, max_codepoint=high) for low, high in (
    (0x3041, 0x3096), (0x30A1, 0x30FA), (0x4E00, 0x9FA5), (0xAC00, 0xD7A3), (0x20000, 0x2A6D6)))  # fmt: skip
MIXED = st.text(st.one_of(st.sampled_from("검색엔진漢字テスト々 ab1é-._ﾊ(%"), HAN_AND_HANGUL), max_size=40)
CUT_ONLY = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.lowercase()).build()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("검색엔진을", ["검색", "색엔", "엔진", "진을"]),
        ("책", ["책"]),
        ("LG전자 C언어", ["lg", "전자", "c", "언어"]),
        ("東京大学", ["東京", "京大", "大学"]),
        ("カタカナ ｶﾀｶﾅ", ["カタ", "タカ", "カナ", "カタ", "タカ", "カナ"]),
        ("Café Straße NAÏVE ﬁn", ["cafe", "strasse", "naive", "fin"]),
        ("don't stop_now 3.14", ["don", "t", "stop", "now", "3", "14"]),
        ("Ελληνικά Русский", ["ελληνικά", "русский"]),
    ],
)
def test_text_is_cut_into_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@given(MIXED)
def test_arrays_write_the_same_words_as_the_other_indexes_have(text: str) -> None:
    assert CUT_ONLY.analyze(wording(normal(text))) == index_words(text).split()


@given(ANY)
def test_folding_keeps_every_place(text: str) -> None:
    assert len(folded(text)) == len(text)


def test_folding_takes_case_and_accents_away() -> None:
    assert folded("ÉCOLE Ünïcode 검색 İ") == "ecole unicode 검색 i"
    assert folded(unicodedata.normalize("NFC", "É")) == "e"
