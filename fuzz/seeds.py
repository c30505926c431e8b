"""Where fuzzing starts: bytes that are nearly right, from the lab's hostile sites and by hand."""

from __future__ import annotations

import gzip
import tempfile
import zlib
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import brotli
import zstandard

from nephila.config.sections import Archive
from nephila.lab.hostile.scripts import Asked
from nephila.lab.hostile.spaces import NASTY
from nephila.lab.hostile.table import TABLE
from nephila.lab.wire import Step
from nephila.store.archive.exchange import Exchange, Software
from nephila.store.archive.writer import ArchiveWriter

SEED_BYTES = 8_192
HERE = Path(__file__).parent


def _bytes_of(steps: Iterable[Step]) -> bytes:
    said = b"".join(bytes(step) for step in islice(steps, 4) if isinstance(step, bytes | memoryview))
    return said[:SEED_BYTES]


def _said() -> list[bytes]:
    """What the hostile sites say to a request for their home page and one more."""
    said = []
    for row in TABLE:
        for act in filter(None, (row.act, row.robots)):
            for target in ("/", "/0", "/long"):
                try:
                    said.append(_bytes_of(act(Asked(target, "", 8480, 0, 0))))
                except (KeyError, ValueError, IndexError):
                    continue  # a path that this row does not know
    return [one for one in dict.fromkeys(said) if one]


def _archive() -> bytes:
    with tempfile.TemporaryDirectory() as place:
        writer = ArchiveWriter(Path(place), 0, Archive(), Software("nephila", "fuzz", "", "obey"), None)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
        writer.append(
            [Exchange("http://a.test/", 0.0, b"GET / HTTP/1.1\r\n\r\n", head, b"<p>body", "127.0.0.1", bytes(20))]
        )
        writer.close()
        [file] = Path(place).rglob("*.warc.gz*")
        return file.read_bytes()


def seeds(target: str) -> list[bytes]:
    """The corpus of a target: made here, and what earlier runs have kept in fuzz/corpus."""
    kept = [path.read_bytes() for path in sorted((HERE / "corpus" / target).glob("*")) if path.is_file()]
    said = _said()
    bodies = [one.partition(b"\r\n\r\n")[2] for one in said]
    match target:
        case "scanner" | "traps":
            made = [body for body in bodies if b"<" in body]
        case "response":
            made = [bytes([size]) + one for one in said for size in (0, 7, 255)]
        case "decode":
            text = b"weave " * 200
            coded = [text, gzip.compress(text), zlib.compress(text), brotli.compress(text), zstandard.compress(text)]
            made = [bytes([place]) + body for place, body in enumerate([*coded, gzip.compress(brotli.compress(text))])]
            made += [bytes([1]) + body for body in bodies if body.startswith(b"\x1f\x8b")]
        case "robots":
            made = [body for body in bodies if b"llow" in body] + [b"User-agent: *\nDisallow: /*a*b$\nCrawl-delay: 5\n"]
        case "urls":
            made = [href.encode("utf-8", "surrogatepass") for href in NASTY]
        case _:
            made = [_archive()]
    return [*kept, *(one for one in made if one)]
