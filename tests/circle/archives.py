"""Whether a crawl's archive is whole: two other readers, gzip itself and our own strict walk must agree."""

from __future__ import annotations

import hashlib
import subprocess
import warnings
from collections import Counter
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from nephila.decode import decode
from nephila.store.archive.reader import read, read_with_body
from nephila.store.archive.verify import verify

from .webs import slot_rows

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # FastWARC warns about its own old names
    from fastwarc.warc import ArchiveIterator as FastIterator


def files(folder: Path) -> list[Path]:
    return sorted((folder / "archive").glob("agent-*/*.warc.gz"))


def kinds_by_warcio(folder: Path) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for file in files(folder):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests=True):
                record.raw_stream.read()
                kinds[record.rec_type] += 1
                assert record.digest_checker.passed is not False, record.digest_checker.problems
    return kinds


def kinds_by_fastwarc(folder: Path) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for file in files(folder):
        with file.open("rb") as stream:
            kinds.update(record.headers["WARC-Type"] for record in FastIterator(stream))
    return kinds


def assert_archive_whole(folder: Path) -> None:
    """Readable by all, one answer per visit that was to be kept, no page twice, every row at its own record."""
    for file in files(folder):
        subprocess.run(["gzip", "-t", str(file)], check=True)
        assert verify(file).problems == ()
    visits = slot_rows(
        folder,
        """SELECT sites.url, visits.path, visits.role, visits.archive_file, visits.archive_offset, visits.site, hash,
           visits.outcome
           FROM visits JOIN sites USING (site) WHERE visits.archive_file IS NOT NULL""",
    )
    warcio, fast = kinds_by_warcio(folder), kinds_by_fastwarc(folder)
    assert warcio == fast
    assert warcio["response"] + warcio["revisit"] == len(visits)
    assert warcio["request"] == warcio["metadata"] == len(visits)
    places = [(row[3], row[4]) for row in visits]
    assert len(set(places)) == len(places)
    # A page that a dark site answered with an error is asked again when the site is back: it may have that answer, too.
    pages = Counter((row[5], row[6]) for row in visits if row[2] == "page" and row[7] != "http_error")
    assert [page for page, count in pages.items() if count > 1] == []
    errors = Counter((row[5], row[6]) for row in visits if row[2] == "page" and row[7] == "http_error")
    assert [page for page, count in errors.items() if count > 1] == []
    assert_rows_lead_to_their_bodies(folder)


def assert_rows_lead_to_their_bodies(folder: Path) -> None:
    archive = folder / "archive"
    rows = slot_rows(
        folder,
        """SELECT sites.url || path, archive_file, archive_offset, checksum, pages.outcome, code, duplicate_of
           FROM pages JOIN sites USING (site) WHERE archive_file IS NOT NULL""",
    )
    assert rows
    for url, name, offset, checksum, outcome, code, duplicate_of in rows:
        path = archive / name.removeprefix("nephila-").rsplit("-", 1)[0] / name
        own = read(path, offset)
        assert (own.url, own.status) == (url, code)
        assert (own.kind == "revisit") <= (duplicate_of is not None)
        if outcome == "ok":
            whole = read_with_body(archive, path, offset)
            assert whole.kind == "response"
            body = whole.payload(lambda *coded: decode(*coded).payload, 1 << 30)
            assert hashlib.sha1(body).digest()[:16] == checksum, url
