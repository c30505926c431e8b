"""The compiled simhash and its twin in numpy are one function."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.convert.simhash import MOST_CHARACTERS, plain_simhash

try:
    from nephila.convert import _simhash
except ImportError:  # no C compiler where this was installed
    _simhash = None

twins = pytest.mark.skipif(_simhash is None, reason="the compiled simhash was not built here")
_CHARACTERS = st.sampled_from("ab \xa0\x01\n\ud800\udfff가나\U0001f600")


@twins
@given(st.one_of(st.text(_CHARACTERS, max_size=80), st.text(max_size=200)), st.integers(1, 40))
def test_the_compiled_simhash_and_its_twin_agree(text: str, times: int) -> None:
    # given a text of any characters, also ones that are no text, said again and again
    said = (text * times)[:MOST_CHARACTERS].lower()
    # then both say the same
    assert _simhash.simhash(said) == plain_simhash(said)


@twins
def test_a_long_text_of_distinct_passages_has_room_in_the_table_of_the_compiled_simhash() -> None:
    said = " ".join(f"{number:x}" for number in range(40_000))
    assert _simhash.simhash(said) == plain_simhash(said)


@twins
def test_the_compiled_simhash_refuses_what_is_no_text() -> None:
    with pytest.raises(TypeError, match="takes a str"):
        _simhash.simhash(b"bytes")
