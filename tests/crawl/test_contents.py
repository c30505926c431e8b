"""What is done with a type, and what a name tells of it."""

from __future__ import annotations

import pytest

from nephila.config.sections import Content
from nephila.crawl.contents import group_of, handling_of, handling_of_path

SKIP = Content(pdf="skip", text="archive", images="skip", other="skip")


@pytest.mark.parametrize(
    ("mime", "group"),
    [("text/html", ""), ("", ""), ("application/xhtml+xml", ""), ("application/pdf", "pdf"), ("text/plain", "text"),
     ("application/rss+xml", "feeds"), ("image/png", "images"), ("video/mp4", "media"), ("audio/ogg", "media"),
     ("application/zip", "other"), ("text/css", "other")],
)  # fmt: skip
def test_types_belong_to_groups(mime: str, group: str) -> None:
    assert group_of(mime) == group


@pytest.mark.parametrize(
    ("path", "handling"),
    [("/a.PDF?x=1", "skip"), ("/a.txt", "archive"), ("/a.html", "fetch"), ("/a.php?f=b.pdf", "fetch"), ("/", "fetch"),
     ("/a.b/c", "fetch"), ("/sitemap.xml.gz", "fetch"), ("/x.gz", "skip"), ("/pic.jpeg", "skip"), ("/v.mp4", "fetch")],
)  # fmt: skip
def test_a_name_tells_only_what_is_certain(path: str, handling: str) -> None:
    assert handling_of_path(path, SKIP) == handling


def test_pages_are_always_fetched_and_xml_that_may_be_a_sitemap_too() -> None:
    assert handling_of("text/html", SKIP) == handling_of("", SKIP) == handling_of("text/xml", SKIP) == "fetch"
    assert handling_of("application/zip", SKIP) == "skip"
