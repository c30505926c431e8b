"""Seen tests are exact: nothing new is taken for known, nothing known for new (S1-14, S1-25)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nephila.crawl.filtered import FilteredDisk
from nephila.crawl.seen import PackedHashes

HASHES = st.integers(min_value=-(2**63), max_value=2**63 - 1)
FEW = st.integers(min_value=-3, max_value=3).map(lambda small: small << 32)  # so that some are equal


@given(st.lists(HASHES | FEW), st.lists(HASHES | FEW))
def test_packed_hashes_are_a_set(before: list[int], after: list[int]) -> None:
    known = set(before)
    seen = PackedHashes(known)
    for url_hash in after:
        assert seen.add(url_hash) is (url_hash not in known)
        known.add(url_hash)
        assert len(seen) == len(known)


def test_packed_hashes_stay_a_set_when_the_newest_are_merged() -> None:
    seen = PackedHashes()
    for url_hash in range(5000):
        assert seen.add(url_hash * 7919 - 9_000_000)
    assert not any(seen.add(url_hash * 7919 - 9_000_000) for url_hash in range(5000))
    assert len(seen) == 5000


@given(st.lists(HASHES | FEW), st.lists(st.tuples(HASHES | FEW, st.booleans())))
def test_a_filter_in_front_of_the_disk_is_a_set_too(before: list[int], after: list[tuple[int, bool]]) -> None:
    """Whatever was saved in between, and however wrong the filter is."""
    disk = set(before)
    known = set(before)
    seen = FilteredDisk(set(before), 0, disk.__contains__)
    for url_hash, saves in after:
        assert seen.add(url_hash) is (url_hash not in known)
        known.add(url_hash)
        if saves:
            unsaved = seen.unsaved()
            disk |= unsaved
            seen.saved(unsaved)
            assert not seen.unsaved()
    assert len(seen) == len(known)


def test_a_false_positive_of_the_filter_loses_no_url() -> None:
    # given a filter so full that it takes nearly everything for known
    asked: list[int] = []

    def on_disk(url_hash: int) -> bool:
        asked.append(url_hash)
        return url_hash < 20_000

    seen = FilteredDisk(range(20_000), 1, on_disk)
    # when URLs come that were never seen
    new = [(1 << 40) + place for place in range(3000)]
    # then each is new, although the disk was asked for many of them in vain
    assert all(seen.add(url_hash) for url_hash in new)
    assert len(asked) > 1000
    assert not any(seen.add(url_hash) for url_hash in new)


def test_a_filter_of_sound_size_seldom_asks_the_disk_in_vain() -> None:
    import random

    draw = random.Random(1)
    hashes = [draw.getrandbits(64) - 2**63 for _ in range(20_000)]
    asked: list[int] = []
    seen = FilteredDisk(hashes, 2 * len(hashes), lambda url_hash: bool(asked.append(url_hash)))
    for _ in range(5000):
        seen.add(draw.getrandbits(64) - 2**63)
    assert len(asked) < 20  # 1 in 1,400 by the sizes that were chosen, when it is full
