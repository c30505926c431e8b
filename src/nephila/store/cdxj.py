"""The index of the archive: one line per stored response, sorted by URL, for tools such as pywb.

    KEY TIMESTAMP {"url": …, "mime": …, "status": …, "digest": …, "length": …, "offset": …, "filename": …}

Derived from the archive alone and made again whenever it is asked for; nothing else depends on it. KEY is the URL
turned around (SURT), so that the pages of a domain stand together:

    http://www.Example.ac.kr:8080/A/b/?y=2&x=1   ->   kr,ac,example:8080)/a/b?x=1&y=2

that is: no scheme, user or leading www; host labels reversed (those of an IPv4 address too); default ports dropped;
percent-escapes undone and only the needed ones made again; all in lower case; parameters in order; no slash at the
end. Session ids are not cut here: the crawl has done that already, by visible rules.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

from nephila.store.archive.exchange import Position
from nephila.store.archive.names import archive_files, file_number
from nephila.store.archive.reader import stored_response
from nephila.store.archive.records import Record, records
from nephila.store.durable import AppendFile, aside_of, disk_errors, publish
from nephila.store.folder import CrawlFolder

_URL: Final = re.compile(
    r"(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?//(?:[^/?#]*@)?(\[[^\]]*\]|[^/?#:]*)(?::(\d*))?([^?#]*)(?:\?([^#]*))?"
)
_WWW: Final = re.compile(r"www\d*\.")
_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}
_UNESCAPED: Final = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_INDEXED: Final = frozenset({"response", "revisit", "resource"})
_WRITE_LINES: Final = 10_000


def surt_key(url: str) -> str:
    """The sort key of a URL; a text that is no URL with a host is its own key."""
    match = _URL.match(url.strip())
    if match is None:
        return _escaped(url).lower()
    scheme, host, port, path, query = match.groups(default="")
    host = _escaped(host).lower().removesuffix(".")
    if not host.startswith("["):
        host = ",".join(reversed(_WWW.sub("", host, count=1).split(".") if _WWW.match(host) else host.split(".")))
    if port and port != _DEFAULT_PORTS.get(scheme.lower()):
        host += f":{port}"
    path = re.sub("/{2,}", "/", _escaped(path).lower()).rstrip("/") or "/"
    parameters = "&".join(sorted(_escaped(query).lower().split("&"))) if query else ""
    return f"{host}){path}?{parameters}" if parameters else f"{host}){path}"


def _escaped(text: str) -> str:
    """Escapes undone until none is left, then only what must be escaped is."""
    content = text.encode("utf-8", "surrogateescape")
    while (undone := unquote_to_bytes(content)) != content:
        content = undone
    return quote_from_bytes(content, safe=_UNESCAPED)


def cdxj_line(record: Record) -> str | None:
    """The line of a record without its line end; None for records that are not looked up by URL."""
    if record.kind not in _INDEXED or not record.url:
        return None
    entry = {"url": record.url}
    if record.kind == "revisit":
        entry["mime"] = "warc/revisit"
    elif record.kind == "resource":
        entry["mime"] = _mime(record.field("Content-Type"))
    else:
        response = stored_response(record)
        entry["mime"] = _mime(next(iter(response.header_values("content-type")), None))
        if response.status:
            entry["status"] = str(response.status)
    digest = record.field("WARC-Payload-Digest")
    if digest:
        entry["digest"] = digest.partition(":")[2] or digest
    entry |= {"length": str(record.length), "offset": str(record.offset), "filename": record.file}
    timestamp = re.sub(r"\D", "", record.field("WARC-Date") or "")[:14]
    return f"{surt_key(record.url)} {timestamp} {json.dumps(entry)}"


def _mime(content_type: str | None) -> str:
    return (content_type or "").partition(";")[0].strip() or "unk"


def write_index(folder: CrawlFolder, committed: Mapping[int, Position]) -> int:
    """Make DIR/archive/index.cdxj anew from what is committed in each slot, and say how many lines it has."""
    with index_lines(folder, committed) as lines:
        count = _write_lines(aside_of(folder.cdxj), lines)
    publish(aside_of(folder.cdxj), folder.cdxj)
    return count


@contextmanager
def index_lines(folder: CrawlFolder, committed: Mapping[int, Position]) -> Iterator[Iterator[str]]:
    """The lines of the index in their order, from what is committed in each slot.

    One archive file's lines are sorted in memory, then all are merged: memory does not grow with the archive.
    """
    runs: list[Path] = []
    try:
        for path, stop in committed_files(folder, committed):
            runs.append(folder.archive / f"{path.name}.cdxj.aside")
            _write_lines(runs[-1], sorted(_lines(records(path, stop=stop))))
        with ExitStack() as stack:
            opened = [stack.enter_context(run.open(encoding="ascii", newline="\n")) for run in runs]
            yield heapq.merge(*opened)
    finally:
        for run in runs:
            run.unlink(missing_ok=True)


def committed_files(folder: CrawlFolder, committed: Mapping[int, Position]) -> Iterator[tuple[Path, int | None]]:
    """The archive files of every slot, with where the committed part of the last one ends."""
    for slot, position in sorted(committed.items()):
        last = file_number(position.file)
        for path in archive_files(folder.archive_of(slot)):
            if file_number(path.name) <= last:
                yield path, position.offset if file_number(path.name) == last else None


def _lines(found: Iterable[Record]) -> Iterator[str]:
    for record in found:
        line = cdxj_line(record)
        if line is not None:
            yield line + "\n"


def _write_lines(path: Path, lines: Iterable[str]) -> int:
    with disk_errors(path):
        path.unlink(missing_ok=True)
    file = AppendFile(path)
    try:
        count = 0
        pending: list[str] = []
        for line in lines:
            pending.append(line)
            count += 1
            if len(pending) == _WRITE_LINES:
                file.append("".join(pending).encode("ascii"))
                pending.clear()
        file.append("".join(pending).encode("ascii"))
        file.sync()
    finally:
        file.close()
    return count
