"""Near-duplicates: the hash of near texts is near, and clusters are what hangs together within k bits."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nephila.convert.clusters import clusters
from nephila.convert.simhash import simhash


def by_brute_force(hashes: list[int], distance: int) -> list[int]:
    cluster = list(range(len(hashes)))
    for a in range(len(hashes)):
        for b in range(a):
            if ((hashes[a] ^ hashes[b]) & (2**64 - 1)).bit_count() <= distance:
                old, new = sorted((cluster[a], cluster[b]), reverse=True)
                cluster = [new if label == old else label for label in cluster]
    return [min(other for other, label in enumerate(cluster) if label == mine) for mine in cluster]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sets(st.integers(0, 63), max_size=4)), min_size=1, max_size=30),
    st.integers(0, 5),
)
def test_clusters_are_those_of_comparing_everything(drawn: list[tuple[int, set[int]]], distance: int) -> None:
    # given hashes that lie a few bits beside one of four
    centres = [random.Random(number).getrandbits(64) for number in range(4)]
    hashes = [centres[centre] ^ sum(1 << bit for bit in bits) for centre, bits in drawn]
    signed = np.array(hashes, np.uint64).view(np.int64)
    # then banding finds the same clusters as comparing each with each
    assert clusters(np.arange(len(hashes)), signed, distance).tolist() == by_brute_force(hashes, distance)


def words(count: int, seed: int) -> list[str]:
    choice = random.Random(seed)
    stems = ["서울", "대학교", "검색", "the", "web", "spider", "文書", "golden"]
    return [choice.choice(stems) + str(choice.randrange(500)) for _ in range(count)]


def bits_between(a: int | None, b: int | None) -> int:
    assert a is not None and b is not None
    return ((a ^ b) & (2**64 - 1)).bit_count()


def test_a_changed_word_moves_few_bits_and_another_text_moves_half() -> None:
    text = words(800, 1)
    changed = [*text[:400], "changed", *text[401:]]
    assert bits_between(simhash(" ".join(text)), simhash(" ".join(changed))) <= 3
    assert 15 < bits_between(simhash(" ".join(text)), simhash(" ".join(words(800, 2)))) < 50


def test_blanks_and_case_do_not_matter_and_short_texts_have_none() -> None:
    text = " ".join(words(50, 3))
    assert simhash(text) == simhash(text.upper().replace(" ", "\n  "))
    assert simhash("too short") is None


def test_the_hash_is_pinned() -> None:
    """Hashes are kept in tables: another function would make old and new ones incomparable."""
    assert simhash("The golden orb-weaver spins the largest webs of all.") == -4465906935113136852
