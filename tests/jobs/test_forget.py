"""What was forgotten is nowhere: not in state, archive, tables, ranks, index or report, and it does not come back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_archives import SITE, Made, files_with, html, killed_at, nephila, outcomes, report_of, rows, write_warc

from nephila.crawl.forgotten import compile_rules, normal_rule
from nephila.errors import UsageError
from nephila.store.archive.reader import read_with_body
from nephila.store.archive.verify import verify
from nephila.urls import StripRules

SECRET = b"quicksilver-4711"
STRIP = StripRules.of(["sid"])


def archive(tmp_path: Path) -> Path:
    secret = html("Secret", f"the word is {SECRET.decode()}", "/twin")
    return write_warc(
        tmp_path / "a.warc.gz",
        [
            Made("/", html("Home", "the house", "/secret", "/other")),
            Made("/secret", secret),
            Made("/secret", html("Secret", f"another day, again {SECRET.decode()}"), at="2024-06-01T10:00:00Z"),
            Made("/other", html("Other", "nothing of interest", "/")),
            Made("/", html("Else", f"elsewhere {SECRET.decode()} is a word"), site="http://else.test"),
        ],
    )


def imported(tmp_path: Path) -> Path:
    folder = tmp_path / "crawl"
    nephila("import", archive(tmp_path), "-C", folder, "-q")
    return folder


def assert_whole(folder: Path) -> None:
    for path in (folder / "archive").rglob("*.warc.gz"):
        assert verify(path).problems == ()
    sql = """SELECT url || path, archive_file, archive_offset FROM pages JOIN sites USING (site)
             WHERE archive_file IS NOT NULL"""
    for url, file, offset in rows(folder, sql):
        assert read_with_body(folder / "archive", folder / "archive" / "agent-00" / file, offset).url == url


def test_nothing_of_a_forgotten_page_is_left_anywhere_and_search_does_not_find_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # given a folder with tables, ranks, index and report, in which the page is found
    folder = imported(tmp_path)
    nephila("forget", "http://else.test", "-C", folder, "-q")
    for room in ("convert", "rank", "index", "report"):
        nephila(room, "-C", folder, "--engine", "inline", "-q")
    assert files_with(folder, SECRET)
    assert report_of(capsys, "search", SECRET.decode(), "-C", folder)["hits"]

    # when it is forgotten by a command that fails when the old index is gone, and by the same command again
    def fails(*_: object) -> None:
        raise RuntimeError("killed")

    with pytest.MonkeyPatch.context() as patched, pytest.raises(RuntimeError):
        patched.setattr("nephila.jobs.forget.index", fails)
        nephila("forget", f"{SITE}/secret", "-C", folder, "--engine", "inline", "-q")
    report = report_of(capsys, "forget", f"{SITE}/secret", "-C", folder, "--engine", "inline")
    # then no file holds a byte of its text, and the rest is as it was
    assert (report["pages"], report["visits"]) == (0, 0)  # they had left before
    assert report["made_anew"] == ["tables", "ranks", "index", "report"]
    assert files_with(folder, SECRET) == []
    assert report_of(capsys, "search", SECRET.decode(), "-C", folder)["hits"] == []
    assert report_of(capsys, "search", "interest", "-C", folder)["hits"]
    assert_whole(folder)
    # and the log says what, when and how much, without the content
    log = [json.loads(line) for line in (folder / "control" / "forgotten.jsonl").read_text().splitlines()]
    assert [line["did"] for line in log] == ["forget", "forgot", "forget", "forget", "forgot"]
    assert log[1]["pages"] == 1 and log[1]["archive_bytes"] > 0
    assert [(line["did"], line["rule"]) for line in log[-2:]] == [
        ("forget", f"{SITE}/secret"),
        ("forgot", f"{SITE}/secret"),
    ]
    assert (log[-1]["pages"], log[-1]["archive_bytes"]) == (0, 0)
    nephila("why", f"{SITE}/secret", "-C", folder)
    assert "it was forgotten by the rule" in capsys.readouterr().out


def test_neither_import_nor_repair_brings_it_back_unless_it_is_allowed_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = imported(tmp_path)
    nephila("forget", f"{SITE}/secret", "-C", folder, "-q")
    # when its archive is imported once more, and the state is lost and made anew
    (folder / "state" / "import.json").unlink()
    again = report_of(capsys, "import", tmp_path / "a.warc.gz", "-C", folder)
    assert again["left_out"]["forgotten"] == 2
    for name in ("agent-00", "coordinator"):
        (folder / "state" / f"{name}.db").unlink()
    nephila("repair", "-C", folder)
    # then it is forgotten still, and nobody is asked at an address out of the archive
    assert outcomes(folder)[f"{SITE}/secret"] == "forgotten"
    assert rows(folder, "SELECT DISTINCT state FROM sites") == [("imported",)]
    nephila("forget", f"{SITE}/other", "--allow-again", "-C", folder, code=2)
    assert "no rule that is in force" in capsys.readouterr().err
    # until somebody says so
    nephila("forget", f"{SITE}/secret", "--allow-again", "-C", folder)
    assert outcomes(folder)[f"{SITE}/secret"] == "waiting"
    assert report_of(capsys, "import", tmp_path / "a.warc.gz", "-C", folder)["visits"] == 2


@pytest.mark.parametrize(
    "point",
    ["forget.logged", "forget.moved", "database.in_commit", "forget.taken_out", "erase.half_written", "erase.written",
     "durable.before_rename", "durable.after_rename", "forget.erased"],
)  # fmt: skip
def test_a_kill_at_any_step_leaves_a_whole_folder_and_the_same_command_finishes(tmp_path: Path, point: str) -> None:
    folder = imported(tmp_path)
    nephila("forget", "http://else.test", "-C", folder, "-q")
    assert killed_at(point, lambda: nephila("forget", f"{SITE}/secret", "-C", folder, "-q"))
    assert_whole(folder)
    nephila("forget", f"{SITE}/secret", "-C", folder, "-q")
    assert files_with(folder, SECRET) == []
    assert outcomes(folder)[f"{SITE}/secret"] == "forgotten"
    assert rows(folder, "SELECT count(*) FROM erasures") == [(0,)]
    assert_whole(folder)


def test_a_page_with_the_same_content_keeps_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # given three pages of one content: the archive has its body once, with the first
    body = html("Same", "three of a kind")
    made = [Made(f"/{name}", body, at=f"2024-05-0{day}T00:00:00Z") for day, name in enumerate("abc", start=1)]
    folder = tmp_path / "crawl"
    nephila("import", write_warc(tmp_path / "a.warc.gz", made), "-C", folder, "-q")
    assert rows(folder, "SELECT count(*) FROM contents") == [(1,)]
    # when the first is forgotten
    report = report_of(capsys, "forget", f"{SITE}/a", "-C", folder)
    # then the others have their content still, and their user is told that it stays
    assert report["twins"] == [f"{SITE}/b", f"{SITE}/c"]
    for path in "bc":
        [(file, offset)] = rows(folder, f"SELECT archive_file, archive_offset FROM pages WHERE path = '/{path}'")
        found = read_with_body(folder / "archive", folder / "archive" / "agent-00" / file, offset)
        assert found.body == body.encode()
    assert_whole_records(folder)


def assert_whole_records(folder: Path) -> None:
    for path in (folder / "archive").rglob("*.warc.gz"):
        assert verify(path).problems == ()


def test_a_whole_site_and_a_pattern_leave_and_stay_away(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = imported(tmp_path)
    assert report_of(capsys, "forget", SITE, "-C", folder)["pages"] == 3
    assert {outcome for url, outcome in outcomes(folder).items() if url.startswith(SITE)} == {"forgotten"}
    assert rows(folder, "SELECT state FROM sites WHERE url = 'http://www.archive.test'", "coordinator") == [
        ("refused",)
    ]
    report = report_of(capsys, "forget", "http://else.test/*", "-C", folder)
    assert report["pages"] == 1
    assert files_with(folder, SECRET) == []


def test_a_folder_in_use_is_refused_with_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from nephila.store.folder import CrawlFolder

    folder = imported(tmp_path)
    with CrawlFolder.open(folder).lock("crawl"):
        nephila("forget", f"{SITE}/secret", "-C", folder, code=4)
    assert "in use" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("HTTP://WWW.a.org/x?sid=1#y", "http://www.a.org/x"),
        ("http://a.org", "http://a.org"),
        ("http://a.org/", "http://a.org/"),
        ("https://a.org:443", "https://a.org"),
        ("www.A.org", "www.a.org"),
        ("http://*.a.org/b/*", "http://*.a.org/b/*"),
    ],
)
def test_a_rule_has_one_spelling(written: str, kept: str) -> None:
    assert normal_rule(written, STRIP) == kept


@pytest.mark.parametrize("written", ["", "hello world", "ftp://a.org/", "*", "/path"])
def test_what_names_nothing_is_refused(written: str) -> None:
    with pytest.raises(UsageError, match="names no page or site"):
        normal_rule(written, STRIP)


def test_a_slash_tells_a_page_from_its_site_and_a_star_stands_for_anything() -> None:
    page, site = compile_rules(["http://a.org/"]), compile_rules(["http://a.org"])
    assert page.rule_for("http://a.org", "/") and not page.rule_for("http://a.org", "/b")
    assert site.rule_for("http://a.org", "/b") and not site.rule_for("https://a.org", "/b")
    host = compile_rules(["a.org"])
    assert host.rule_for("https://a.org:8080", "/b") and not host.rule_for("http://www.a.org", "/b")
    pattern = compile_rules(["http://*.a.org/b/*"])
    assert pattern.rule_for("http://www.a.org", "/b/c?d") and not pattern.rule_for("http://www.a.org", "/c")
