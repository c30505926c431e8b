"""What is fuzzed: each target takes bytes and raises when a promise is broken. Nothing it may raise is expected.

scanner   the compiled tokenizer and its twin in Python say the same, charset and links included (C1-C3)
response  an answer cut into any packets ends in one outcome, within its caps (N7, N9)
decode    no body decodes to more than its cap, and none raises (N6)
robots    no robots.txt raises, and a decision about a path is quick (N12)
urls      normal forms are stable, and no reference raises (U6)
traps     no path or page raises, and patterns are stable
warc      a damaged archive is a sentence, never another exception (F10)
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from nephila.config.sections import Traps
from nephila.crawl import robots
from nephila.crawl.harvest import is_html
from nephila.crawl.response import HeaderCaps, Phase, ResponseReader
from nephila.crawl.traps import branch_of, pattern_of, shape_refusal, skeleton, text_runs
from nephila.decode import decode
from nephila.errors import NephilaError
from nephila.markup import choose, document_base, tokens
from nephila.markup.scan import Limits, scan_with
from nephila.store.archive.reader import read_exchange
from nephila.urls import Refusal, StripRules, join, normalise

try:
    from nephila.markup import _scan
except ImportError:  # built without a C compiler: then the twin is fuzzed alone
    _scan = None

RULES = StripRules.of(("sid", "utm_*", "jsessionid"))
WIRE_BYTES = 4096
DECODED_BYTES = 65_536
CODINGS = ((), ("gzip",), ("deflate",), ("br",), ("zstd",), ("gzip", "br"))


def scanner(data: bytes) -> None:
    small = Limits(links=20, href_bytes=64, anchor_bytes=32, title_bytes=32, code_bytes=256)
    for limits in (Limits(), small):
        bounds = (limits.links, limits.href_bytes, limits.anchor_bytes, limits.title_bytes)
        twin = tuple(tokens.tokenise(data, *bounds))
        if _scan is not None:
            assert tuple(_scan.tokenise(data, *bounds)) == twin, "the scanner and its twin differ"
    encoding = choose(data, None).encoding
    found = scan_with(tokens.tokenise, data, encoding, small)
    assert len(found.links) <= small.links
    base = document_base("http://a.test/b/c", found, RULES)
    for link in found.links:
        join(base, link.href, RULES, encoding)


def response(data: bytes) -> None:
    cut, whole = data[:1], data[1:]
    size = (cut[0] if cut else 0) + 1
    ended: list[tuple[object, ...]] = []
    for packet_bytes in (size, max(1, len(whole))):
        reader = ResponseReader(is_head=False, caps=HeaderCaps(2048, 512, 32, 3), max_wire_bytes=WIRE_BYTES)
        for start in range(0, len(whole), packet_bytes):
            reader.feed(whole[start : start + packet_bytes])
            if reader.fault is not None or reader.phase is Phase.DONE:
                break
        else:
            reader.end(was_reset=False)
        assert reader.fault is not None or reader.phase is Phase.DONE, "an answer without an end"
        assert len(reader.wire_body) <= WIRE_BYTES, "more than the cap"
        outcome = None if reader.fault is None else reader.fault.outcome
        ended.append((reader.status, outcome, reader.content(reader.wire_body)))
    # A length that is never reached and a cap that is may be noticed in either order; a whole answer is one.
    if ended[0][1] is None and ended[1][1] is None:
        assert ended[0] == ended[1], "packets matter"


def decoding(data: bytes) -> None:
    applied = CODINGS[(data[0] if data else 0) % len(CODINGS)]
    decoded = decode(data[1:], applied, DECODED_BYTES)
    assert len(decoded.payload) <= DECODED_BYTES, "more than the cap"


def robots_txt(data: bytes) -> None:
    rules = robots.rules_for(robots.parse(data), "nephila")
    for path in ("/", "/robots.txt", "/a" * 200, "/%2e%2e/x?y=" + "a" * 500):
        rules.allows(path)


def url(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    for found in (normalise(text, RULES), join("http://a.test/b/c?d", text, RULES, "euc-kr")):
        if not isinstance(found, Refusal):
            assert normalise(found, RULES) == found, "a normal form that is none"
            assert found.isascii() and "\n" not in found and "\r" not in found and " " not in found


def trap(data: bytes) -> None:
    path = "/" + data[:200].decode("latin-1")
    shape_refusal(path, Traps())
    assert pattern_of(pattern_of(path)) == pattern_of(path)
    assert branch_of(path).startswith("/")
    is_html("", data)
    skeleton(data)
    assert all(len(run) >= 8 for run in text_runs(data, path))


def warc(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".warc.gz") as file:
        file.write(data)
        file.flush()
        try:
            read_exchange(Path(file.name), 0)
        except (NephilaError, ValueError):
            return  # convert calls such a page damaged


TARGETS: dict[str, Callable[[bytes], None]] = {
    "scanner": scanner, "response": response, "decode": decoding, "robots": robots_txt, "urls": url, "traps": trap,
    "warc": warc,
}  # fmt: skip
