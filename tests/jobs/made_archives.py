"""Archives as others write them, made with warcio's own writer, and what tests of the folder share."""

from __future__ import annotations

import json
import os
import signal
import warnings
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import apsw
import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from nephila.cli import run
from nephila.store import durable

SITE = "http://www.archive.test"


@dataclass(frozen=True)
class Made:
    """One answer to be archived."""

    path: str
    body: str
    at: str = "2024-05-01T10:00:00Z"
    status: str = "200 OK"
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)
    site: str = SITE

    @property
    def url(self) -> str:
        return self.site + self.path


def html(title: str, text: str, *links: str) -> str:
    anchors = "".join(f'<a href="{link}">to {link}</a> ' for link in links)
    return f"<html><head><title>{title}</title></head><body><p>{text}</p>{anchors}</body></html>"


class _Writer(WARCWriter):
    def _create_temp_file(self) -> BytesIO:
        return BytesIO()  # warcio leaves its own open


def write_warc(path: Path, made: Iterable[Made], *, gzip: bool = True, version: str = "WARC/1.0") -> Path:
    with path.open("wb") as file:
        writer = _Writer(file, gzip=gzip, warc_version=version)
        for each in made:
            writer.write_record(record(writer, each))
    return path


def record(writer: WARCWriter, made: Made) -> Any:
    content = made.body.encode()
    headers = StatusAndHeaders(made.status, [*made.headers, ("Content-Length", str(len(content)))], protocol="HTTP/1.1")
    stated = {"WARC-Date": made.at, "WARC-IP-Address": "192.0.2.7"}
    return writer.create_warc_record(
        made.url, "response", BytesIO(content), http_headers=headers, warc_headers_dict=stated
    )


def nephila(*words: object, code: int = 0) -> None:
    assert run([str(word) for word in words]) == code


def report_of(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> dict[str, Any]:
    """Run a command with --json and read what it prints."""
    capsys.readouterr()
    nephila(*words, "--json", code=code)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def rows(folder: Path, sql: str, database: str = "agent-00") -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(folder / "state" / f"{database}.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return list(connection.execute(sql))
    finally:
        connection.close()


def outcomes(folder: Path) -> dict[str, str]:
    sql = "SELECT url || path, pages.outcome FROM pages JOIN sites USING (site)"
    return dict(rows(folder, sql))


def killed_at(point: str, work: Callable[[], object], nth: int = 1) -> bool:
    """Do some work in a forked process that dies at a named point; False where it came to its end before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the test's own process has threads that do nothing here
        child = os.fork()
    if child == 0:
        durable._crash_plan = durable._CrashPlan(f"{point}:{nth}")
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def files_with(folder: Path, words: bytes) -> list[str]:
    """Every file of a folder in which these bytes stand, as they are or unpacked."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [str(path.relative_to(folder)) for path in files if words in _unpacked(path)]


def _unpacked(path: Path) -> bytes:
    content = path.read_bytes()
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return content + repr(pq.read_table(path).to_pylist()).encode()
    pieces = [content]
    while content.startswith(b"\x1f\x8b"):
        member = zlib.decompressobj(31)
        pieces.append(member.decompress(content))
        content = member.unused_data
    return b"".join(pieces)
