"""BlockRank as printed, its better forms, and the exact one by coordinator and agents."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from graphs import dense_pagerank, file_of, links_of

from nephila.engine import Engine, open_engine
from nephila.errors import UsageError, WorkerDiedError
from nephila.rank import blockrank
from nephila.rank.aggregation import shard_bounds
from nephila.rank.blockrank import Partition, flows, local_ranks, printed_block_ranks, sized_block_ranks
from nephila.rank.comparing import compare, tau, top_overlap
from nephila.rank.methods import Method, rank_by
from nephila.rank.pagerank import Dangling, Problem
from nephila.rank.stopping import L1, Rounds

EXACT = L1(1e-13) | Rounds(1000)
PROBLEM = Problem(0.85, EXACT)


def site_web(
    seed: int, sites: int = 30, mean: int = 20, inner: float = 0.8, *, unequal: bool = False
) -> tuple[list[tuple[int, int]], np.ndarray]:
    """Sites of several sizes (`unequal`: by a power law), most links within a site and towards its first pages."""
    chance = np.random.default_rng(seed)
    sizes = chance.integers(1, 2 * mean, sites)
    if unequal:
        sizes = np.minimum(mean / 4 * (1 + chance.pareto(1.1, sites)) + 1, 40 * mean).astype(int)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    site = np.repeat(np.arange(sites), sizes)
    pages = len(site)
    sources = chance.choice(np.flatnonzero(chance.random(pages) > 0.12), 6 * pages)
    within = chance.random(len(sources)) < inner
    local = starts[site[sources]] + (sizes[site[sources]] * chance.random(len(sources)) ** 3).astype(int)
    anywhere = (pages * chance.random(len(sources)) ** 2).astype(int)
    return list(zip(sources.tolist(), np.where(within, local, anywhere).tolist(), strict=True)), site


def test_local_ranks_are_the_pageranks_of_each_block_alone(loops: str, tmp_path: Path) -> None:  # S0-24, step 2
    edges, site = site_web(1)
    local, _ = local_ranks(links_of(edges, len(site), tmp_path), Partition.of(site), 0.85, EXACT)
    for block in range(30):
        members = np.flatnonzero(site == block)
        first = int(members[0])
        inner = [(a - first, b - first) for a, b in edges if site[a] == site[b] == block]
        assert local[members] == pytest.approx(dense_pagerank(inner, len(members), 0.85), abs=1e-11)


@pytest.mark.parametrize("at_once", [1, 300, 1 << 18])
def test_local_ranks_need_no_order_of_blocks(at_once: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # given the same web with its pages in the order of blocks and in another
    monkeypatch.setattr(blockrank, "_LINKS_AT_ONCE", at_once)
    edges, site = site_web(4)
    place = np.random.default_rng(1).permutation(len(site))
    moved = [(int(place[a]), int(place[b])) for a, b in edges]
    elsewhere = np.empty(len(site), np.int64)
    elsewhere[place] = site
    # when both are ranked within their blocks, then every page has the same local rank
    ordered, _ = local_ranks(links_of(edges, len(site), tmp_path), Partition.of(site), 0.85, EXACT)
    mixed, _ = local_ranks(links_of(moved, len(site), tmp_path), Partition.of(elsewhere), 0.85, EXACT)
    assert mixed[place] == pytest.approx(ordered, abs=1e-11)


def test_blocks_are_ranked_as_the_paper_prints_it(tmp_path: Path) -> None:  # S0-24, step 3
    # given blocks A = {0, 1}, B = {2}, C = {3}; three links A -> B count as one, those within A not at all
    edges = [(0, 1), (1, 0), (0, 2), (1, 2), (0, 3), (2, 3), (3, 0)]
    partition = Partition.of(np.array([5, 5, 8, 9]))
    links = links_of(edges, 4, tmp_path)
    ranks, _ = printed_block_ranks(flows(links, partition, np.full(4, 0.5)), 0.85, EXACT)
    assert ranks == pytest.approx(dense_pagerank([(0, 1), (0, 2), (1, 2), (2, 0)], 3, 0.85), abs=1e-12)


def test_the_aggregated_chain_of_true_ranks_has_the_true_block_ranks(tmp_path: Path) -> None:
    # given the true ranks as weights within blocks
    edges, site = site_web(2)
    true = dense_pagerank(edges, len(site), 0.85)
    partition = Partition.of(site)
    # when the blocks are ranked by the flows that they make
    ranks, _ = sized_block_ranks(flows(links_of(edges, len(site), tmp_path), partition, true), partition, 0.85, EXACT)
    # then the rank of a block is the sum of its pages' ranks
    assert ranks == pytest.approx(partition.sums(true), abs=1e-11)


def test_without_links_between_sites_the_printed_form_errs_by_the_spread_of_their_sizes(
    inline: Engine, tmp_path: Path
) -> None:
    # given sites of 2 to 30 pages that are circles, with no link between them
    sizes = [2, 3, 5, 10, 30]
    starts = np.concatenate(([0], np.cumsum(sizes)))
    site = np.repeat(np.arange(5), sizes)
    edges = [(first + i, first + (i + 1) % n) for first, n in zip(starts, sizes, strict=False) for i in range(n)]
    file = file_of([(int(a), int(b)) for a, b in edges], len(site), tmp_path)
    # then every page has the rank 1/50; the sized form knows it, the printed one gives each site 1/5
    sized = rank_by(Method.SIZED, file.links, PROBLEM, site, inline, file.path).ranks
    printed = rank_by(Method.PRINTED, file.links, PROBLEM, site, inline, file.path).ranks
    assert sized == pytest.approx(np.full(50, 0.02), abs=1e-12)
    assert np.abs(printed - 0.02).sum() == pytest.approx(sum(abs(1 / 5 - n / 50) for n in sizes), abs=1e-10)


@pytest.mark.parametrize("inner", [0.8, 0.93])
def test_the_printed_form_is_poor_and_the_sized_one_fair(inner: float, inline: Engine, tmp_path: Path) -> None:
    # CHECKLIST finding 8: as in the test above, the distance comes from the spread of the sites' sizes
    edges, site = site_web(3, sites=120, inner=inner, unequal=True)
    file = file_of(edges, len(site), tmp_path)
    report = compare(file.links, Problem(0.85, L1(1e-8) | Rounds(500)), "site", site, inline, file.path, 1e-8)
    found = {row.method: row for row in report.methods}
    assert found["blockrank"].tau < found["blockrank-sized"].tau - 0.15
    assert found["blockrank"].l1 > 2 * found["blockrank-sized"].l1
    assert found["blockrank-start"].rounds < found["power"].rounds
    assert found["blocks"].rounds <= 12 < found["power"].rounds
    assert all(found[name].l1 < 1e-6 for name in ("pagerank", "power", "blockrank-start", "blocks"))
    assert found["blocks"].exchanged_bytes > 0
    assert report.inner_share == pytest.approx(inner, abs=0.15)


@pytest.mark.parametrize("agents", [1, 2, 3, 7])
def test_blocks_give_exact_ranks_with_any_number_of_agents(agents: int, loops: str, tmp_path: Path) -> None:  # S0-25
    edges, site = site_web(5, sites=12)
    file = file_of(edges, len(site), tmp_path)
    with open_engine("inline", agents) as engine:
        ranking = rank_by(Method.BLOCKS, file.links, PROBLEM, site, engine, file.path)
    assert ranking.ranks == pytest.approx(dense_pagerank(edges, len(site), 0.85), abs=1e-11)
    assert ranking.rounds < 40


def test_blocks_give_exact_ranks_by_real_processes(tmp_path: Path) -> None:
    edges, site = site_web(6)
    file = file_of(edges, len(site), tmp_path)
    with open_engine("local", 2) as engine:
        ranking = rank_by(Method.BLOCKS, file.links, PROBLEM, site, engine, file.path)
    assert ranking.ranks == pytest.approx(dense_pagerank(edges, len(site), 0.85), abs=1e-11)


@pytest.mark.parametrize("kind", ["inline", "local"])
def test_blocks_begin_with_the_last_ranks(kind: str, tmp_path: Path) -> None:
    # given the ranks of a web, and the same web with two links more
    edges, site = site_web(8)
    start = dense_pagerank(edges, len(site), 0.85)
    more = [*edges, (1, 40), (70, 3)]
    same, changed = file_of(edges, len(site), tmp_path), file_of(more, len(site), tmp_path / "more")
    with open_engine(kind, 2) as engine:
        # when both are ranked from those, then the same web needs one exchange, the changed one fewer than without
        again = rank_by(Method.BLOCKS, same.links, replace(PROBLEM, start=start), site, engine, same.path)
        stop = L1(1e-8) | Rounds(100)
        near = rank_by(Method.BLOCKS, changed.links, Problem(0.85, stop, start=start), site, engine, changed.path)
        fresh = rank_by(Method.BLOCKS, changed.links, Problem(0.85, stop), site, engine, changed.path)
    assert again.rounds == 1
    assert near.rounds < fresh.rounds
    assert near.ranks == pytest.approx(dense_pagerank(more, len(site), 0.85), abs=1e-8)
    assert not list(tmp_path.glob("start-*"))


@pytest.mark.parametrize(
    ("edges", "blocks"),
    [
        ([], [0, 0, 1]), ([(0, 1), (1, 0)], [0, 0]), ([(0, 1), (2, 3)], [0, 1, 2, 3]), ([(0, 2), (1, 2)], [0, 0, 1]),
        ([(0, 1), (1, 2), (2, 0)], [0, 1, 2]), ([], [0]),
    ],
)  # fmt: skip
def test_odd_blocks_are_ranked_exactly_too(
    edges: list[tuple[int, int]], blocks: list[int], inline: Engine, tmp_path: Path
) -> None:
    file = file_of(edges, len(blocks), tmp_path)
    ranks = rank_by(Method.BLOCKS, file.links, PROBLEM, np.array(blocks), inline, file.path).ranks
    assert ranks == pytest.approx(dense_pagerank(edges, len(blocks), 0.85), abs=1e-12)


def test_no_pages_are_ranked_by_every_method(inline: Engine, tmp_path: Path) -> None:
    file = file_of([], 0, tmp_path)
    for method in Method:
        assert len(rank_by(method, file.links, PROBLEM, np.zeros(0, np.int64), inline, file.path).ranks) == 0


def test_what_block_methods_cannot_do_is_refused(inline: Engine, tmp_path: Path) -> None:
    file = file_of([(0, 1)], 2, tmp_path)
    blocks = np.array([0, 1])
    with pytest.raises(UsageError, match="--blocks FILE"):
        rank_by(Method.PRINTED, file.links, PROBLEM, None, inline, file.path)
    with pytest.raises(UsageError, match="damping below 1"):
        rank_by(Method.BLOCKS, file.links, Problem(1.0, EXACT), blocks, inline, file.path)
    with pytest.raises(UsageError, match="order of their blocks"):
        rank_by(Method.BLOCKS, file.links, PROBLEM, blocks[::-1], inline, file.path)
    with pytest.raises(UsageError, match="no teleport"):
        rank_by(Method.SIZED, file.links, Problem(0.85, EXACT, Dangling.NONE), blocks, inline, file.path)


@pytest.mark.parametrize("kind", ["inline", "local"])
def test_an_agent_that_fails_ends_the_ranking_with_a_sentence(kind: str, tmp_path: Path) -> None:
    file = file_of([(0, 1), (1, 0)], 2, tmp_path)
    with open_engine(kind, 2) as engine, pytest.raises(WorkerDiedError, match="run the same command again"):
        rank_by(Method.BLOCKS, file.links, PROBLEM, np.array([0, 1]), engine, tmp_path / "gone.links")


def test_shares_are_whole_blocks(tmp_path: Path) -> None:
    links = links_of([(0, 1), (1, 2), (2, 3), (3, 4)], 6, tmp_path)
    starts = np.array([0, 4, 5, 6])
    for agents in range(1, 8):
        cuts = shard_bounds(links, starts, agents)
        assert cuts[0] == 0
        assert cuts[-1] == 6
        assert set(cuts) <= set(starts.tolist())
        assert len(cuts) <= agents + 1


def test_tau_and_top_k_say_how_far_orders_agree() -> None:
    true = np.array([0.4, 0.3, 0.2, 0.1])
    assert tau(true, true) == 1
    assert tau(true[::-1].copy(), true) == -1
    assert tau(np.array([0.4, 0.3, 0.1, 0.2]), true) == pytest.approx(4 / 6)
    assert top_overlap(np.array([0.4, 0.1, 0.2, 0.3]), true, 2) == 0.5
    assert (tau(np.zeros(0), np.zeros(0)), top_overlap(np.zeros(0), np.zeros(0), 3)) == (1, 1)
