"""G: bodies that a parser, a table, a terminal or a browser would choke on (G1-G17)."""

from __future__ import annotations

from typing import Final

from nephila.lab.hostile.scripts import Act, Asked, answer, home, index_of, page
from nephila.lab.wire import Script

_MEBIBYTE: Final = 2**20
CANARY_FILE: Final = "file:///etc/hostname"


def _titled(title: str) -> Script:
    return answer(page(text="a title", title=title))


def _bytes_titled(title: bytes) -> Script:
    return answer(b"<html><head><title>" + title + b"</title></head><body><p>text</p></body></html>")


def _lines(*titles: str) -> dict[str, Act | Script | str]:
    return {f"/{number}": _titled(title) for number, title in enumerate(titles)}


CHARSETS: Final = (
    "utf-8", "utf-7", "utf-16", "utf-16le", "utf-16be", "utf-32", "iso-8859-1", "iso-8859-15", "windows-1252", "euc-kr",
    "ks_c_5601-1987", "iso-2022-kr", "shift_jis", "euc-jp", "iso-2022-jp", "gb2312", "gbk", "gb18030", "big5", "koi8-r",
    "windows-1251", "windows-1256", "macintosh", "x-user-defined", "replacement", "hz-gb-2312", "ascii", "cp437",
    "ebcdic-cp-us", "idna", "punycode", "rot13", "hex", "base64", "unicode_escape", "raw_unicode_escape", "zlib",
    "mbcs",
    "undefined", "no-such-charset",
)  # fmt: skip


def _in_charset(number: int) -> Script:
    text = "거미줄 weaves webs, été, 日本語. " * 5
    body = page(text=text).encode("euc-kr", "replace") if number % 2 else page(text=text).encode("utf-8")
    return answer(body, kind=f"text/html; charset={CHARSETS[number]}")


_MISNESTED: Final = "<b><i><u><s><p>" * 20_000
_LAUGHS: Final = (
    '<?xml version="1.0"?><!DOCTYPE html [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;">]><html><body>&d;</body></html>'
)
_EXTERNAL: Final = (
    f'<?xml version="1.0"?><!DOCTYPE html [<!ENTITY x SYSTEM "{CANARY_FILE}">]><html><body>&x;</body></html>'
)

NESTED: Final = home(answer("<div>" * 100_000 + "deep"))
ONE_ATTRIBUTE: Final = home(answer('<a href="/x" title="' + "t" * (_MEBIBYTE // 5) + '">x</a>'))
MANY_ATTRIBUTES: Final = home(answer("<a " + " ".join(f"a{n}=1" for n in range(20_000)) + ' href="/x">x</a>'))
MISNESTED: Final = home(answer(_MISNESTED + "text"))
UNCLOSED: Final[Act] = index_of(
    {"/comment": answer("<p>seen</p><!-- " + "c" * 200_000), "/cdata": answer("<p>seen<![CDATA[" + "c" * 200_000),
     "/textarea": answer("<p>seen<textarea>" + "c" * 200_000), "/script": answer("<p>seen<script>" + "c" * 200_000)},
)  # fmt: skip
ODD_TITLES: Final[Act] = index_of(
    {"/nul": _bytes_titled(b"a\0b"), "/surrogate": _bytes_titled(b"lone \xed\xa0\x80 half"),
     "/noncharacter": _bytes_titled("\ufffe\uffff".encode()), "/overlong": _bytes_titled(b"\xc0\xaf\xe0\x80\xaf")},
)  # fmt: skip
WRONG_CHARSETS: Final[Act] = index_of({f"/{number}": _in_charset(number) for number in range(len(CHARSETS))})
WRONG_TYPES: Final[Act] = index_of(
    {"/picture": answer(page("/never"), kind="image/png"),
     "/zip": answer(b"PK\x03\x04" + bytes(range(256)) * 40 + b'<a href="/never">x</a>')},
)  # fmt: skip
ENTITIES: Final[Act] = index_of(
    {"/laughs": answer(_LAUGHS, kind="application/xhtml+xml"), "/external": answer(_EXTERNAL, kind="application/xml"),
     "/xhtml": answer(_EXTERNAL, kind="application/xhtml+xml")},
)  # fmt: skip
SCRIPTS: Final[Act] = index_of(
    _lines(
        "&lt;script&gt;alert(1)&lt;/script&gt;", "&quot;&gt;&lt;img src=x onerror=alert(1)&gt;", "{{7*7}}", "${7*7}",
        "&lt;/title&gt;&lt;svg onload=alert(1)&gt;", "javascript:alert(1)", "[[constructor]]", "%{1+1}",
    )
)  # fmt: skip
FORMULAS: Final[Act] = index_of(_lines("=cmd|'/c calc'!A1", "+1+1", "-1+1", "@SUM(1)", "\t=1", "\r=1", "|x", "%x"))
ESCAPES: Final[Act] = index_of(
    {"/clear": _bytes_titled(b"\x1b[2J\x1b[31mred"), "/clipboard": _bytes_titled(b"\x1b]52;c;aGFoYQ==\x07"),
     "/forged": _bytes_titled(b"line\r\n2026-11-16 forged=log line"), "/bidi": _bytes_titled("\u202efdp.exe".encode()),
     "/c1": _bytes_titled("\x9b2J\x90".encode()), "/%1B[2J": _titled("escape in the path")},
)  # fmt: skip
STATEMENTS: Final[Act] = index_of(
    _lines(
        "'); DROP TABLE pages;--", "$$; DROP SCHEMA nephila; $$", "\\copy pages to '/x'", "read_csv('/etc/hostname')"
    )
)
LONG_TITLE: Final = home(_titled("t" * (_MEBIBYTE // 5)))
EVER_NEW: Final = home(lambda asked: answer(page(text=f"visit {asked.times}")))
ROBOTS_IN_PAGES: Final[Act] = index_of(
    {"/noindex": answer(page("/found", head='<meta name="robots" content="noindex">')),
     "/nofollow": answer(page("/hidden", head='<meta name="robots" content="nofollow">')),
     "/header": answer(page("/hidden"), "X-Robots-Tag: none"), "/found": page(text="found")},
)  # fmt: skip


def _deadly(asked: Asked) -> Script:
    pages = tuple(f"/{number}" for number in range(50))
    return answer(page(*pages)) if asked.target == "/" else answer(page(text=f"one of fifty: {asked.target}"))


FIFTY: Final[Act] = _deadly
