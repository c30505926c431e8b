"""Edge lists in every form; what is malformed is refused with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nephila.errors import DamagedError, NephilaError, UsageError
from nephila.rank import edge_list
from nephila.rank.edge_list import Names, read_links
from nephila.rank.gathering import Rows, Spool, as_rows

pytestmark = pytest.mark.usefixtures("loops")


def all_of(path: Path, names: Names | None = None) -> list[tuple[int, int]]:
    return [
        (int(source), int(target))
        for sources, targets in read_links(path, names)
        for source, target in zip(sources, targets, strict=True)
    ]


def written(folder: Path, text: str | bytes, name: str = "links.txt") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "1\t2\n3\t4\n", "1 2\n3 4\n", "1,2\n3,4\n", "1;2\n3;4\n", "1, 2\n3, 4", "  1   2  \n\n3\t 4\t\n",
        "# a comment\n% another\n1 2\r\n3 4\r\n", "source,target\n1,2\n3,4\n",
        "From\tTo\tweight\n1\t2\t0.5\n3\t4\t1e9\n",
        "\ufeff1 2\n3 4\n", '"source";"target"\n1;2\n3;4\n', "source target\n1 2\n3 4\n", "1 2 x\n3 4 y\n",
        '"1","2"\n"3","4"\n', '"1";2\n3;"4"\n',
    ],
)  # fmt: skip
def test_every_form_of_line_is_read(text: str, tmp_path: Path) -> None:
    assert all_of(written(tmp_path, text)) == [(1, 2), (3, 4)]


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("1 2\n3\n", 2, "two numbers"), ("1 2\n3 x\n", 2, "two numbers"), ("1 2\n-3 4\n", 2, "two numbers"),
        ("#\n1 2\n3 4 5\n", 3, "columns"), ("1 2 3\n4 5\n", 2, "columns"), ("1.5 2\n", 1, "two numbers"),
        ("1 2\n3 99999999999999999999\n", 2, "too large"), ("1 2\n\n\n0x1 2\n", 4, "two numbers"),
        ("a b\n1 2\n", 1, "two numbers"), ('1,2\n"3,4\n', 2, "two numbers"), ('1,2\n3"4,5\n', 2, "two numbers"),
        ("1 2\r3 4\n", 1, "two numbers"), ("1 2\n3 \xb2\n", 2, "two numbers"),
    ],
)  # fmt: skip
def test_a_malformed_line_is_refused_with_its_number(text: str, line: int, why: str, tmp_path: Path) -> None:
    with pytest.raises(NephilaError, match=rf"line {line}, .*{why}"):
        all_of(written(tmp_path, text))


def test_words_in_quotation_marks_may_hold_commas_and_blanks(tmp_path: Path) -> None:
    names = Names()
    text = 'source,target\n"http://a.org/x,y","a ""word"""\nplain,"http://a.org/x,y"\n'
    assert all_of(written(tmp_path, text), names) == [(0, 1), (2, 0)]
    assert names.texts() == ["http://a.org/x,y", 'a "word"', "plain"]
    with pytest.raises(NephilaError, match=r"line 2, is not two words"):
        all_of(written(tmp_path, 'a,b\n"c,d\n'), Names())


def test_a_malformed_line_is_counted_across_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_list, "PIECE_BYTES", 100)
    text = "".join(f"{number} {number + 1}\n" for number in range(1000))
    assert len(all_of(written(tmp_path, text))) == 1000
    with pytest.raises(NephilaError, match=r"line 1001, is not two numbers.*'oops'"):
        all_of(written(tmp_path, text + "oops\n"))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=st.lists(st.tuples(st.integers(0, 2**62), st.integers(0, 2**62)), max_size=50), packed=st.booleans())
def test_what_is_written_is_read(pairs: list[tuple[int, int]], packed: bool, tmp_path: Path) -> None:
    text = "".join(f"{source}\t{target}\n" for source, target in pairs).encode()
    assert all_of(written(tmp_path, gzip.compress(text) if packed else text)) == pairs


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(text: bytes, tmp_path: Path) -> None:
    try:
        all_of(written(tmp_path, text))
    except NephilaError as refusal:
        assert "line" in str(refusal) or "gzip" in str(refusal)


def test_damaged_gzip_is_told(tmp_path: Path) -> None:
    packed = gzip.compress(b"1 2\n" * 1000)
    with pytest.raises(NephilaError, match="gzip"):
        all_of(written(tmp_path, packed[:-10]))


def test_words_are_ids_too(tmp_path: Path) -> None:
    names = Names()
    links = all_of(written(tmp_path, "# x\n/a b.html\t/c\n/c\t/a b.html\n/c\t한글\n"), names)
    assert links == [(0, 1), (1, 0), (1, 2)]
    assert names.texts() == ["/a b.html", "/c", "한글"]
    with pytest.raises(NephilaError, match="line 2, is not two words"):
        all_of(written(tmp_path, "a\tb\nc\n"), Names())


def test_parquet_files_and_folders_are_read(tmp_path: Path) -> None:
    # given the columns of the links table, with a target that leads elsewhere in the end
    table = pa.table({"source": [1, 3], "target": [9, 4], "resolved": [2, 4], "kind": ["a", "f"]})
    (tmp_path / "links").mkdir()
    for number in range(2):
        pq.write_table(table, tmp_path / "links" / f"part-{number}.parquet")
    # then `resolved` is what counts
    assert all_of(tmp_path / "links" / "part-0.parquet") == [(1, 2), (3, 4)]
    assert all_of(tmp_path / "links") == [(1, 2), (3, 4)] * 2


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({"source": [1], "goal": [2]}, "`target` are needed"), ({"source": [1.5], "target": [2]}, "whole numbers"),
        ({"source": [1, None], "target": [2, 3]}, "without an id"), ({"source": [-1], "target": [2]}, "outside 0"),
    ],
)  # fmt: skip
def test_a_malformed_parquet_file_is_refused(table: dict[str, list[float]], why: str, tmp_path: Path) -> None:
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    with pytest.raises(NephilaError, match=why):
        all_of(tmp_path / "a.parquet")


def test_what_is_no_file_or_no_parquet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file"):
        all_of(tmp_path / "none")
    with pytest.raises(DamagedError, match="not a Parquet file"):
        all_of(written(tmp_path, "1 2\n", "a.parquet"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(NephilaError, match="no Parquet file"):
        all_of(tmp_path / "empty")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ids=st.lists(st.one_of(st.integers(0, 50), st.integers(0, 2**62)), min_size=1, max_size=20, unique=True),
    links=st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=60),
    limit=st.sampled_from([1, 1 << 20]), by_block=st.booleans(),
)  # fmt: skip
def test_ids_with_any_gaps_become_rows_and_come_back(
    ids: list[int], links: list[tuple[int, int]], limit: int, by_block: bool, tmp_path: Path
) -> None:
    # given links between ids with gaps, in memory or in a file
    pairs = [(ids[a % len(ids)], ids[b % len(ids)]) for a, b in links]
    with Spool(tmp_path, limit) as spool:
        for begin in range(0, len(pairs), 7):
            piece = np.array(pairs[begin : begin + 7], np.int64)
            spool.fill([(piece[:, 0], piece[:, 1])])
        rows = Rows.of_spool(spool)
        if by_block:
            rows, _ = rows.in_order_of([rows.ids % 3])
        found = [
            (int(rows.ids[source]), int(rows.ids[target]))
            for sources, targets in as_rows(spool.drain(), rows)
            for source, target in zip(sources, targets, strict=True)
        ]
    # then rows are the ids that occur, in order, and every link is what it was
    true = sorted({number for pair in pairs for number in pair}, key=lambda n: (n % 3, n) if by_block else (0, n))
    assert rows.ids.tolist() == true
    assert found == pairs
