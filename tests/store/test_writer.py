"""The archive's end: groups are whole or absent, whatever kills, fills or darkens the machine."""

from __future__ import annotations

import gzip
import subprocess
from pathlib import Path

import pytest
from archived_pages import open_archive, page, urls_in
from failing_disks import ForgetfulDisk, FullDisk

from nephila.config.sections import Archive
from nephila.errors import DamagedError, DiskFullError
from nephila.store.archive.exchange import Position, Software
from nephila.store.archive.names import archive_files
from nephila.store.archive.verify import verify
from nephila.store.archive.writer import ArchiveWriter


def committed_after(writer: ArchiveWriter) -> Position:
    writer.sync()
    assert writer.position is not None
    return writer.position


def test_files_are_named_by_slot_and_number_alone(tmp_path: Path) -> None:
    writer = open_archive(tmp_path, rotate_size=1)
    writer.append([page(1), page(2)])
    assert [path.name for path in archive_files(tmp_path)] == [
        "nephila-agent-00-000001.warc.gz",
        "nephila-agent-00-000002.warc.gz",
    ]


def test_an_archive_without_pages_has_no_file(tmp_path: Path) -> None:
    writer = open_archive(tmp_path)
    assert writer.append([]) == []
    assert writer.position is None
    assert archive_files(tmp_path) == ()


def test_a_file_is_closed_at_its_size_and_the_next_begins_with_a_warcinfo(tmp_path: Path) -> None:
    writer = open_archive(tmp_path, rotate_size=5_000)
    for number in range(40):
        writer.append([page(number)])
    writer.sync()
    files = archive_files(tmp_path)
    assert len(files) > 3
    assert all(path.stat().st_size >= 5_000 for path in files[:-1])
    assert all(path.stat().st_size < 5_000 + 3_000 for path in files)
    assert all(verify(path).problems == () for path in files)
    assert urls_in(tmp_path, writer.position) == [f"http://example.org/{number}" for number in range(40)]


def test_a_group_over_several_files_is_placed_where_it_is_found(tmp_path: Path) -> None:
    writer = open_archive(tmp_path, rotate_size=3_000)
    places = writer.append([page(number) for number in range(12)])
    assert len({place.file for place in places}) > 2
    for place in places:
        member = (tmp_path / place.file).read_bytes()[place.offset : place.offset + place.length]
        assert gzip.decompress(member).startswith(b"WARC/1.1\r\nWARC-Type: response\r\n")


def test_what_was_cut_at_any_byte_is_gone_after_the_next_start(tmp_path: Path) -> None:
    writer = open_archive(tmp_path)
    writer.append([page(1)])
    committed = committed_after(writer)
    writer.append([page(2)])
    writer.close()
    file = tmp_path / committed.file
    whole = file.read_bytes()
    first_member = verify(file, committed.offset)
    for size in range(committed.offset, len(whole) + 1):
        file.write_bytes(whole[:size])
        open_archive(tmp_path, committed).close()
        assert file.read_bytes() == whole[: committed.offset]
    assert first_member.problems == ()


def test_a_resumed_archive_goes_on_in_the_same_file(tmp_path: Path) -> None:
    writer = open_archive(tmp_path)
    writer.append([page(1)])
    committed = committed_after(writer)
    writer.append([page(2)])
    writer.close()
    resumed = open_archive(tmp_path, committed)
    resumed.append([page(3)])
    position = committed_after(resumed)
    assert urls_in(tmp_path, position) == ["http://example.org/1", "http://example.org/3"]
    assert verify(tmp_path / position.file).problems == ()
    assert position.file == committed.file


def test_files_begun_after_the_committed_one_are_removed(tmp_path: Path) -> None:
    writer = open_archive(tmp_path, rotate_size=2_000)
    writer.append([page(1)])
    committed = committed_after(writer)
    writer.append([page(number) for number in range(2, 9)])
    writer.close()
    assert len(archive_files(tmp_path)) > 2
    open_archive(tmp_path, committed).close()
    assert [path.name for path in archive_files(tmp_path)] == [committed.file]


def test_an_archive_without_a_committed_position_is_set_aside_not_deleted(tmp_path: Path) -> None:
    writer = open_archive(tmp_path)
    writer.append([page(1)])
    writer.close()
    before = archive_files(tmp_path)[0].read_bytes()
    open_archive(tmp_path, None).close()
    assert archive_files(tmp_path) == ()
    assert (tmp_path / "nephila-agent-00-000001.warc.gz.uncommitted").read_bytes() == before


@pytest.mark.parametrize("missing_bytes", [1, 10_000_000])
def test_an_archive_shorter_than_committed_is_damage(tmp_path: Path, missing_bytes: int) -> None:
    writer = open_archive(tmp_path)
    writer.append([page(1)])
    committed = committed_after(writer)
    writer.close()
    file = tmp_path / committed.file
    file.write_bytes(file.read_bytes()[: max(0, committed.offset - missing_bytes)])
    with pytest.raises(DamagedError, match="nephila repair"):
        open_archive(tmp_path, committed)


def test_a_missing_archive_file_is_damage(tmp_path: Path) -> None:
    with pytest.raises(DamagedError, match="missing"):
        open_archive(tmp_path, Position("nephila-agent-00-000001.warc.gz", 10))


@pytest.mark.parametrize("refuse_at", range(1, 13))
def test_a_full_disk_leaves_no_half_group_and_the_group_can_be_written_later(tmp_path: Path, refuse_at: int) -> None:
    # given groups that also rotate, and a disk that is full at the n-th write
    disk = FullDisk(refuse_at)
    writer = open_archive(tmp_path, rotate_size=4_000, disk=disk)
    groups = [[page(10 * group + number) for number in range(5)] for group in range(4)]
    refusals = 0
    # when each group is tried again until it is written
    for group in groups:
        before = writer.position
        try:
            writer.append(group)
        except DiskFullError as refusal:
            refusals += 1
            assert "make room" in str(refusal)
            assert writer.position == before
            assert all(verify(path).problems == () for path in archive_files(tmp_path))
            writer.append(group)
    # then nothing is missing, doubled or broken
    writer.sync()
    assert refusals == (1 if disk.writes >= refuse_at else 0)
    assert refusals == 1 or refuse_at > 8
    assert urls_in(tmp_path, writer.position) == [exchange.url for group in groups for exchange in group]
    assert all(verify(path).problems == () for path in archive_files(tmp_path))


@pytest.mark.parametrize("seed", range(120))
def test_a_power_cut_takes_nothing_that_was_committed(tmp_path: Path, seed: int) -> None:
    # given an archive whose last group, or its sync, was under way when the power went
    disk = ForgetfulDisk()
    writer = open_archive(tmp_path, rotate_size=3_000, disk=disk)
    committed, urls = None, []
    for group in range(1 + seed % 5):
        exchanges = [page(10 * group + number) for number in range(1 + seed % 7)]
        writer.append(exchanges)
        writer.sync()
        committed, urls = writer.position, urls + [exchange.url for exchange in exchanges]
    writer.append([page(900 + number) for number in range(seed % 9)])
    disk.cut_power(seed)
    # when the archive is opened at the committed position, and the power goes again meanwhile
    second = ForgetfulDisk()
    open_archive(tmp_path, committed, 3_000, second).close()
    second.cut_power(seed + 1)
    resumed = open_archive(tmp_path, committed, 3_000)
    resumed.append([page(5_000)])
    resumed.sync()
    # then exactly what was committed is there, whole, and writing goes on
    assert urls_in(tmp_path, committed) == urls
    assert urls_in(tmp_path, resumed.position) == [*urls, "http://example.org/5000"]
    assert all(verify(path).problems == () for path in archive_files(tmp_path))


def test_without_the_sync_a_power_cut_would_be_noticed(tmp_path: Path) -> None:
    # The simulation must be able to fail: a writer that commits without syncing loses pages in some of the cuts.
    lost = 0
    for seed in range(20):
        directory = tmp_path / str(seed)
        disk = ForgetfulDisk()
        writer = ArchiveWriter(directory, 0, Archive(sync=False), Software("x"), None, disk)
        writer.append([page(number) for number in range(3)])
        writer.sync()
        committed = writer.position
        disk.cut_power(seed)
        try:
            open_archive(directory, committed)
            lost += bool(verify(directory / committed.file).problems) if committed else 0
        except DamagedError:
            lost += 1
    assert lost > 5


def test_gzip_finds_nothing_wrong(tmp_path: Path) -> None:
    writer = open_archive(tmp_path, rotate_size=20_000)
    writer.append([page(number) for number in range(50)])
    writer.sync()
    for path in archive_files(tmp_path):
        subprocess.run(["gzip", "-t", str(path)], check=True)
