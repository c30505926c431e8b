"""Draws are the same for ever, and the scalar and the vector forms are one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nephila.lab
from nephila.lab import mixing
from nephila.lab.draw import (
    Quantiles,
    Stream,
    Table,
    draw,
    draws,
    geometric,
    geometric_table,
    key_of,
    permuted,
    site_key,
    web_key,
)
from nephila.lab.mixing import mix

try:
    from nephila.lab import _mixing
except ImportError:
    _mixing = None

_WORDS = st.integers(min_value=0, max_value=2**64 - 1)
_ANY = st.integers(-(2**80), 2**80)  # more than ever comes: both twins take everything modulo 2^64
twins = pytest.mark.skipif(_mixing is None, reason="the compiled hash was not built here")


@twins
@given(_ANY, _ANY, st.lists(_ANY, max_size=6))
def test_the_compiled_hash_and_its_twin_agree(key: int, number: int, parts: list[int]) -> None:
    assert _mixing.draw(key, number) == mixing.draw(key, number)
    assert _mixing.key_of(*parts) == mixing.key_of(*parts)
    for stream in Stream:
        assert _mixing.site_key(key, number, stream) == mixing.site_key(key, number, stream)


@twins
def test_the_compiled_hash_refuses_what_its_twin_refuses() -> None:
    for hash_ in (_mixing, mixing):
        for wrong in ((1,), (1, 2, 3), (1, None), (1.5, 2)):
            with pytest.raises(TypeError):
                hash_.draw(*wrong)
        for wrong in ((1, 2), (1, 2, 3, 4), (1, 2, "3")):
            with pytest.raises(TypeError):
                hash_.site_key(*wrong)


@twins
def test_the_plain_hash_can_be_forced_and_makes_the_same_web() -> None:
    # given the first pages of a small web, written by a process that was told to do without the compiled hash
    asked = (
        "import hashlib; from nephila.lab.web import Web; from nephila.config.sections import Lab; "
        "from nephila.lab import draw; web = Web(Lab(sites=9)); "
        "bodies = [web.answer(card.host, 8480, '/', card.address, 0.0).body for card in map(web.card, range(9))]; "
        "print(draw.COMPILED, hashlib.sha256(b''.join(bodies)).hexdigest())"
    )
    source = str(Path(nephila.lab.__file__).parents[2])
    told = [
        subprocess.run(
            [sys.executable, "-c", asked], env={"PYTHONPATH": source} | pure, capture_output=True, check=True, text=True
        ).stdout.split()
        for pure in ({"NEPHILA_PURE": "1"}, {})
    ]
    # then they are the same pages
    assert told[0][0] == "False" and told[1][0] == "True"
    assert told[0][1] == told[1][1]


def test_the_finaliser_is_that_of_splitmix64() -> None:
    # given the published first outputs of splitmix64 for the state 0
    golden = 0x9E3779B97F4A7C15
    # then mix of the state's steps gives them
    assert [mix(golden * step % 2**64) for step in (1, 2, 3)] == [
        0xE220A8397B1DCDAF,
        0x6E789E6AA1B965F4,
        0x06C45D188009454F,
    ]


@given(_WORDS, st.integers(0, 2**40), st.integers(1, 50))
def test_draws_are_draw_many_times(key: int, first: int, count: int) -> None:
    assert draws(key, first, count).tolist() == [draw(key, number) for number in range(first, first + count)]


def test_draws_of_a_large_site_go_on_where_the_prepared_steps_end() -> None:
    for first, count in ((16_380, 4), (16_380, 5), (16_383, 3), (16_384, 2), (0, 20_000)):
        assert draws(5, first, count)[-3:].tolist() == [
            draw(5, number) for number in range(max(first, first + count - 3), first + count)
        ]


@given(st.integers(0, 2**63), st.integers(0, 10**7), st.sampled_from(list(Stream)))
def test_keys_that_are_kept_are_the_keys(seed: int, site: int, stream: Stream) -> None:
    assert site_key(seed, site, stream) == key_of(seed, site, stream)
    assert web_key(seed, stream, 1) == key_of(seed, stream, 1)


@given(_WORDS, st.integers(-5, 2**40))
def test_a_draw_is_mix_of_its_place(key: int, number: int) -> None:
    assert draw(key, number) == mix((key + number * 0x9E3779B97F4A7C15) % 2**64)


@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=30), _WORDS)
def test_a_table_picks_the_same_one_by_one_and_all_at_once(weights: list[float], key: int) -> None:
    table = Table(weights)
    words = draws(key, 0, 40)
    assert table.picks(words).tolist() == [table.pick(int(word)) for word in words]


def test_a_table_gives_each_value_its_share() -> None:
    picks = Table([1, 2, 5]).picks(draws(key_of(7), 0, 200_000))
    assert np.allclose(np.bincount(picks) / 200_000, [0.125, 0.25, 0.625], atol=0.004)


def test_geometric_numbers_have_their_mean_in_both_forms() -> None:
    words = draws(key_of(8), 0, 100_000)
    assert abs(geometric_table(3.9).picks(words).mean() - 3.9) < 0.06
    assert abs(np.mean([geometric(int(word), 3.9) for word in words]) - 3.9) < 0.06
    assert geometric(int(words[0]), 0.0) == 0


def test_quantiles_stay_between_their_ends_and_follow_the_inverse() -> None:
    values = Quantiles(lambda part: part * 1000, 64).picks(draws(key_of(9), 0, 50_000))
    assert values.min() >= 0 and values.max() <= 1000
    assert abs(values.mean() - 500) < 5


@given(_WORDS)
def test_quantiles_pick_the_same_one_by_one_and_all_at_once(key: int) -> None:
    curve = Quantiles(lambda part: part**3 * 1e6 - 5, 64)
    words = draws(key, 0, 40)
    assert curve.picks(words).tolist() == [curve.pick(int(word)) for word in words]


def test_keys_of_different_parts_differ() -> None:
    keys = {key_of(seed, site, stream) for seed in range(20) for site in range(20) for stream in range(20)}
    assert len(keys) == 8000


@given(_WORDS, st.integers(1, 600))
def test_a_shuffled_order_holds_every_number_once(key: int, size: int) -> None:
    assert sorted(permuted(key, number, size) for number in range(size)) == list(range(size))


def test_a_shuffled_order_has_no_stride() -> None:
    places = [permuted(key_of(5), number, 1000) for number in range(1000)]
    steps = np.bincount(np.diff(places) % 1000, minlength=1000)
    assert steps.max() < 10
