"""Folders become one: no page twice, the newest on top, all visits kept, what was forgotten stays away."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_archives import SITE, Made, html, killed_at, nephila, outcomes, report_of, rows, write_warc

from nephila.store.archive.verify import verify


def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders that have seen one page each alone, and one page on two days."""
    first = [
        Made("/", html("Home", "monday", "/a"), at="2024-05-01T00:00:00Z"),
        Made("/a", html("A", "only on monday"), at="2024-05-01T00:00:05Z"),
    ]
    second = [
        Made("/", html("Home", "tuesday", "/b"), at="2024-05-02T00:00:00Z"),
        Made("/b", html("B", "only on tuesday"), at="2024-05-02T00:00:05Z"),
    ]
    made = []
    for name, captures in (("monday", first), ("tuesday", second)):
        nephila("import", write_warc(tmp_path / f"{name}.warc.gz", captures), "-C", tmp_path / name, "-q")
        made.append(tmp_path / name)
    return made[0], made[1]


def test_every_page_is_there_once_with_all_its_visits_and_the_newest_on_top(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monday, tuesday = folders(tmp_path)
    # when they are merged, the newer one first
    report = report_of(capsys, "merge", tuesday, monday, "-C", tmp_path / "both")
    # then
    assert (report["pages"], report["visits"], report["left_out"]) == (3, 4, {})
    assert outcomes(tmp_path / "both") == dict.fromkeys([f"{SITE}/", f"{SITE}/a", f"{SITE}/b"], "ok")
    assert rows(tmp_path / "both", "SELECT path, depth, kind FROM pages ORDER BY path") == [
        ("/", 0, "s"), ("/a", 1, "a"), ("/b", 1, "a"),
    ]  # fmt: skip
    sql = "SELECT count(*), max(at) = (SELECT fetched_at FROM pages WHERE path = '/') FROM visits WHERE path = '/'"
    assert rows(tmp_path / "both", sql) == [(2, 1)]
    assert rows(tmp_path / "both", "SELECT changed FROM visits WHERE path = '/' ORDER BY at") == [(None,), (1,)]
    assert all(verify(path).problems == () for path in (tmp_path / "both" / "archive").rglob("*.warc.gz"))
    # and once more changes nothing
    again = report_of(capsys, "merge", tuesday, monday, "-C", tmp_path / "both")
    assert (again["visits"], again["here_already"]) == (0, 4)


def test_a_killed_merge_goes_on(tmp_path: Path) -> None:
    monday, tuesday = folders(tmp_path)
    both = tmp_path / "both"
    assert killed_at("slot.half_written", lambda: nephila("merge", monday, tuesday, "-C", both, "-q"))
    nephila("merge", monday, tuesday, "-C", both, "-q")
    assert rows(both, "SELECT count(*), count(DISTINCT path || at) FROM visits") == [(4, 4)]


def test_what_one_folder_has_forgotten_does_not_come_back_with_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monday, tuesday = folders(tmp_path)
    nephila("forget", f"{SITE}/b", "-C", monday, "-q")
    report = report_of(capsys, "merge", monday, tuesday, "-C", tmp_path / "both")
    assert report["left_out"] == {"forgotten": 1}
    assert outcomes(tmp_path / "both")[f"{SITE}/b"] == "forgotten"


def test_a_folder_is_not_merged_into_itself_nor_named_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monday, _ = folders(tmp_path)
    nephila("merge", monday, "-C", monday, code=2)
    nephila("merge", monday, monday, "-C", tmp_path / "both", code=2)
    nephila("merge", tmp_path, "-C", tmp_path / "both", code=2)
    assert not (tmp_path / "both").exists()
    assert "Traceback" not in capsys.readouterr().err
