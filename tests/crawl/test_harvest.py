"""What one answer says: links, refreshes, and how much of it is looked at."""

from __future__ import annotations

import pytest

from nephila.crawl.fetcher import Fetched
from nephila.crawl.harvest import SCANNED_BYTES, Harvest, harvest, is_html
from nephila.records import LinkKind, Outcome
from nephila.urls import NO_RULES


def of(body: bytes, *headers: tuple[str, str]) -> Harvest:
    fetched = Fetched(
        Outcome.OK, "", 0.0, "127.0.0.1", status=200, headers=(("content-type", "text/html"), *headers),
        raw_header=b"HTTP/1.1 200 OK\r\n\r\n", content=body, payload=body,
    )  # fmt: skip
    return harvest("http://a.test/b", fetched, NO_RULES, "nephila", 5000)


def test_links_far_behind_in_a_huge_page_are_not_waited_for() -> None:
    found = of(b'<a href="/near">n</a>' + b"<p>text" * (SCANNED_BYTES // 7) + b'<a href="/far">f</a>')
    assert [link.url for link in found.links] == ["http://a.test/near"]


@pytest.mark.parametrize(
    ("value", "target", "link"),
    [
        ("0; url=/c", "http://a.test/c", "http://a.test/c"),
        ("5;URL='/c'", "http://a.test/c", "http://a.test/c"),
        ("1000000000; url=/c", "", "http://a.test/c"),
        ("soon", "", None),
        ("0; url=javascript:alert(1)", "", None),
    ],
)
def test_a_refresh_header_is_a_redirect_or_a_link(value: str, target: str, link: str | None) -> None:  # B10, N17
    found = of(b"<p>page", ("refresh", value))
    assert found.refresh_to == target
    assert [(each.url, each.kind) for each in found.links] == ([(link, LinkKind.H)] if link else [])


def test_the_page_itself_is_heard_before_its_header() -> None:
    found = of(b'<meta http-equiv="refresh" content="0; url=/meta">', ("refresh", "0; url=/header"))
    assert found.refresh_to == "http://a.test/meta"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<html><title>a\0b</title><a href=/x>", True),  # G7: a NUL that strayed
        (b"<html><body>" + b"\0\0\0\0" * 100, False),
        (b"PK\x03\x04" + bytes(30) + b"<a href=/x>", False),  # G9
        (b"\x89PNG\r\n\x1a\n" + bytes(20), False),
        ("<html>".encode("utf-16"), True),
    ],
)
def test_a_few_nuls_do_not_make_a_page_a_picture(body: bytes, expected: bool) -> None:
    assert is_html("text/html", body) is expected
