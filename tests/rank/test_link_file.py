"""The link file: what is written is read, whatever the order, the buckets or the loops; damage is told."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from graphs import S3_EXAMPLE, dense_pagerank, file_of, links_of, random_edges

from nephila.errors import DamagedError, UsageError
from nephila.rank import kernel
from nephila.rank.gauss_seidel import solve
from nephila.rank.link_building import Built, build
from nephila.rank.link_file import Direction, LinkFile, Links, layout
from nephila.rank.pagerank import Problem, Pulling
from nephila.rank.stopping import L1, Rounds

Edges = list[tuple[int, int]]


def pieces(edges: Edges, size: int) -> list[tuple[np.ndarray, np.ndarray]]:
    pairs = np.array(edges, np.uint32).reshape(-1, 2)
    return [(pairs[i : i + size, 0].copy(), pairs[i : i + size, 1].copy()) for i in range(0, len(pairs), size)]


def rows_of(file: LinkFile) -> list[list[int]]:
    return [file.links.of(page).tolist() for page in range(file.links.pages)]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edges=st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=200),
    size=st.integers(1, 50), limit=st.sampled_from([1, 300, 1 << 20]), way=st.sampled_from(Direction),
)  # fmt: skip
def test_every_distinct_link_is_in_its_row_once(
    edges: Edges, size: int, limit: int, way: Direction, loops: str, tmp_path: Path
) -> None:
    # given links in any order, repeated and to themselves, with memory for all or for hardly any
    built = build(tmp_path / "a.links", np.arange(30) * 7, pieces(edges, size), limit, way)
    file = LinkFile.open(tmp_path / "a.links")
    # then the rows are exactly the distinct links
    true = {(source, target) for source, target in edges if source != target}
    row, end = (1, 0) if way is Direction.IN else (0, 1)
    assert rows_of(file) == [sorted(link[end] for link in true if link[row] == page) for page in range(30)]
    assert file.links.degrees.tolist() == [sum(source == page for source, _ in true) for page in range(30)]
    assert file.ids.tolist() == [7 * page for page in range(30)]
    selves = sum(source == target for source, target in edges)
    assert (built.links, built.self_links, built.repeated) == (len(true), selves, len(edges) - len(true) - selves)


def test_a_limit_makes_buckets_and_not_another_file(loops: str, tmp_path: Path) -> None:
    edges = random_edges(1, 3000, 20_000)
    roomy = build(tmp_path / "a.links", np.arange(3000), pieces(edges, 1000), 1 << 30)
    narrow = build(tmp_path / "b.links", np.arange(3000), pieces(edges, 1000), 12 * 5000)
    assert (roomy.buckets, narrow.buckets) == (1, 256)
    assert (tmp_path / "a.links").read_bytes() == (tmp_path / "b.links").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.links", "b.links"]


def test_a_bucket_may_hold_many_links(tmp_path: Path) -> None:
    # given more links to a few pages than a block of waiting links holds, and next to no memory
    chance = np.random.default_rng(2)
    count = 1_300_000
    sources, targets = chance.integers(0, 200_000, count).astype(np.uint32), chance.integers(0, 5, count)
    parts = [(sources[i::3].copy(), targets[i::3].astype(np.uint32)) for i in range(3)]
    roomy = build(tmp_path / "a.links", np.arange(200_000), parts, 1 << 30)
    narrow = build(tmp_path / "b.links", np.arange(200_000), parts, 1000)
    assert (roomy.buckets, narrow.buckets) == (1, 256)
    assert (tmp_path / "a.links").read_bytes() == (tmp_path / "b.links").read_bytes()


def test_long_rows_are_sorted_too(loops: str, tmp_path: Path) -> None:
    edges = [(source, 0) for source in reversed(range(1, 5000))] * 2
    file = file_of(edges, 5000, tmp_path)
    assert file.links.of(0).tolist() == list(range(1, 5000))


def test_the_bytes_are_those_of_the_document(tmp_path: Path) -> None:
    # given the paper's example
    file_of(S3_EXAMPLE, 5, tmp_path)
    raw = (tmp_path / "pages.links").read_bytes()
    # then every column lies where docs/link-file.md says
    assert raw[:64] == b"NEPHLINK" + struct.pack("<IIQQ32x", 1, 0, 5, 10)
    assert struct.unpack_from("<5q", raw, 64) == (0, 1, 2, 3, 4)
    assert struct.unpack_from("<5I", raw, 128) == (1, 4, 1, 2, 2)
    assert struct.unpack_from("<6Q", raw, 192) == (0, 1, 2, 6, 8, 10)
    assert struct.unpack_from("<10I", raw, 256) == (1, 3, 0, 1, 3, 4, 1, 4, 1, 2)
    assert len(raw) == 296


@pytest.mark.parametrize(
    ("place", "value", "why"),
    [(0, b"X", "begin"), (8, b"\x09", "begin"), (24, b"\x0b", "bytes instead"), (256, b"\x05", "outside"),
     (200, b"\x63", "out of order")],
)  # fmt: skip
def test_a_damaged_file_is_refused(place: int, value: bytes, why: str, tmp_path: Path) -> None:
    file_of(S3_EXAMPLE, 5, tmp_path)
    path = tmp_path / "pages.links"
    raw = bytearray(path.read_bytes())
    raw[place : place + 1] = value
    path.write_bytes(raw)
    with pytest.raises(DamagedError, match=why):
        LinkFile.open(path)


def test_a_file_that_was_cut_or_is_not_there_is_refused(tmp_path: Path) -> None:
    file_of(S3_EXAMPLE, 5, tmp_path)
    path = tmp_path / "pages.links"
    for size in (0, 40, 295):
        path.write_bytes(path.read_bytes()[:size])
        with pytest.raises(DamagedError):
            LinkFile.open(path)
    with pytest.raises(UsageError, match="run `nephila rank` first"):
        LinkFile.open(tmp_path / "none")


def test_more_links_than_two_to_the_31_have_their_places(tmp_path: Path) -> None:
    # given the layout of 3 billion links, and rows whose links lie behind the 2^32nd
    places = layout(10**9, 3 * 10**9)
    assert places.size_bytes - places.ends == 12 * 10**9
    begin = 2**32 + 5
    offsets = np.array([begin, begin + 2, begin + 3], np.uint64)
    sources = np.array([1, 0, 0], np.uint32)
    links = Links(
        offsets, sources, np.array([2, 1], np.uint32), read=lambda first, last: sources[first - begin : last - begin]
    )
    # then a kernel that is given the part knows where it is
    sums, own = np.empty(2), np.empty(2)
    part, base = links.part(0, 2)
    kernel.LOOPS.pull(offsets, part, base, np.array([0.25, 0.5]), sums, 0, 2, 8)
    assert sums.tolist() == [0.75, 0.25]
    kernel.LOOPS.sweep(offsets, part, base, np.array([0.25, 0.5]), own, links.degrees, None, 0.0, 1.0, 0, 2, 8)
    # the twin takes the rows of a stride at once, so its second row does not see the first one's new value yet
    assert own.tolist() == ([0.375, 0.375] if kernel.COMPILED else [0.375, 0.25])


def test_rows_outside_the_links_are_refused_by_both_loops(loops: str) -> None:
    with pytest.raises(ValueError, match="outside"):
        kernel.LOOPS.pull(np.array([0, 5], np.uint64), np.zeros(2, np.uint32), 0, np.zeros(1), np.zeros(1), 0, 1, 8)


@pytest.fixture
def many_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small graph is ranked as if it were a large one, in ranges and threads."""
    monkeypatch.setattr("nephila.rank.gauss_seidel.FEW_LINKS", 1 << 10)
    monkeypatch.setattr("nephila.rank.pagerank.FEW_LINKS", 1 << 10)


@pytest.mark.usefixtures("many_ranges")
def test_links_read_piece_by_piece_give_the_same_ranks(tmp_path: Path) -> None:
    file_of(random_edges(1, 20_000, 150_000, 0.1), 20_000, tmp_path)
    problem = Problem(0.85, L1(1e-10) | Rounds(500))
    mapped = solve(LinkFile.open(tmp_path / "pages.links").links, problem)
    streamed = solve(LinkFile.open(tmp_path / "pages.links", streamed=True).links, problem)
    assert (mapped.ranks == streamed.ranks).all()
    assert mapped.residuals == streamed.residuals


@pytest.mark.usefixtures("many_ranges")
def test_ranges_and_threads_give_the_ranks_of_the_dense_solution(loops: str, tmp_path: Path) -> None:
    edges = random_edges(4, 900, 9000, 0.2)
    ranks = solve(links_of(edges, 900, tmp_path), Problem(0.85, L1(1e-13) | Rounds(500))).ranks
    assert ranks == pytest.approx(dense_pagerank(edges, 900, 0.85), abs=1e-12)


@pytest.mark.usefixtures("many_ranges")
def test_threads_do_not_change_a_bit_of_the_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    links = links_of(random_edges(1, 20_000, 150_000, 0.1), 20_000, tmp_path)
    problem = Problem(0.85, L1(1e-10) | Rounds(500))
    some = [solve(links, problem).ranks for _ in range(2)]
    monkeypatch.setattr("nephila.rank.gauss_seidel.THREADS", 1)
    monkeypatch.setattr("nephila.rank.pagerank.THREADS", 1)
    assert (some[0] == some[1]).all()
    assert (solve(links, problem).ranks == some[0]).all()


def test_both_loops_pull_the_same_sums(tmp_path: Path, loops: str) -> None:
    edges = random_edges(2, 3000, 20_000)
    links = links_of(edges, 3000, tmp_path)
    z = np.random.default_rng(0).random(3000)
    expected = np.zeros(3000)
    for source, target in {edge for edge in edges if edge[0] != edge[1]}:
        expected[target] += z[source]
    with Pulling(links, np.float64) as pulling:
        assert pulling.sums(z) == pytest.approx(expected, rel=1e-12)


def test_built_counts_nothing_for_no_links(tmp_path: Path) -> None:
    assert build(tmp_path / "a.links", np.arange(3), [], 1) == Built(0, 0, 0, 1)
    assert rows_of(LinkFile.open(tmp_path / "a.links")) == [[], [], []]


def test_the_example_of_the_document_reads_a_link_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # given the lines that docs/link-file.md shows
    text = (Path(__file__).parents[2] / "docs" / "link-file.md").read_text(encoding="utf-8")
    lines = [line.removeprefix("    ") for line in text.splitlines() if line.startswith("    ")]
    file = file_of(random_edges(3, 77, 500), 77, tmp_path)
    # when they are run beside a link file
    monkeypatch.chdir(tmp_path)
    names: dict[str, np.ndarray] = {}
    exec("\n".join(lines), names)
    # then they find its columns
    assert (names["ids"] == file.ids).all()
    assert (names["offsets"] == file.links.offsets).all()
    assert (names["ends"] == file.links.sources).all()


_BUILD_IN_LITTLE_MEMORY = """
import sys
from pathlib import Path
import numpy as np
from nephila.rank.link_building import build

def pieces():
    chance = np.random.default_rng(1)
    for _ in range(96):
        yield tuple(chance.integers(0, 100_000, 1 << 16, dtype=np.uint32) for _ in range(2))

def peak_mib():
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1024

before = peak_mib()
built = build(Path(sys.argv[1]), np.arange(100_000), pieces(), int(sys.argv[2]))
print(built.buckets, peak_mib() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_a_memory_limit_is_kept(tmp_path: Path) -> None:
    # given 6.3 million links, 72 MiB at 12 bytes each, and a limit of 6 MiB or of none
    peaks = {}
    for limit in (6 << 20, 1 << 30):
        command = [sys.executable, "-c", _BUILD_IN_LITTLE_MEMORY, str(tmp_path / "a.links"), str(limit)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
        buckets, peak = done.stdout.split()
        peaks[int(buckets)] = float(peak)
    # then little more than the limit was used, and without it not more than 16 bytes a link; the twin sorts with numpy
    # and needs more where it may
    assert peaks[256] < 24
    assert 48 < peaks[1] < (96 if kernel.COMPILED else 1024)
