"""Old versions leave the archive, holes close, small files become one; whatever stays is found where rows say."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_archives import SITE, Made, files_with, html, killed_at, nephila, report_of, rows, write_warc

from nephila import open as open_crawl
from nephila.config.sections import Keep
from nephila.crawl.retention import DAY_S, Version, kept_versions
from nephila.store.archive.reader import read_with_body
from nephila.store.archive.verify import verify


def watched(tmp_path: Path, *, small_files: bool = False) -> Path:
    """A page seen on five days with three contents, and one that never changes."""
    texts = ["one-fish", "two-fish", "two-fish", "red-fish", "red-fish"]
    made = [
        Made("/", html("Home", text, "/same"), at=f"2024-05-0{day}T00:00:00Z")
        for day, text in enumerate(texts, start=1)
    ]
    made += [Made("/same", html("Same", "ever the same"), at=f"2024-05-0{day}T01:00:00Z") for day in range(1, 6)]
    folder = tmp_path / "crawl"
    size = ["--set", "archive.rotate_size=1KB"] if small_files else []
    file = write_warc(tmp_path / "a.warc.gz", sorted(made, key=lambda each: each.at))
    nephila("import", file, "-C", folder, "-q", *size)
    return folder


def assert_rows_lead_to_their_bodies(folder: Path) -> None:
    for path in (folder / "archive").rglob("*.warc.gz"):
        assert verify(path).problems == ()
    sql = """SELECT url || visits.path, archive_file, archive_offset, body_bytes FROM visits JOIN sites USING (site)
             WHERE archive_file IS NOT NULL"""
    found = rows(folder, sql)
    assert found
    for url, file, offset, body_bytes in found:
        held = read_with_body(folder / "archive", folder / "archive" / "agent-00" / file, offset)
        assert (held.url, len(held.body)) == (url, body_bytes)


@pytest.mark.parametrize(("keep", "left"), [("versions=1", 6), ("versions=2", 5), ("days=1", 6)])
def test_versions_beyond_the_limit_leave_and_what_is_referred_to_stays(
    tmp_path: Path, keep: str, left: int, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = watched(tmp_path)
    report = report_of(capsys, "compact", "-C", folder, "--set", f"keep.{keep}")
    # The newest record of "/" repeats the body of the day before, that of "/same" that of the first day: both stay.
    assert report["versions"] == left
    assert rows(folder, "SELECT count(*), count(archive_file) FROM visits") == [(10, 10 - left)]
    assert_rows_lead_to_their_bodies(folder)
    assert files_with(folder, b"one-fish") == []
    assert report_of(capsys, "compact", "-C", folder, "--set", f"keep.{keep}")["slots"] == []


def test_without_a_limit_no_version_leaves_and_small_files_become_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = watched(tmp_path, small_files=True)
    before = len(list((folder / "archive").rglob("*.warc.gz")))
    report = report_of(capsys, "compact", "-C", folder, "--set", "archive.rotate_size=1GB")
    assert before > 2
    assert (report["versions"], report["files_before"], report["files_after"]) == (0, before, 1)
    assert_rows_lead_to_their_bodies(folder)


def test_holes_close_and_the_tables_lead_to_the_new_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = watched(tmp_path)
    nephila("convert", "-C", folder, "--engine", "inline", "-q")
    nephila("forget", f"{SITE}/", "-C", folder, "--engine", "inline", "-q")
    report = report_of(capsys, "compact", "-C", folder, "--engine", "inline")
    assert report["bytes_after"] < report["bytes_before"]
    assert report["tables"]
    assert b"ever the same" in open_crawl(folder).body(f"{SITE}/same")
    assert_rows_lead_to_their_bodies(folder)


@pytest.mark.parametrize("point", ["compact.half_copied", "compact.copied", "database.in_commit", "compact.committed"])
def test_a_kill_at_any_point_leaves_a_whole_folder(tmp_path: Path, point: str) -> None:
    folder = watched(tmp_path)
    work = ["compact", "-C", folder, "--set", "keep.versions=1", "-q"]
    assert killed_at(point, lambda: nephila(*work))
    # then an import, which opens the slot as a crawl does, and the same command
    more = write_warc(tmp_path / "more.warc.gz", [Made("/new", html("New", "new"))])
    nephila("import", more, "-C", folder, "-q")
    assert_rows_lead_to_their_bodies(folder)
    nephila(*work)
    assert_rows_lead_to_their_bodies(folder)
    assert files_with(folder, b"one-fish") == []
    assert rows(folder, "SELECT count(*) FROM retired") == [(0,)]


def test_the_newest_stays_however_old_it_is() -> None:
    versions = [Version(day * DAY_S, ("file", day)) for day in range(5)]
    assert kept_versions(versions, Keep(days=1), 1000 * DAY_S) == {("file", 4)}
    assert kept_versions(versions, Keep(versions=2), 1000 * DAY_S) == {("file", 4), ("file", 3)}
    assert kept_versions(versions, Keep(), 1000 * DAY_S) == {("file", day) for day in range(5)}
    beside = [*versions, Version(0.0, ("file", 9), "robots")]
    assert ("file", 9) in kept_versions(beside, Keep(versions=1), 1000 * DAY_S)
