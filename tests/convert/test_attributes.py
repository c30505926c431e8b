"""What pages say, in the charsets and languages of the real web."""

from __future__ import annotations

import re
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nephila.convert.attributes import Attributes, Parse, attributes
from nephila.markup.language import language_of
from nephila.urls import StripRules

RULES = StripRules.of(["sid"])


def read(body: bytes, content_type: str = "text/html", last_modified: str = "") -> Attributes:
    return attributes("http://a.kr/dir/page.html", body, content_type, "text/html", last_modified, RULES, 2**19)


def members(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as tar:
        opened = ((entry.name, tar.extractfile(entry)) for entry in tar if entry.isfile())
        return {name: file.read() for name, file in opened if file}


# Languages of the declaration's pages whose code the model knows.
LANGUAGES = {
    "kor": "ko", "jpn": "ja", "cmn_hans": "zh", "cmn_hant": "zh", "eng": "en", "deu_1996": "de", "fra": "fr",
    "spa": "es", "rus": "ru", "ita": "it", "por_PT": "pt", "nld": "nl", "pol": "pl", "vie": "vi", "tha": "th",
    "ell_monotonic": "el", "heb": "he", "arb": "ar", "hin": "hi", "tur": "tr", "swe": "sv", "fin": "fi",
}  # fmt: skip


def test_the_declaration_is_read_in_its_languages(data: Path) -> None:
    pages = {Path(name).stem: body for name, body in members(data / "misc" / "udhr_html.tar.gz").items()}
    known = {name: code for name, code in LANGUAGES.items() if name in pages}
    assert len(known) >= 12
    wrong = {}
    for name, code in known.items():
        found = read(pages[name])
        if found.language != code or found.parse is not Parse.OK or len(found.text or "") < 1000 or not found.title:
            wrong[name] = (found.parse, found.language, found.title)
    assert wrong == {}


def test_the_korean_manual_in_euc_kr(data: Path) -> None:
    """49 real pages, labelled EUC-KR, whose text must be Korean and whole."""
    pages = {
        name: body
        for name, body in members(data / "html" / "apache_manual_ko_mod.tar.gz").items()
        if b"euc-kr" in body[:500].lower()
    }
    assert len(pages) > 40
    for name, body in pages.items():
        found = read(body)
        assert (found.parse, found.charset, found.language) == (Parse.OK, "cp949", "ko"), name
        assert (found.charset_declared or "").lower() == "euc-kr"
        assert "아파치" in (found.title or "") + (found.text or "")
        assert "\ufffd" not in (found.text or "")
        assert found.visible_bytes is not None and 500 < found.visible_bytes < len(body) * 2


@pytest.mark.parametrize(
    ("charset", "text", "language"),
    [
        ("euc-kr", "대한민국의 모든 국민은 인간으로서의 존엄과 가치를 가진다. 우리는 검색 엔진을 만든다.", "ko"),
        ("cp949", "똠방각하 펲시콜라 찦차를 타고 온 남자는 오늘도 서울에서 웃고 있었다. 재미있는 이야기였다.", "ko"),
        ("iso-2022-kr", "대한민국의 모든 국민은 인간으로서의 존엄과 가치를 가진다. 우리는 검색 엔진을 만든다.", "ko"),
        ("shift_jis", "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。", "ja"),
        ("euc-jp", "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。", "ja"),
        ("gb2312", "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。", "zh"),
        ("big5", "人人生而自由,在尊嚴和權利上一律平等。他們賦有理性和良心,並應以兄弟關係的精神相對待。", "zh"),
        ("iso-8859-1", "Alle Menschen sind frei und gleich an Würde und Rechten geboren und begegnen einander.", "de"),
        ("windows-1252", "Tous les êtres humains naissent libres et égaux en dignité et en droits.", "fr"),
        ("koi8-r", "Все люди рождаются свободными и равными в своем достоинстве и правах, наделены разумом.", "ru"),
        ("utf-16", "모든 사람은 태어날 때부터 자유롭고, 존엄과 권리에 있어서 평등하다. 이성과 양심을 가졌다.", "ko"),
    ],
)  # fmt: skip
def test_labelled_charsets_are_right(charset: str, text: str, language: str) -> None:
    body = f'<html><head><meta charset="{charset}"><title>{text[:12]}</title></head><body><p>{text}</p></body></html>'
    found = read(body.encode("cp949" if charset == "euc-kr" else charset))
    assert found.title == text[:12].strip()
    assert text in (found.text or "")
    assert found.language == language


def test_title_description_and_text_come_from_where_they_are_stated() -> None:
    body = b"""<html lang="en"><head><title> The  title\n</title><meta name="Description" content=" What it is. ">
        <link rel="Canonical nofollow" href="../other.html?sid=1&amp;a=2"><style>p { color: red }</style></head>
        <body><nav><a href=x>menu</a></nav><article><h1>Heading</h1><p>The first sentence of the text. And another one
        that is long enough to be the main part of this page, as the library sees it.</p></article>
        <script>var hidden = "text";</script></body></html>"""
    found = read(body)
    assert (found.title, found.description) == ("The title", "What it is.")
    assert found.canonical == "http://a.kr/other.html?a=2"
    assert "first sentence" in (found.text or "") and "hidden" not in (found.text or "")
    assert found.visible_bytes is not None and found.visible_bytes < len(body) / 2


def test_without_a_description_it_is_the_first_sentences() -> None:
    text = "이것은 첫 문장이며 충분히 깁니다. 둘째 문장도 있습니다! " + "그리고 끝나지 않는 긴 문장이 " * 30
    found = read(f"<title>t</title><p>{text}</p>".encode())
    assert found.description == "이것은 첫 문장이며 충분히 깁니다. 둘째 문장도 있습니다!"


@pytest.mark.parametrize(
    ("head", "published", "modified"),
    [
        ('<meta property="article:published_time" content="2003-04-05T06:07:08+09:00">',
         datetime(2003, 4, 4, 21, 7, 8, tzinfo=UTC), None),
        ('<meta name="date" content="2003-04-05"><meta property="og:updated_time" content="2004-01-02T03:04:05Z">',
         datetime(2003, 4, 5, tzinfo=UTC), datetime(2004, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ('<script type="application/ld+json">{"datePublished":"2010-01-01","dateModified":"2011-02-03T04:05"}</script>',
         datetime(2010, 1, 1, tzinfo=UTC), datetime(2011, 2, 3, 4, 5, tzinfo=UTC)),
        ('<time datetime="1999-04-13T00:08:37Z">', datetime(1999, 4, 13, 0, 8, 37, tzinfo=UTC), None),
        ('<meta name="date" content="last Tuesday"><meta name="revised" content="2003-99-99">', None, None),
    ],
)  # fmt: skip
def test_dates_are_those_that_are_stated(head: str, published: datetime | None, modified: datetime | None) -> None:
    found = read(f"<title>t</title>{head}<p>text".encode())
    assert (found.published_at, found.modified_at) == (published, modified)


def test_the_header_says_when_a_page_was_modified_if_the_page_does_not() -> None:
    found = read(b"<title>t</title><p>text", last_modified="Tue, 13 Apr 1999 00:08:37 GMT")
    assert found.modified_at == datetime(1999, 4, 13, 0, 8, 37, tzinfo=UTC)


def test_short_texts_are_taken_at_their_word() -> None:
    assert language_of("제목", "ko-KR") == "ko"
    assert language_of("12 34", None) is None
    assert language_of("12 34", "not a language") is None


def test_visible_text_takes_one_pass_over_hostile_pages() -> None:
    """Each of these made a pattern go back over the page again and again, or the library take minutes."""
    for body in (b"<p>a" * 60_000, b"<" * 200_000, b"<script>" * 20_000, b"<!--" * 40_000, b"<svg " * 40_000):
        found = attributes("http://a.kr/", body, "text/html", "text/html", "", RULES, 2**17)
        assert found.parse in (Parse.LIMIT, Parse.EMPTY, Parse.OK)
        assert not re.search(r"<script", found.text or "")
