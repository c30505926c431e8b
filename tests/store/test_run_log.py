"""Logs: one event, one line, whatever the web puts into it; one file per run, and not for ever."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.cli import run
from nephila.store.folder import CrawlFolder
from nephila.store.run_log import MOST_RUNS, OneLine, prune, run_log


def lines(folder: Path) -> list[str]:
    return [line for path in sorted((folder / "logs").iterdir()) for line in path.read_text().splitlines()]


@given(st.text())
def test_no_text_makes_a_second_line_or_acts_on_a_terminal(text: str) -> None:
    record = logging.LogRecord("nephila.crawl", logging.INFO, "", 0, "%s", (text,), None)
    line = OneLine().format(record)
    assert len(line.splitlines()) == 1
    assert line.isprintable() or not any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in line)


def test_a_hostile_url_is_written_out(tmp_path: Path) -> None:
    folder = CrawlFolder.create(tmp_path / "crawl")
    with run_log(folder.path, "crawl", "info") as log:
        log.info("asked for %s", "http://a.test/\x1b[31m\r\n2026 ERROR crawl: forged\u202e")
    [line] = lines(folder.path)
    assert "\x1b" not in line and "\u202e" not in line
    assert "⟨001b⟩[31m\\r\\n2026 ERROR crawl: forged⟨202e⟩" in line


def test_a_level_leaves_out_what_is_below_it_and_a_traceback_is_marked(tmp_path: Path) -> None:
    folder = CrawlFolder.create(tmp_path / "crawl")
    with run_log(folder.path, "crawl", "warning") as log:
        log.info("too little")
        try:
            raise ValueError("two\nlines")
        except ValueError:
            log.exception("failed")
    found = lines(folder.path)
    assert "failed" in found[0]
    assert all(line.startswith("    | ") for line in found[1:])
    assert not any("too little" in line for line in found)


def test_a_folder_that_is_made_later_gets_the_words_before_it_and_none_is_made_for_a_log(tmp_path: Path) -> None:
    with run_log(tmp_path / "crawl", "crawl", "info") as log:
        log.info("before")
        CrawlFolder.create(tmp_path / "crawl")
        log.info("after")
    assert [line.rpartition(" ")[2] for line in lines(tmp_path / "crawl")] == ["before", "after"]
    with run_log(tmp_path / "none", "crawl", "info") as log:
        log.info("nobody hears this")
    assert not (tmp_path / "none").exists()


def test_the_newest_runs_stay(tmp_path: Path) -> None:
    folder = CrawlFolder.create(tmp_path / "crawl")
    folder.logs.mkdir()
    for number in range(MOST_RUNS + 5):
        (folder.logs / f"20260101T0000{number:02}Z-crawl-1.log").write_text("x\n")
    (folder.logs / "notes.txt").write_text("mine")
    prune(folder, 3)
    left = sorted(path.name for path in folder.logs.iterdir())
    assert left == [*(f"20260101T0000{number}Z-crawl-1.log" for number in (52, 53, 54)), "notes.txt"]


def test_a_failed_command_leaves_its_sentence_and_no_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = CrawlFolder.create(tmp_path / "crawl")
    assert (
        run(["compact", "-C", str(folder.path), "--set", "net.contact=secret@example.org", "--set", "keep.days=x"]) == 2
    )
    said = "\n".join(lines(folder.path))
    assert "settings given: net.contact, keep.days" in said
    assert "compact failed: --set: keep.days" in said
    assert "secret@" not in said
