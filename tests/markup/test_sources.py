"""Sitemaps and feeds: what real ones list, and what hostile ones cannot do."""

from __future__ import annotations

import gzip
import tarfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.markup.sources import Entry, SourceKind, looks_like_source, read_source

# File, kind, number of entries, and the first of them: crawler-commons' own fixtures.
FIXTURES = [
    ("rss/feed.rss", "feed", 4, "https://www.example.com/blog/post/1"),
    ("rss/xmlRss_pubDate.xml", "feed", 7, "http://www.example.com/article_1"),
    ("sitemaps/atom.xml", "feed", 1, "http://example.org/2003/12/13/atom03"),
    ("sitemaps/extension/hebdenbridgetimes-articles-sitemap.xml", "sitemap", 152, None),
    (
        "sitemaps/extension/sitemap-images.xml",
        "sitemap",
        3,
        "http://www.example.com/images/some_image_landing_page.html",
    ),
    ("sitemaps/extension/sitemap-links.xml", "sitemap", 3, "http://www.example.com/english/"),
    ("sitemaps/extension/sitemap-news.xml", "sitemap", 2, "http://www.example.org/business/article55.html"),
    ("sitemaps/extension/sitemap-videos.xml", "sitemap", 6, None),
    ("sitemaps/sitemap-with-bom.txt", "sitemap", 2, "http://www.domain.com/page1.html"),
    ("sitemaps/sitemap.badns.xml", "sitemap", 2, "http://www.example.com/1"),
    ("sitemaps/sitemap.index.xml", "index", 15, "https://example.com/sitemap.jss?portalCode=10260&lang=en"),
    ("sitemaps/sitemap.ns.xml", "sitemap", 2, "http://www.example.com/1"),
    ("sitemaps/sitemap.txt.gz", "sitemap", 5, "http://www.example.com/"),
    ("sitemaps/xmlSitemap.gz", "sitemap", 5, "http://www.example.com/"),
]


@pytest.fixture(scope="module")
def fixtures(data: Path) -> dict[str, bytes]:
    with tarfile.open(data / "sites" / "crawler_commons_sitemaps.tar.gz") as archive:
        found = {}
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None:
                body = file.read()
                name = member.name.removeprefix("./src/test/resources/")
                found[name] = gzip.decompress(body) if name.endswith(".gz") else body
        return found


@pytest.mark.parametrize(("name", "kind", "count", "first"), FIXTURES, ids=lambda each: str(each).rpartition("/")[2])
def test_real_sitemaps_and_feeds_are_read_whole(
    name: str, kind: str, count: int, first: str | None, fixtures: dict[str, bytes]
) -> None:
    source = read_source(fixtures[name], 1000, lines=True)
    assert source is not None
    assert (source.kind.value, len(source.entries), source.problem) == (kind, count, "")
    assert first is None or source.entries[0].url == first


def test_dates_titles_pictures_and_alternates_come_along(fixtures: dict[str, bytes]) -> None:
    news = read_source(fixtures["sitemaps/extension/sitemap-news.xml"], 10)
    images = read_source(fixtures["sitemaps/extension/sitemap-images.xml"], 10)
    feed = read_source(fixtures["rss/feed.rss"], 10)
    assert news is not None and images is not None and feed is not None
    assert news.entries[0].stated_at == 1229990400.0
    assert [entry.picture for entry in images.entries] == [False, True, True]
    assert feed.entries[0].title == "Example entry"
    assert [entry.url for entry in feed.entries[1:]] == [
        "https://www.example.com/guid.html", "https://www.example.com/foo?q=a&l=en", "https://www.example.com/foo?q=a&l=fr",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "feed",
    [
        "<rss version='0.91'><channel><item><link>http://a.test/1</link></item></channel></rss>",
        "<rdf:RDF xmlns:rdf='x' xmlns='y'><channel/><item rdf:about='z'><link>http://a.test/1</link></item></rdf:RDF>",
        "<feed xmlns='http://www.w3.org/2005/Atom'><entry><link rel='alternate' href='http://a.test/1'/></entry></feed>",
        "<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:entry><a:link href='http://a.test/1'/></a:entry></a:feed>",
    ],
)
def test_all_kinds_of_feeds_are_known_by_their_root(feed: str) -> None:
    source = read_source(feed.encode(), 10)
    assert source is not None and source.kind is SourceKind.FEED
    assert [entry.url for entry in source.entries] == ["http://a.test/1"]


def test_a_korean_feed_in_euc_kr_is_read() -> None:
    feed = '<?xml version="1.0" encoding="euc-kr"?><rss><channel><item><title>소식</title><link>http://a.test/소식</link></item></channel></rss>'
    source = read_source(feed.encode("euc-kr"), 10)
    assert source is not None and source.entries == (Entry("http://a.test/소식", title="소식"),)


def test_entities_are_never_expanded() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "ha">{laughs}]><urlset><url><loc>http://a.test/&l9;</loc></url></urlset>'
    outside = (
        '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><urlset><url><loc>http://a.test/&f;</loc></url></urlset>'
    )
    started = time.process_time()
    assert read_source(bomb.encode(), 10) is None
    assert read_source(outside.encode(), 10) is None
    assert time.process_time() - started < 0.5


def test_what_stands_before_a_fault_is_kept_and_what_stands_behind_it_is_searched() -> None:
    broken = b"<urlset><url><loc>http://a.test/1</loc></url><url><loc>http://a.test/2?a=1&b=2</loc></url>\n<url><loc>http://a.test/3</loc>"
    source = read_source(broken, 10)
    assert source is not None and source.problem.startswith("no well-formed XML")
    assert [entry.url for entry in source.entries] == ["http://a.test/1", "http://a.test/2?a=1&b=2", "http://a.test/3"]


def test_reading_ends_at_the_limit_however_long_the_document_is() -> None:
    endless = b"<urlset>" + b"".join(b"<url><loc>http://a.test/%d</loc></url>" % n for n in range(200_000))
    started = time.process_time()
    source = read_source(endless, 100)
    assert source is not None and len(source.entries) == 100
    assert time.process_time() - started < 0.5


def test_a_page_is_no_source() -> None:
    assert read_source(b"<html><link rel=alternate href=x></html>", 10) is None
    assert read_source(b"just a text\nhttp://a.test/", 10) is None
    assert read_source(b"just a text", 10, lines=True) is None
    assert not looks_like_source(b"<?xml version='1.0'?><html><body>")
    assert looks_like_source(b"<?xml version='1.0'?>\n<sitemapindex xmlns='x'>")


@given(st.binary(max_size=300) | st.text(alphabet="<>/url setlocCDATA[]&;!-\"' http:", max_size=300).map(str.encode))
def test_no_body_raises_or_gives_more_than_was_asked_for(body: bytes) -> None:
    for start in (
        b"",
        b"<urlset><url><loc>",
        b"<rss><channel><item><link>",
        b"<?xml version='1.0' encoding='x-y'?><feed>",
    ):
        source = read_source(start + body, 5, lines=True)
        assert source is None or len(source.entries) <= 5
