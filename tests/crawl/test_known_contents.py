"""Which contents a site has had (S0-14): exact, and small in memory."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from nephila.crawl.known_contents import SiteContents


def checksum(word: object) -> bytes:
    return hashlib.sha1(str(word).encode(), usedforsecurity=False).digest()[:16]


class Disk:
    """Contents that are on disk, and how often it was asked."""

    def __init__(self) -> None:
        self.rows: dict[bytes, int] = {}
        self.asked = 0

    def __call__(self, wanted: bytes) -> int | None:
        self.asked += 1
        return self.rows.get(wanted)


def test_the_first_page_with_a_content_is_told_for_all_others() -> None:
    contents = SiteContents()
    assert contents.first(checksum("a"), 1) == 1
    assert contents.first(checksum("b"), 2) == 2
    assert contents.first(checksum("a"), 3) == 1
    assert len(contents) == 2


def test_what_is_new_costs_no_look_at_the_disk_and_what_is_known_one() -> None:
    disk = Disk()
    disk.rows = {checksum(number): number for number in range(1, 100)}
    contents = SiteContents(disk.rows, disk)
    assert contents.first(checksum("new"), 1000) == 1000 and disk.asked == 0
    assert contents.first(checksum(7), 1001) == 7 and disk.asked == 1


def test_two_contents_that_begin_alike_are_two() -> None:
    disk = Disk()
    disk.rows = {b"12345678" + b"a" * 8: 1}
    contents = SiteContents(disk.rows, disk)
    assert contents.first(b"12345678" + b"b" * 8, 2) == 2
    assert contents.first(b"12345678" + b"b" * 8, 3) == 2
    assert contents.first(b"12345678" + b"a" * 8, 4) == 1


@given(st.lists(st.integers(0, 60), max_size=400), st.integers(0, 3))
def test_it_tells_what_a_dictionary_would_whatever_is_on_disk_by_then(words: list[int], behind: int) -> None:
    """Groups of five contents are written some groups late; nothing is forgotten before that."""
    import nephila.crawl.known_contents as room

    room._TURN_AT = 3  # type: ignore[misc]
    disk, filling = Disk(), 1
    contents, truth, groups = SiteContents((), disk), dict[bytes, int](), [dict[bytes, int]()]
    for page, word in enumerate(words, 1):
        first = contents.first(checksum(word), page)
        assert first == truth.setdefault(checksum(word), page)
        if first == page:
            groups[-1][checksum(word)] = page
        if page % 5 == 0:
            groups.append({})
            filling += 1
            if len(groups) > behind + 1:
                disk.rows |= groups[-behind - 2]
        contents.let_go(filling, max(0, filling - behind - 1))
    room._TURN_AT = 256  # type: ignore[misc]


def test_a_long_crawl_of_one_site_keeps_only_the_latest_contents_whole() -> None:
    disk = Disk()
    contents = SiteContents((), disk)
    for number in range(1, 20_000):
        contents.first(checksum(number), number)
        disk.rows[checksum(number)] = number
        contents.let_go(number + 1, number)
    assert len(contents._new) + len(contents._older) < 1_000
    assert contents.first(checksum(5), 99) == 5
