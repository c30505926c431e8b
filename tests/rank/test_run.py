"""The front door: real graphs against their published ranks, restarts, teleports, explanations, the command line."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from graphs import dense_pagerank, links_of, random_edges

from nephila.cli import run as command_line
from nephila.config.sections import Rank
from nephila.engine import Engine
from nephila.errors import DamagedError, NephilaError, UsageError
from nephila.rank.edge_list import IdKind
from nephila.rank.pagerank import Problem, power
from nephila.rank.run import explain, run_graph, run_graph_compare
from nephila.rank.stopping import Rounds


def ranks_in(folder: Path) -> dict[int, float]:
    table = pq.read_table(folder / "rank" / "ranks.parquet")
    return dict(zip(table["page_id"].to_pylist(), table["rank"].to_pylist(), strict=True))


def names_in(folder: Path) -> dict[str, float]:
    table = pq.read_table(folder / "rank" / "ranks.parquet")
    return dict(zip(table["name"].to_pylist(), table["rank"].to_pylist(), strict=True))


def reference(path: Path) -> dict[int, float]:
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    return {int(words[0]): float(words[1]) for words in (line.split() for line in lines if line[0] != "#")}


@pytest.mark.parametrize("method", ["pagerank", "power"])
@pytest.mark.parametrize("graph", ["wiki-Vote", "p2p-Gnutella06"])
def test_a_real_graph_has_its_reference_ranks(
    graph: str, method: str, data: Path, loops: str, inline: Engine, tmp_path: Path
) -> None:
    settings = Rank(tolerance=1e-12, method=method)  # type: ignore[arg-type]
    report = run_graph(settings, tmp_path, data / "graphs" / f"{graph}.txt.gz", inline)
    true, found = reference(data / "graphs" / f"{graph}.pagerank.tsv.gz"), ranks_in(tmp_path)
    assert found.keys() == true.keys()
    assert sum(abs(found[page] - true[page]) for page in true) < 1e-10
    assert abs(sum(found.values()) - 1) < 1e-12
    assert report.dangling == {"wiki-Vote": 1005, "p2p-Gnutella06": 4978}[graph]
    assert report.links == {"wiki-Vote": 103_689, "p2p-Gnutella06": 31_525}[graph]


@pytest.mark.parametrize(
    ("graph", "answer", "rounds", "within"),
    [("pr__dir-input", "pr__dir-output", 400, 1e-15), ("pr__undir-input", "pr__undir-output", 26, 1e-9),
     ("example__example-directed-input", "example__example-directed-PR", 2, 1e-16),
     ("example__example-undirected-input", "example__example-undirected-PR", 2, 1e-16)],
)  # fmt: skip
def test_the_validation_graphs_have_their_published_ranks(
    graph: str, answer: str, rounds: int, within: float, data: Path, tmp_path: Path
) -> None:
    # given an adjacency list: a page, then the pages it links to
    folder = data / "graphs" / "ldbc_graphalytics"
    rows = [[int(word) for word in line.split()] for line in (folder / graph).read_text().splitlines() if line.strip()]
    numbers = {page: place for place, page in enumerate(sorted({page for row in rows for page in row}))}
    edges = [(numbers[row[0]], numbers[target]) for row in rows for target in row[1:]]
    ranks = power(links_of(edges, len(numbers), tmp_path), Problem(0.85, Rounds(rounds))).ranks
    # then the ranks after so many rounds are the published ones
    answers = [line.split() for line in (folder / answer).read_text().splitlines() if line.strip()]
    assert {page: ranks[place] for page, place in numbers.items()} == pytest.approx(
        {int(page): float(rank) for page, rank in answers}, abs=within
    )


@pytest.mark.parametrize("site", ["httrack-doc", "anarchism", "mplayer-doc"])
def test_a_real_site_has_its_reference_ranks(site: str, data: Path, inline: Engine, tmp_path: Path) -> None:
    run_graph(Rank(tolerance=1e-13), tmp_path, data / "sites" / f"{site}_links.tsv.gz", inline, kind=IdKind.TEXT)
    lines = gzip.decompress((data / "sites" / f"{site}_urls.tsv.gz").read_bytes()).decode().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    true = {row[0]: float(row[2]) for row in rows if row[1] == "200" and len(row) > 2 and row[2]}
    found = names_in(tmp_path)
    assert found.keys() <= true.keys()
    if found.keys() == true.keys():
        assert found == pytest.approx(true, abs=1e-12)
    else:  # pages that no link leads to or from are not in an edge list
        assert all(found[a] < found[b] for a, b in zip(found, found, strict=True) if true[a] < true[b] - 1e-9)


def edge_file(folder: Path, edges: list[tuple[int, int]], name: str = "links.tsv") -> Path:
    path = folder / name
    path.write_text("".join(f"{source}\t{target}\n" for source, target in edges))
    return path


def test_an_empty_edge_list_has_an_empty_table(inline: Engine, tmp_path: Path) -> None:
    report = run_graph(Rank(), tmp_path / "out", edge_file(tmp_path, []), inline)
    assert (report.pages, report.links, report.top, ranks_in(tmp_path / "out")) == (0, 0, (), {})


def test_only_self_links_leave_pages_without_links(inline: Engine, tmp_path: Path) -> None:
    report = run_graph(Rank(), tmp_path / "out", edge_file(tmp_path, [(7, 7), (9, 9), (9, 9)]), inline)
    assert (report.links, report.self_links_dropped, report.dangling) == (0, 3, 2)
    assert ranks_in(tmp_path / "out") == {7: 0.5, 9: 0.5}


def test_a_rerun_starts_from_the_last_ranks(inline: Engine, tmp_path: Path) -> None:
    edges = random_edges(1, 2000, 12_000, 0.1)
    settings = Rank(tolerance=1e-10)
    first = run_graph(settings, tmp_path, edge_file(tmp_path, edges), inline)
    # when a few links and a page are new
    more = [*edges, (3, 2001), (2001, 5), (8, 9)]
    again = run_graph(settings, tmp_path, edge_file(tmp_path, more), inline)
    restarted = ranks_in(tmp_path)
    fresh = run_graph(Rank(tolerance=1e-10, restart=False), tmp_path / "new", edge_file(tmp_path, more), inline)
    # then fewer rounds give the same ranks
    assert (first.restarted, again.restarted, fresh.restarted) == (False, True, False)
    assert again.rounds < fresh.rounds
    assert restarted == pytest.approx(ranks_in(tmp_path / "new"), abs=1e-9)


def test_ranks_are_written_with_what_is_known_of_sites(inline: Engine, tmp_path: Path) -> None:
    # given ids that are URLs of two sites of one domain, and one of another
    urls = ["http://a.example.org/", "http://a.example.org/x", "http://b.example.org/", "https://other.net/"]
    links = [(0, 1), (1, 0), (1, 2), (2, 0), (3, 0), (0, 3)]
    path = tmp_path / "urls.tsv"
    path.write_text("".join(f"{urls[a]}\t{urls[b]}\n" for a, b in links))
    report = run_graph(Rank(tolerance=1e-13), tmp_path, path, inline, kind=IdKind.TEXT)
    # then local ranks sum to 1 in each site, and those of sites and domains are sums
    rows = {row["name"]: row for row in pq.read_table(tmp_path / "rank" / "ranks.parquet").to_pylist()}
    true = dict(zip(urls, dense_pagerank(links, 4, 0.85), strict=True))
    assert {name: row["rank"] for name, row in rows.items()} == pytest.approx(true, abs=1e-12)
    assert [rows[url]["local_rank"] for url in urls] == pytest.approx([0.5, 0.5, 1, 1])
    assert rows[urls[0]]["site_rank"] == pytest.approx(true[urls[0]] + true[urls[1]])
    assert rows[urls[2]]["domain_rank"] == pytest.approx(sum(true[url] for url in urls[:3]))
    assert (rows[urls[0]]["in_links"], rows[urls[0]]["out_links"]) == (3, 2)
    assert report.top[0].name == urls[0]
    assert report.top_sites[0].rank == pytest.approx(true[urls[0]] + true[urls[1]])
    assert sum(one.pages for one in report.distribution) == 4


def test_blocks_of_a_file_serve_every_method(inline: Engine, tmp_path: Path) -> None:
    edges = random_edges(2, 60, 400, 0.1)
    pages = sorted({page for edge in edges for page in edge})
    blocks = edge_file(tmp_path, [(page, page % 5) for page in pages], "blocks.tsv")
    graph = edge_file(tmp_path, edges)
    run_graph(Rank(method="blocks", tolerance=1e-13), tmp_path, graph, inline, blocks_file=blocks)
    by_blocks = ranks_in(tmp_path)
    run_graph(Rank(tolerance=1e-13, restart=False), tmp_path / "plain", graph, inline)
    assert by_blocks == pytest.approx(ranks_in(tmp_path / "plain"), abs=1e-12)
    report = run_graph_compare(Rank(), tmp_path, graph, inline, blocks_file=blocks)
    assert [row.method for row in report.methods] == [
        "in-degree", "site rank spread", "pagerank", "power", "blockrank", "blockrank-sized", "blockrank-start",
        "blocks",
    ]  # fmt: skip
    assert report.blocks == 5
    with pytest.raises(NephilaError, match="to which block"):
        run_graph(Rank(), tmp_path, graph, inline, blocks_file=edge_file(tmp_path, [(0, 1)], "few.tsv"))


def test_a_block_file_may_name_more_ids_than_there_are(inline: Engine, tmp_path: Path) -> None:
    # given ids with gaps, and blocks of ids in the gaps and beyond
    graph = edge_file(tmp_path, [(2, 5), (5, 9), (9, 2)])
    blocks = edge_file(tmp_path, [(2, 1), (3, 8), (5, 1), (6, 8), (9, 2), (10, 8), (10**6, 8)], "blocks.tsv")
    report = run_graph(Rank(method="blocks"), tmp_path, graph, inline, blocks_file=blocks)
    # then every page is in the block of its own line
    assert {one.page_id: round(one.rank, 9) for one in report.top_sites} == {1: round(2 / 3, 9), 2: round(1 / 3, 9)}


def test_words_name_sites_domains_and_blocks(inline: Engine, tmp_path: Path) -> None:
    urls = ["http://a.example.org/", "http://b.example.org/x", "http://other.net/"]
    path = tmp_path / "urls.tsv"
    path.write_text(f"{urls[0]}\t{urls[1]}\n{urls[1]}\t{urls[0]}\n{urls[2]}\t{urls[0]}\n")
    report = run_graph(Rank(), tmp_path, path, inline, kind=IdKind.TEXT)
    assert report.top_sites[0].name == "http://a.example.org"
    assert [one.name for one in report.top_domains] == ["example.org", "other.net"]
    (tmp_path / "blocks.tsv").write_text("".join(f"{url}\t{name}\n" for url, name in zip(urls, "NNM", strict=True)))
    given = {"kind": IdKind.TEXT, "blocks_file": tmp_path / "blocks.tsv"}
    assert [one.name for one in run_graph(Rank(), tmp_path, path, inline, **given).top_sites] == ["N", "M"]
    (tmp_path / "blocks.tsv").write_text(f"{urls[0]}\tN\n")
    with pytest.raises(NephilaError, match="which block 'http"):
        run_graph(Rank(), tmp_path, path, inline, **given)


def test_a_teleport_file_and_topics_make_ranks_of_their_own(inline: Engine, tmp_path: Path) -> None:
    edges = random_edges(4, 40, 200)
    pages = sorted({page for edge in edges for page in edge})
    dense = [(pages.index(a), pages.index(b)) for a, b in edges]
    (tmp_path / "mine.tsv").write_text(f"# mine\n{pages[3]}\n{pages[5]}\t3\n")
    (tmp_path / "topics.tsv").write_text(f"sport\t{pages[1]}\nnews\t{pages[2]}\t2\nnews\t{pages[0]}\t2\n")
    settings = Rank(tolerance=1e-13, teleport=str(tmp_path / "mine.tsv"), topics=str(tmp_path / "topics.tsv"))
    run_graph(settings, tmp_path, edge_file(tmp_path, edges), inline)
    table = pq.read_table(tmp_path / "rank" / "ranks.parquet")
    for column, weights in (("rank", {3: 0.25, 5: 0.75}), ("rank_sport", {1: 1.0}), ("rank_news", {0: 0.5, 2: 0.5})):
        teleport = np.zeros(len(pages))
        teleport[list(weights)] = list(weights.values())
        assert table[column].to_pylist() == pytest.approx(dense_pagerank(dense, len(pages), 0.85, teleport), abs=1e-11)


@pytest.mark.parametrize(
    ("text", "why"),
    [("999\n", "line 1.*not among"), ("1\tx\n", "not a weight"), ("#\n", "no page"), ("1\t-2\n", "not a weight")],
)  # fmt: skip
def test_a_malformed_teleport_file_is_refused(text: str, why: str, inline: Engine, tmp_path: Path) -> None:
    (tmp_path / "mine.tsv").write_text(text)
    with pytest.raises(NephilaError, match=why):
        run_graph(Rank(teleport=str(tmp_path / "mine.tsv")), tmp_path, edge_file(tmp_path, [(1, 2)]), inline)


def test_a_rank_is_explained_by_its_parts(inline: Engine, tmp_path: Path) -> None:
    edges = random_edges(7, 300, 2000, 0.1)
    run_graph(Rank(tolerance=1e-13), tmp_path, edge_file(tmp_path, edges), inline)
    ranks = ranks_in(tmp_path)
    page = max(ranks, key=lambda one: ranks[one])
    told = explain(tmp_path, str(page))
    # then links, teleport and dangling pages together are the rank
    degrees = {source: len({b for a, b in edges if a == source != b}) for source, _ in edges}
    into = {a for a, b in edges if b == page != a}
    assert (told.place, told.in_links, told.rank) == (1, len(into), ranks[page])
    assert told.from_links == pytest.approx(sum(0.85 * ranks[a] / degrees[a] for a in into), abs=1e-12)
    lost = sum(rank for one, rank in ranks.items() if not degrees.get(one))
    assert told.from_elsewhere == pytest.approx((0.15 + 0.85 * lost) / len(ranks), abs=1e-11)
    gives = [one.gives for one in told.contributions]
    assert gives == sorted(gives, reverse=True)
    assert told.others + sum(gives) == pytest.approx(told.from_links)
    with pytest.raises(UsageError, match="not among the ranked pages"):
        explain(tmp_path, "123456")


def test_explaining_needs_ranks_that_belong_together(inline: Engine, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="run `nephila rank` first"):
        explain(tmp_path, "1")
    run_graph(Rank(), tmp_path, edge_file(tmp_path, [(1, 2)]), inline)
    (tmp_path / "other").mkdir()
    run_graph(Rank(), tmp_path / "other", edge_file(tmp_path, [(1, 2), (2, 3)]), inline)
    (tmp_path / "other" / "rank" / "ranks.parquet").replace(tmp_path / "rank" / "ranks.parquet")
    with pytest.raises(DamagedError, match="not of the same ranking"):
        explain(tmp_path, "1")


def test_single_precision_and_a_tight_memory_limit_give_the_same_order(inline: Engine, tmp_path: Path) -> None:
    graph = edge_file(tmp_path, random_edges(8, 3000, 30_000))
    run_graph(Rank(), tmp_path / "a", graph, inline)
    run_graph(Rank(memory_limit=60_000), tmp_path / "b", graph, inline)
    run_graph(Rank(precision="single", tolerance=1e-6), tmp_path / "c", graph, inline)
    whole, tight, single = (ranks_in(tmp_path / name) for name in "abc")
    assert tight == whole
    assert single == pytest.approx(whole, rel=1e-3)
    assert sorted(path.name for path in (tmp_path / "b" / "rank").iterdir()) == [
        "lock", "pages.links", "rank.svg", "ranks.parquet", "report.json",
    ]  # fmt: skip


def test_the_command_line_ranks_compares_and_explains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = str(edge_file(tmp_path, random_edges(9, 200, 900, 0.2)))
    always = ["-C", str(tmp_path), "--engine", "inline"]
    assert command_line(["rank", "--graph", graph, "--json", "--set", "rank.damping=0.5", *always]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["damping"] == 0.5
    assert report["total"] == pytest.approx(1)
    assert [step["name"] for step in report["steps"]] == ["read", "link file", "open", "solve", "local", "write"]
    assert command_line(["rank", "--graph", graph, *always]) == 0
    assert "best pages" in capsys.readouterr().out
    assert command_line(["rank", "--why", str(report["top"][0]["page_id"]), *always]) == 0
    assert "teleport and pages without links" in capsys.readouterr().out
    assert command_line(["rank", "--graph", graph, "--compare", *always]) == 0
    assert "in-degree" in capsys.readouterr().out
    (tmp_path / "bad.tsv").write_text("1 2\n3\n")
    assert command_line(["rank", "--graph", str(tmp_path / "bad.tsv"), *always]) == 1
    assert "line 2" in capsys.readouterr().err
    assert command_line(["rank", *always]) == 2
    assert "not a crawl folder" in capsys.readouterr().err
