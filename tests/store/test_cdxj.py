"""The index: keys as other tools make them, lines that lead to their records, and nothing that is not committed."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from archived_pages import open_archive, page, revisit_of
from hypothesis import given
from hypothesis import strategies as st

from nephila.store.archive.reader import read
from nephila.store.archive.records import Unreadable, records
from nephila.store.cdxj import cdxj_line, surt_key, write_index
from nephila.store.folder import CrawlFolder


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.Example.ac.kr:8080/A/b/?y=2&x=1", "kr,ac,example:8080)/a/b?x=1&y=2"),
        ("http://example.com", "com,example)/"),
        ("https://example.com:443/", "com,example)/"),
        ("https://example.com:80/", "com,example:80)/"),
        ("http://someone@example.com/", "com,example)/"),
        ("http://www2.example.com/?", "com,example)/"),
        ("http://www.com/", "com)/"),
        ("http://wwwhat.org/", "org,wwwhat)/"),
        ("http://127.0.0.1:8480/x", "1,0,0,127:8480)/x"),
        ("http://[2001:DB8::1]:81/x", "[2001:db8::1]:81)/x"),
        ("http://example.com/a%20b%2525#part", "com,example)/a%20b%25"),
        ("http://example.com/%ea%b0%80?q=%EA%B0%80", "com,example)/%ea%b0%80?q=%ea%b0%80"),
        ("http://example.com/가", "com,example)/%ea%b0%80"),
    ],
)
def test_keys(url: str, key: str) -> None:
    assert surt_key(url) == key


@given(st.text())
def test_a_key_is_printable_ascii_without_spaces_whatever_the_url(text: str) -> None:
    for url in (text, "http://example.org/" + text, f"http://{text}/"):
        key = surt_key(url)
        assert key.isascii()
        assert " " not in key
        assert key.isprintable()


def parsed(line: str) -> tuple[str, str, dict[str, str]]:
    key, timestamp, entry = line.rstrip("\n").split(" ", 2)
    loaded: dict[str, Any] = json.loads(entry)
    return key, timestamp, loaded


def test_lines_agree_with_those_of_pywb(data: Path, tmp_path: Path) -> None:
    with tarfile.open(data / "warc" / "pywb_sample_archive.tar.gz") as archive:
        # Python before 3.11.4 has no filters; the file is our own.
        archive.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    ours: dict[tuple[str, str], tuple[str, str, dict[str, str]]] = {}
    for path in (tmp_path / "pywb" / "warcs").iterdir():
        try:
            for record in records(path, strict=False):
                if line := cdxj_line(record):
                    ours[path.name, str(record.offset)] = parsed(line)
        except Unreadable:
            continue
    equal, fewer_fields, post, unread = 0, 0, 0, 0
    for index in tmp_path.glob("pywb/cdx*/*.cdxj"):
        for line in index.read_text().splitlines():
            key, timestamp, entry = parsed(line)
            found = ours.get((entry["filename"], entry["offset"]))
            if found is None:
                unread += 1
            elif found == (key, timestamp, entry):
                equal += 1
            elif "__wb_method=post" in key:
                post += 1  # pywb puts the body of a POST into the key; Nephila never sends one
            else:
                assert found[:2] == (key, timestamp)
                assert entry.items() < found[2].items()
                fewer_fields += 1  # samples that were made without mime, status or digest
    assert (equal, fewer_fields, post) == (188, 5, 3)
    assert unread == 1  # missing-status-text.warc ends its lines with CR CR LF


def test_an_index_leads_to_every_committed_record_and_to_no_other(tmp_path: Path) -> None:
    # given two slots with several files, and pages behind the committed position
    folder = CrawlFolder.create(tmp_path)
    committed = {}
    for slot in (0, 1):
        writer = open_archive(folder.archive_of(slot), rotate_size=4_000)
        first = page(0)
        writer.append([first, *(page(number) for number in range(1, 12)), revisit_of(1, first)])
        writer.sync()
        assert writer.position is not None
        committed[slot] = writer.position
        writer.append([page(900 + slot)])
        writer.sync()
    # when the index is made
    count = write_index(folder, committed)
    # then it is sorted, complete, and each line leads to its record
    lines = folder.cdxj.read_text().splitlines()
    assert count == len(lines) == 26
    assert lines == sorted(lines)
    for line in lines:
        _, _, entry = parsed(line)
        stored = read(folder.archive_of(0) / entry["filename"], int(entry["offset"]))
        assert stored.url == entry["url"]
        assert stored.length == int(entry["length"])
        assert (entry["mime"] == "warc/revisit") == (stored.kind == "revisit")
    assert sorted(path.name for path in folder.archive.iterdir()) == ["agent-00", "agent-01", "index.cdxj"]
