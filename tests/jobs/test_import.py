"""Anyone's archive becomes a crawl folder: real files of warcio and pywb, and files made by warcio's writer."""

from __future__ import annotations

import gzip
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest
from made_archives import SITE, Made, html, killed_at, nephila, outcomes, report_of, rows, write_warc
from warcio.archiveiterator import ArchiveIterator

from nephila.crawl import import_run
from nephila.store.archive.verify import verify

THREE = [
    Made("/", html("Home", "the spider's house", "/a", "/b", "http://else.test/x")),
    Made("/a", html("A", "golden silk")),
    Made("/robots.txt", "User-agent: *\nDisallow: /b\n", headers=(("Content-Type", "text/plain"),)),
]


def responses_by_warcio(folder: Path) -> list[tuple[str, bytes]]:
    found = []
    for path in sorted((folder / "archive").rglob("*.warc.gz")):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests=True):
                body = record.raw_stream.read()
                assert record.digest_checker.passed is not False
                if record.rec_type == "response":
                    found.append((record.rec_headers.get_header("WARC-Target-URI"), body))
    return found


def test_an_archive_becomes_pages_links_robots_and_sites(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # given an archive of three answers of one site
    file, folder = write_warc(tmp_path / "a.warc.gz", THREE), tmp_path / "crawl"
    # when it is imported
    report = report_of(capsys, "import", file, "-C", folder)
    # then the pages are there with what they link to, the robots.txt as such, and the other site waits
    assert (report["captures"], report["pages"], report["robots"], report["lost_count"]) == (3, 2, 1, 0)
    assert outcomes(folder) == {f"{SITE}/": "ok", f"{SITE}/a": "ok", f"{SITE}/b": "waiting"}
    assert rows(folder, "SELECT path, depth, kind FROM pages ORDER BY path") == [
        ("/", 0, "s"),
        ("/a", 1, "a"),
        ("/b", 1, "a"),
    ]
    assert rows(folder, "SELECT url, state FROM sites ORDER BY url", "coordinator") == [
        ("http://else.test", "new"), (SITE, "new"),
    ]  # fmt: skip
    assert rows(folder, "SELECT role, address, at FROM visits ORDER BY visit")[0] == ("page", "192.0.2.7", 1714557600.0)
    # and other tools read the archive
    assert dict(responses_by_warcio(folder))[f"{SITE}/a"] == THREE[1].body.encode()
    assert all(verify(path).problems == () for path in (folder / "archive").rglob("*.warc.gz"))


def test_the_same_file_again_or_under_another_name_brings_nothing_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = write_warc(tmp_path / "a.warc.gz", THREE), tmp_path / "crawl"
    other = write_warc(tmp_path / "other.warc", THREE, gzip=False, version="WARC/1.1")
    report_of(capsys, "import", file, "-C", folder)
    again = report_of(capsys, "import", file, other, "-C", folder)
    assert (again["visits"], again["left_out"]) == (0, {"here already": 3})
    assert [each["was_done"] for each in again["files"]] == [True, False]
    assert rows(folder, "SELECT count(*) FROM visits") == [(3,)]


def test_two_captures_are_two_visits_and_the_newest_is_the_page_in_whatever_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # given the newer capture in the file that is read first
    new = write_warc(tmp_path / "new.warc.gz", [Made("/", html("New", "now"), at="2024-05-02T00:00:00Z")])
    old = write_warc(tmp_path / "old.warc.gz", [Made("/", html("Old", "then"), at="2023-05-02T00:00:00Z")])
    folder = tmp_path / "crawl"
    # when both are imported
    report_of(capsys, "import", new, "-C", folder)
    second = report_of(capsys, "import", old, "-C", folder)
    # then both visits are kept, and the page is the newer one
    assert (second["older"], second["pages"]) == (1, 0)
    [(fetched_at, file, offset)] = rows(folder, "SELECT fetched_at, archive_file, archive_offset FROM pages")
    [newest] = rows(folder, "SELECT at, archive_file, archive_offset FROM visits ORDER BY at DESC LIMIT 1")
    assert (fetched_at, file, offset) == newest
    assert len(responses_by_warcio(folder)) == 2


@pytest.mark.parametrize("point", ["import.committed", "slot.half_written", "warc.half_member", "database.in_commit"])
def test_a_kill_half_way_loses_nothing_and_doubles_nothing(
    tmp_path: Path, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given an archive of more captures than one commit takes, and an import that is killed
    monkeypatch.setattr(import_run, "GROUP_CAPTURES", 20)
    made = [Made(f"/{number}", html(str(number), "text", f"/{number + 1}")) for number in range(70)]
    file, folder = write_warc(tmp_path / "many.warc.gz", made), tmp_path / "crawl"
    assert killed_at(point, lambda: nephila("import", file, "-C", folder, "-q"), nth=2)
    # when the same command is given
    nephila("import", file, "-C", folder, "-q")
    # then every capture is there once, in archive and state
    assert rows(folder, "SELECT count(*), count(DISTINCT path) FROM visits") == [(70, 70)]
    assert sorted(url for url, _ in responses_by_warcio(folder)) == sorted(each.url for each in made)
    assert set(outcomes(folder).values()) == {"ok", "waiting"}


def test_what_is_damaged_is_told_with_its_place_and_the_rest_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # given a file with a torn member in the middle and a cut end
    whole = write_warc(tmp_path / "whole.warc.gz", [Made(f"/{n}", html(str(n), "text")) for n in range(10)])
    content = bytearray(whole.read_bytes())
    middle = content.find(b"\x1f\x8b\x08", len(content) // 2)
    content[middle + 20 : middle + 60] = b"\x00" * 40
    torn = tmp_path / "torn.warc.gz"
    torn.write_bytes(content[:-30])
    # when it is imported
    report = report_of(capsys, "import", torn, "-C", tmp_path / "crawl", code=5)
    # then two stretches are told and eight captures are here
    assert (report["visits"], report["lost_count"]) == (8, 2)
    assert report["lost"][0]["start"] == middle
    assert report["lost"][1]["end"] == len(content) - 30


def test_one_gzip_member_for_the_whole_file_is_read_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = write_warc(tmp_path / "plain.warc", THREE, gzip=False)
    packed = tmp_path / "packed.warc.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert report_of(capsys, "import", packed, "-C", tmp_path / "crawl")["captures"] == 3


@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_wacz_is_read_at_its_place_or_unpacked(tmp_path: Path, how: int, capsys: pytest.CaptureFixture[str]) -> None:
    wacz = tmp_path / "some.wacz"
    with zipfile.ZipFile(wacz, "w", how) as zipped:
        zipped.write(write_warc(tmp_path / "in.warc.gz", THREE), "archive/in.warc.gz")
        zipped.writestr("datapackage.json", "{}")
    report = report_of(capsys, "import", wacz, "-C", tmp_path / "crawl")
    assert (report["captures"], report["files"][0]["name"]) == (3, "some.wacz/archive/in.warc.gz")
    assert report_of(capsys, "import", wacz, "-C", tmp_path / "crawl")["visits"] == 0


def test_scope_decides_what_is_let_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_warc(tmp_path / "a.warc.gz", [*THREE, Made("/", html("E", "else"), site="http://else.test")])
    report = report_of(capsys, "import", file, "-C", tmp_path / "crawl", "--set", "scope.exclude_hosts=else.test")
    assert report["left_out"] == {"out of scope": 1}


def test_wrong_input_is_one_sentence_and_makes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rubbish = tmp_path / "rubbish.warc"
    rubbish.write_bytes(b"hello\n" * 100)
    for given in (rubbish, tmp_path / "none.warc", tmp_path):
        nephila("import", given, "-C", tmp_path / "crawl", code=2)
        assert capsys.readouterr().err.startswith("nephila: ")
    assert not (tmp_path / "crawl").exists()


@pytest.fixture(scope="module")
def samples(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of warcio's and pywb's own tests."""
    folder = tmp_path_factory.mktemp("samples")
    with tarfile.open(data / "warc" / "pywb_sample_archive.tar.gz") as packed:
        packed.extractall(folder, filter="data")
    for path in (data / "warc" / "warcio").iterdir():
        shutil.copy(path, folder)
    return folder


@pytest.mark.parametrize(
    ("name", "visits", "lost", "code"),
    [
        ("example.warc.gz", 2, 0, 0),
        ("example.arc", 1, 0, 0),
        ("example.arc.gz", 1, 0, 0),
        ("example-iana.org-chunked.warc", 1, 0, 0),  # chunks kept
        ("example-bad-non-chunked.warc.gz", 2, 0, 0),  # several records in one gzip member
        ("example-wrong-chunks.warc.gz", 1, 0, 0),
        ("example-resource.warc.gz", 1, 0, 0),
        ("example-wget-bad-target-uri.warc.gz", 1, 0, 0),  # <URL>
        ("example-trunc.warc", 0, 1, 5),
        ("bad.arc", 0, 1, 5),
        ("post-test.warc.gz", 0, 0, 0),  # answers to POST are no pages
        ("pywb/warcs/example-wpull.warc.gz", 1, 0, 0),
        ("pywb/warcs/missing-status-text.warc", 1, 0, 0),  # CR CR LF
        ("pywb/warcs/iana.warc.gz", 171, 0, 0),  # the lines of its CDXJ; nine revisits refer to https for http
    ],
)
def test_the_files_of_other_tools(
    samples: Path, name: str, visits: int, lost: int, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = report_of(capsys, "import", samples / name, "-C", tmp_path / "crawl", code=code)
    assert (report["visits"], report["lost_count"]) == (visits, lost)


def test_a_revisit_finds_its_body_in_a_file_that_comes_later(
    samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warcs, folder = samples / "pywb" / "warcs", tmp_path / "crawl"
    first = report_of(capsys, "import", warcs / "dupes.warc.gz", "-C", folder)
    assert first["left_out"] == {"a revisit whose body is not in the archive": 8}
    both = report_of(capsys, "import", warcs / "iana.warc.gz", warcs / "dupes.warc.gz", "-C", folder)
    assert (both["visits"], both["left_out"]) == (171 + 8, {})
