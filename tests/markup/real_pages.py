"""Real and published HTML for the tests of this room, read straight from the archives."""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

DATA = Path(__file__).parents[3] / "shared" / "data"


@cache
def members(archive: str) -> dict[str, bytes]:
    """Every file of an archive, by name."""
    with tarfile.open(DATA / archive) as tar:
        files = ((entry.name, tar.extractfile(entry)) for entry in tar if entry.isfile())
        return {name: file.read() for name, file in files if file}


def manual_pages() -> dict[str, bytes]:
    """The Korean Apache manual, EUC-KR."""
    return {name: body for name, body in members("html/apache_manual_ko_mod.tar.gz").items() if b"<html" in body[:2000]}


def declaration_pages() -> dict[str, bytes]:
    """The Declaration of Human Rights in 42 languages."""
    return {name: body for name, body in members("misc/udhr_html.tar.gz").items() if name.endswith(".html")}


def charset_samples() -> dict[str, bytes]:
    """Texts named language/encoding."""
    return {name: body for name, body in members("html/uchardet_samples.tar.gz").items() if name.count("/") == 2}


def tree_inputs() -> Iterator[tuple[str, bytes]]:
    """html5lib's tree construction inputs: whole documents, parsed with scripting off."""
    for name, text in members("html/html5lib-tests.tar.gz").items():
        if "tree-construction/" in name and name.endswith(".dat"):
            for number, case in enumerate(re.split(rb"(?:^|\n\n)#data\n", text)):
                body, errors, expected = case.partition(b"\n#errors")
                if errors and b"#document-fragment" not in expected and b"#script-on" not in expected:
                    yield f"{name}:{number}", body


def tokenizer_inputs() -> Iterator[str]:
    """html5lib's tokenizer inputs that start in the data state."""
    for name, text in members("html/html5lib-tests.tar.gz").items():
        if "tokenizer/" in name and name.endswith(".test"):
            for case in json.loads(text).get("tests", []):
                if case.get("initialStates", ["Data state"])[0] == "Data state":
                    written = case["input"]
                    yield written.encode().decode("unicode_escape") if case.get("doubleEscaped") else written


def encoding_cases() -> Iterator[tuple[bytes, str]]:
    """html5lib's bodies with the label of the encoding they are in."""
    for name, text in members("html/html5lib-tests.tar.gz").items():
        if "encoding/" in name and name.endswith(".dat"):
            for case in re.split(rb"(?:^|\n)#data\n", text):
                body, found, label = case.partition(b"\n#encoding\n")
                if found:
                    yield body, label.strip().decode()


PIECES = [
    b"<", b">", b"</", b"/>", b"<!--", b"-->", b"--!>", b"-", b"!", b"<!", b"<?", b"<a ", b"<a", b"</a>",
    b"<A\n", b"href", b"HREF", b"=", b'"', b"'", b" ", b"\n", b"\x0b", b"\0", b"\0rel", b"/", b"x", b"text",
    b"&amp;", b"&#54620;", b"&", b"<script>", b"<script", b"</script>", b"<title>", b"</title>", b"<style>",
    b"</style>", b"<textarea>", b"<plaintext>", b"<svg>", b"</svg>", b"<svg/>", b"<svg a=b/>", b"<math>",
    b"<foreignObject>", b"<![CDATA[", b"]]>", b"<template>", b"</template>",
    b"<meta name=robots content=nofollow>", b"<meta http-equiv=refresh content='1;url=y'>", b"<base href=1>",
    b"<iframe src=", b"</iframe>", b"<frame src=x>", b"<area href=y>", b"<link rel=next href=",
    b" rel=nofollow ", b"<b>", b"</b>", b"<p>", b"<p class='q'>", b"<p ", b"</p ", b'<td id="r"', b"class=k ",
    b" onclick='location=1'",
    b" ONx=window.open('z')", b"location.href='w'", b"javascript:", "한국".encode("cp949"), "한국".encode(),
    b"\xff",
]  # fmt: skip
broken_html = st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join) | st.binary(max_size=80)


@st.composite
def mutated(draw: st.DrawFn, bodies: list[bytes]) -> bytes:
    """A stretch of a real page with pieces of markup written over it."""
    body = bytearray(draw(st.sampled_from(bodies)))
    start = draw(st.integers(0, max(0, len(body) - 1)))
    body = body[start : start + draw(st.integers(0, 3000))]
    for _ in range(draw(st.integers(1, 8))):
        at = draw(st.integers(0, len(body)))
        body[at : at + draw(st.integers(0, 4))] = draw(st.sampled_from(PIECES))
    return bytes(body)
