"""Which charset a body is in."""

from __future__ import annotations

import base64
import codecs
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import real_pages
from hypothesis import given, settings
from hypothesis import strategies as st
from real_pages import broken_html

from nephila.markup.charset import Charset, choose, codec_for, declared_in_header, declared_in_meta

KOREAN = (
    "<html><body>대한민국의 모든 국민은 인간으로서의 존엄과 가치를 가지며, 행복을 추구할 권리를 가진다.</body></html>"
)


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (codecs.BOM_UTF8 + b"<meta charset=euc-kr>", "text/html; charset=latin1", Charset("utf-8", "latin1")),
        (codecs.BOM_UTF16_LE + b"<\0", None, Charset("utf-16", None)),
        (codecs.BOM_UTF32_LE + b"<\0\0\0", None, Charset("utf-32", None)),
        (b"<meta charset=utf-8>", "text/html; charset=EUC-KR", Charset("cp949", "EUC-KR")),
        (b"<meta charset=utf-8>", "text/html; charset=nonsense", Charset("utf-8", "utf-8")),
        (b"<meta charset='ks_c_5601-1987'>", "text/html", Charset("cp949", "ks_c_5601-1987")),
        (b"<meta http-equiv=Content-Type content='text/html; charset=x-sjis'>", None, Charset("cp932", "x-sjis")),
        (b"<meta charset=utf-16>", None, Charset("utf-8", "utf-16")),
        (b"<!-- <meta charset=euc-kr> --><title>x</title>", None, Charset("utf-8", None)),
        (b"<p title='<meta charset=euc-kr>'>", None, Charset("utf-8", None)),
        (b"<?xml version='1.0' encoding='euc-kr'?><html>", None, Charset("cp949", "euc-kr")),
        (b" " * 2000 + b"<meta charset=euc-kr>" + KOREAN.encode("cp949"), None, Charset("cp949", "euc-kr")),
        (KOREAN.encode(), None, Charset("utf-8", None)),
        (KOREAN.encode()[:-25], None, Charset("utf-8", None)),
        (KOREAN.encode("cp949"), None, Charset("cp949", None)),
        (KOREAN.encode("iso2022_kr"), None, Charset("iso2022_kr", None)),
        (KOREAN.encode("utf-16-le"), None, Charset("utf-16-le", None)),
        (b"", None, Charset("utf-8", None)),
        (b"\xff", None, Charset("cp1252", None)),
    ],
)
def test_mark_header_meta_validity_and_looks_decide_in_this_order(
    body: bytes, content_type: str | None, expected: Charset
) -> None:
    assert choose(body, content_type) == expected


def test_every_label_of_the_web_has_a_codec(data: Path) -> None:
    groups = json.loads(gzip.decompress((data / "html/whatwg-encodings.json.gz").read_bytes()))
    labels = [label for group in groups for encoding in group["encodings"] for label in encoding["labels"]]
    unknown = {label for label in labels if codec_for(label) is None}
    # Browsers read these as nothing at all ("replacement"); Python has no codec for them.
    assert unknown == {"iso-2022-cn", "iso-2022-cn-ext", "replacement"}
    assert len(labels) > 200


def test_utf7_is_no_charset_of_the_web() -> None:
    assert codec_for("utf-7") is None


def test_euc_kr_is_read_with_its_extension(data: Path) -> None:
    """Every code point of WHATWG's index: the label means CP949."""
    codec = codec_for("euc-kr")
    assert codec is not None
    index = gzip.decompress((data / "html/whatwg-index-euc-kr.txt.gz").read_bytes()).decode()
    rows = [line.split() for line in index.splitlines() if line.strip() and not line.startswith("#")]
    for pointer, code_point, *_ in rows:
        lead, trail = divmod(int(pointer), 190)
        assert bytes([lead + 0x81, trail + 0x41]).decode(codec) == chr(int(code_point, 16))
    assert len(rows) == 17_048


def test_html5libs_bodies_are_read_in_their_encoding(data: Path) -> None:
    """Where nothing is declared html5lib falls back to windows-1252; we look at the bytes."""
    cases = list(real_pages.encoding_cases())
    different = []
    for body, label in cases:
        chosen = choose(body, None)
        if chosen.encoding != codec_for(label) and not (chosen.declared is None and label.lower() == "windows-1252"):
            different.append(body)
    # Pure ASCII, where it makes no difference: six declare far behind the first 1024 bytes, one by a script.
    assert len(cases) == 83
    assert len(different) == 7 and all(body.isascii() for body in different)


def test_undeclared_samples_are_read_as_what_they_are(data: Path) -> None:
    names = {"uhc": "cp949"}
    wrong = []
    for name, body in real_pages.charset_samples().items():
        stem = Path(name).stem.lower()
        try:
            expected = body.decode(names.get(stem, stem), "replace").lstrip("\ufeff")
        except LookupError:  # Python cannot read these either
            assert stem in {"mac-centraleurope", "viscii", "euc-tw"}
            continue
        if body.decode(choose(body, None).encoding, "replace").lstrip("\ufeff") != expected:
            wrong.append(name.partition("/")[2])
    # Three letters of one text, and UTF-16 that says so nowhere and holds no markup.
    assert sorted(wrong) == ["es/iso-8859-15.txt", "ja/utf-16be.txt", "ja/utf-16le.txt"]


def _recorded(data: Path, name: str) -> list[tuple[Any, str | None]]:
    cases = json.loads((data / "html/w3lib_html_encoding_cases.json").read_text())["cases"][name]
    return [(case["args"][0], case["result"]) for case in cases]


def _same(label: str | None, codec: str | None) -> bool:
    ours = codec_for(label) if label else None
    if ours is None or codec is None:
        return ours == codec
    return codecs.lookup(ours).name.partition("-le")[0] == codecs.lookup(codec).name


def test_headers_are_read_as_w3lib_reads_them_but_more_kindly(data: Path) -> None:
    cases = _recorded(data, "http_content_type_encoding")
    different = {header for header, codec in cases if not _same(declared_in_header(header or ""), codec)}
    blanks_and_quotes = {header for header in different if "foo=" not in header}
    assert all(declared_in_header(header) == "utf-8" for header in blanks_and_quotes)
    # A quoted value that itself holds "; charset=…" misleads us.
    assert len(different - blanks_and_quotes) == 3 and len(blanks_and_quotes) == 7
    assert len(cases) == 41


def test_metas_are_read_as_w3lib_reads_them_but_for_what_browsers_refuse(data: Path) -> None:
    different = set()
    cases = _recorded(data, "html_body_declared_encoding")
    for written, codec in cases:
        body = base64.b64decode(written["b64"]) if isinstance(written, dict) else written.encode()
        if not _same(declared_in_meta(body[:1024]), codec):
            different.add(body)
    # "< meta", a misspelt http-equiv, and an empty charset declare nothing in a browser; a meta in the body does.
    assert len(different) == 7
    assert len(cases) == 82


@given(broken_html | st.binary(max_size=300), st.none() | st.text(max_size=40))
@settings(max_examples=75, deadline=None)
def test_every_body_has_a_charset_that_decodes_it(body: bytes, content_type: str | None) -> None:
    body.decode(choose(body, content_type).encoding, "replace")
