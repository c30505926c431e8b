"""A crawl as one WACZ file: what the specification asks for, and back into a folder without loss."""

from __future__ import annotations

import gzip
import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from made_archives import SITE, Made, html, nephila, outcomes, report_of, write_warc
from warcio.archiveiterator import ArchiveIterator


def exported(tmp_path: Path) -> Path:
    made = [Made(f"/{name}", html(name, "text", "/z")) for name in "cab"]
    nephila("import", write_warc(tmp_path / "a.warc.gz", made), "-C", tmp_path / "crawl", "-q")
    nephila("export", "wacz", tmp_path / "out.wacz", "-C", tmp_path / "crawl")
    return tmp_path / "out.wacz"


def test_every_file_has_its_length_and_digest_and_archives_are_stored(tmp_path: Path) -> None:
    with zipfile.ZipFile(exported(tmp_path)) as zipped:
        content = zipped.read("datapackage.json")
        package = json.loads(content)
        assert json.loads(zipped.read("datapackage-digest.json")) == {
            "path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(content).hexdigest()}",
        }  # fmt: skip
        assert (package["profile"], package["wacz_version"]) == ("data-package", "1.1.1")
        for resource in package["resources"]:
            held = zipped.read(resource["path"])
            assert resource["hash"] == f"sha256:{hashlib.sha256(held).hexdigest()}"
            assert resource["bytes"] == len(held)
        assert {entry.filename for entry in zipped.infolist()} == {
            *(resource["path"] for resource in package["resources"]), "datapackage.json", "datapackage-digest.json",
        }  # fmt: skip
        archives = [entry for entry in zipped.infolist() if entry.filename.startswith("archive/")]
        assert [entry.compress_type for entry in archives] == [zipfile.ZIP_STORED]


def test_the_index_is_sorted_and_leads_to_the_records(tmp_path: Path) -> None:
    with zipfile.ZipFile(exported(tmp_path)) as zipped:
        lines = gzip.decompress(zipped.read("indexes/index.cdx.gz")).decode().splitlines()
        heads = zipped.read("indexes/index.idx").decode().splitlines()
        assert lines == sorted(lines) and len(lines) == 3
        assert heads[0].startswith("!meta 0 ") and heads[1].startswith(lines[0].partition("{")[0])
        for line in lines:
            entry = json.loads(line[line.index("{") :])
            held = zipped.read(f"archive/{entry['filename']}")
            start, length = int(entry["offset"]), int(entry["length"])
            (tmp_path / "one.warc.gz").write_bytes(held[start : start + length])
            with (tmp_path / "one.warc.gz").open("rb") as stream:
                [record] = [each.rec_headers.get_header("WARC-Target-URI") for each in ArchiveIterator(stream)]
            assert record == entry["url"]


def test_pages_are_listed_with_their_moments(tmp_path: Path) -> None:
    with zipfile.ZipFile(exported(tmp_path)) as zipped:
        head, *pages = map(json.loads, zipped.read("pages/pages.jsonl").decode().splitlines())
    assert (head["format"], head["id"]) == ("json-pages-1.0", "pages")
    assert {(page["url"], page["ts"]) for page in pages} == {
        (f"{SITE}/{name}", "2024-05-01T10:00:00Z") for name in "abc"
    }


def test_what_was_exported_can_be_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = report_of(capsys, "import", exported(tmp_path), "-C", tmp_path / "back")
    assert report["visits"] == 3
    assert outcomes(tmp_path / "back") == outcomes(tmp_path / "crawl")


def test_an_empty_folder_and_a_folder_as_a_file_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exported(tmp_path)
    nephila("export", "wacz", tmp_path, "-C", tmp_path / "crawl", code=2)
    nephila("export", "wacz", tmp_path / "x.wacz", "--text", "-C", tmp_path / "crawl", code=2)
    assert "nephila convert" in capsys.readouterr().err
