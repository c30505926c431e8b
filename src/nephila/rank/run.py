"""The front door: links in, `rank/ranks.parquet` out.

`run` ranks a crawl folder, `run_graph` any edge list; both write `rank/pages.links` (the link file), then
`rank/ranks.parquet`, `rank/rank.svg` (the picture) and `rank/report.json`, each by rename. Run again after more was
crawled, it starts from the last ranks: those of pages that changed little are nearly right already.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from nephila.config.sections import Rank
from nephila.engine import Engine
from nephila.rank import kernel
from nephila.rank.arrays import Blocks, Ids, Ranks
from nephila.rank.blockrank import Partition, local_ranks
from nephila.rank.comparing import CompareReport, compare
from nephila.rank.crawl_sheet import crawl_naming, crawl_sheet
from nephila.rank.edge_list import IdKind
from nephila.rank.gauss_seidel import solve
from nephila.rank.graph_sheet import graph_sheet
from nephila.rank.link_building import Built, build
from nephila.rank.link_file import LinkFile
from nephila.rank.methods import Method, Ranking, rank_by
from nephila.rank.pagerank import Dangling, Problem
from nephila.rank.picture import draw
from nephila.rank.ranks_table import best, distribution, read_ranks, table_naming, write_ranks
from nephila.rank.report import RankReport, Step, TopPage
from nephila.rank.sheet import Sheet, Unit
from nephila.rank.stopping import L1, Rounds
from nephila.rank.teleport import Topics, read_teleport, read_topics
from nephila.rank.why import WhyReport, why
from nephila.store.durable import make_directory, replace_file
from nephila.store.folder import CrawlFolder
from nephila.store.lock import FileLock

LINK_FILE: Final = "pages.links"
RANKS_FILE: Final = "ranks.parquet"
REPORT_FILE: Final = "report.json"
PICTURE_FILE: Final = "rank.svg"
_LOCAL_TOLERANCE: Final = 1e-9

Names = Callable[[list[int]], list[str]]


@dataclass(slots=True)
class Stopwatch:
    """Seconds of each step, in order."""

    steps: list[Step] = field(default_factory=list)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self.steps.append(Step(name, time.perf_counter() - begun))


def run(settings: Rank, folder: CrawlFolder, engine: Engine) -> RankReport:
    """Rank the pages of a crawl by its tables."""
    watch = Stopwatch()
    with _alone(folder.rank):
        with watch.step("read"):
            sheet = crawl_sheet(folder, Unit(settings.block), settings.duplicates)
        return rank_sheet(settings, sheet, folder.rank, engine, watch)


def run_graph(
    settings: Rank,
    directory: Path,
    graph: Path,
    engine: Engine,
    *,
    kind: IdKind = IdKind.NUMBER,
    blocks_file: Path | None = None,
) -> RankReport:
    """Rank an edge list into `directory`/rank."""
    watch = Stopwatch()
    with _alone(directory / "rank"), _graph(settings, directory, graph, kind, blocks_file, watch) as sheet:
        return rank_sheet(settings, sheet, directory / "rank", engine, watch, named=kind is IdKind.TEXT)


def run_compare(settings: Rank, folder: CrawlFolder, engine: Engine) -> CompareReport:
    """Rank the pages of a crawl by every method and compare; no ranks are written."""
    make_directory(folder.rank)
    return compare_sheet(settings, crawl_sheet(folder, Unit(settings.block), settings.duplicates), folder.rank, engine)


def run_graph_compare(
    settings: Rank,
    directory: Path,
    graph: Path,
    engine: Engine,
    *,
    kind: IdKind = IdKind.NUMBER,
    blocks_file: Path | None = None,
) -> CompareReport:
    """Likewise for an edge list."""
    with _graph(settings, directory, graph, kind, blocks_file, Stopwatch()) as sheet:
        return compare_sheet(settings, sheet, directory / "rank", engine)


def compare_sheet(settings: Rank, sheet: Sheet, room: Path, engine: Engine) -> CompareReport:
    with TemporaryDirectory(prefix="compare-", dir=room) as aside:
        path = Path(aside) / LINK_FILE
        build(path, sheet.rows.ids, sheet.pieces(), settings.memory_limit)
        links = LinkFile.open(path).links
        blocks = sheet.groups.of(Unit(settings.block))
        return compare(links, problem_of(settings), settings.block, blocks, engine, path, settings.tolerance)


def _alone(room: Path) -> FileLock:
    """Be the only one who writes ranks there."""
    make_directory(room)
    return FileLock.take(room / "lock", "nephila rank", subject=f"The folder {room}")


@contextmanager
def _graph(
    settings: Rank, directory: Path, graph: Path, kind: IdKind, blocks_file: Path | None, watch: Stopwatch
) -> Iterator[Sheet]:
    room = directory / "rank"
    make_directory(room)
    with ExitStack() as stack:
        with watch.step("read"):
            opened = graph_sheet(graph, room, settings.memory_limit, kind, Unit(settings.block), blocks_file)
            sheet = stack.enter_context(opened)
        yield sheet


def rank_sheet(
    settings: Rank, sheet: Sheet, room: Path, engine: Engine, watch: Stopwatch, *, named: bool = False
) -> RankReport:
    """Build the link file of a sheet, rank it, write what came out."""
    with watch.step("link file"):
        built = build(room / LINK_FILE, sheet.rows.ids, sheet.pieces(), settings.memory_limit)
    with watch.step("open"):
        file = LinkFile.open(room / LINK_FILE, streamed=built.links * 4 > settings.memory_limit)
    restarts = settings.restart and Method(settings.method) in (Method.PAGERANK, Method.POWER, Method.BLOCKS)
    start = read_ranks(room / RANKS_FILE, file.ids) if restarts else None
    find = sheet.names.find
    teleport = read_teleport(Path(settings.teleport), file.ids, find) if settings.teleport else None
    problem = problem_of(settings, start, teleport)
    blocks = sheet.groups.of(Unit(settings.block))
    with watch.step("solve"):
        ranking = rank_by(Method(settings.method), file.links, problem, blocks, engine, room / LINK_FILE)
    topics = read_topics(Path(settings.topics), file.ids, find) if settings.topics else {}
    with watch.step("local"):
        local = _local(file, sheet.groups.site, settings.damping)
        by_topic = _by_topic(topics, file, settings)
    with watch.step("write"):
        names = sheet.names.pages(list(range(len(file.ids)))) if named else None
        single = settings.precision == "single"
        write_ranks(
            room / RANKS_FILE, file, ranking.ranks, local, sheet.groups, by_topic, names, single_precision=single
        )
    report = _report(settings, sheet, file, built, ranking, watch, room, restarted=start is not None)
    replace_file(room / PICTURE_FILE, draw(report).encode())
    replace_file(room / REPORT_FILE, msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n")
    return report


def problem_of(settings: Rank, start: Ranks | None = None, teleport: Ranks | None = None) -> Problem:
    """The settings as a problem to solve."""
    return Problem(
        settings.damping,
        L1(settings.tolerance) | Rounds(settings.max_rounds),
        Dangling(settings.dangling),
        teleport,
        start,
        settings.precision == "single",
    )


def _local(file: LinkFile, sites: Blocks | None, damping: float) -> Ranks | None:
    if sites is None:
        return None
    return local_ranks(file.links, Partition.of(sites), damping, L1(_LOCAL_TOLERANCE) | Rounds(200))[0]


def _by_topic(topics: Topics, file: LinkFile, settings: Rank) -> dict[str, Ranks]:
    return {topic: solve(file.links, problem_of(settings, None, teleport)).ranks for topic, teleport in topics.items()}


def _report(
    settings: Rank, sheet: Sheet, file: LinkFile, built: Built, ranking: Ranking, watch: Stopwatch, room: Path, *,
    restarted: bool,
) -> RankReport:  # fmt: skip
    ranks = ranking.ranks
    in_links = file.links.lengths()
    came = sheet.links_in()
    return RankReport(
        method=settings.method,
        damping=settings.damping,
        pages=len(file.ids),
        links=built.links,
        dangling=int((file.links.degrees == 0).sum()),
        self_links_dropped=built.self_links,
        repeated_links_dropped=built.repeated,
        links_left_out=came - built.links - built.self_links - built.repeated,
        rounds=ranking.rounds,
        residual=ranking.residuals[-1] if ranking.residuals else 0.0,
        residuals=ranking.residuals,
        total=float(ranks.sum()),
        restarted=restarted,
        compiled=kernel.COMPILED,
        seconds=sum(step.seconds for step in watch.steps),
        steps=tuple(watch.steps),
        top=best(file.ids, ranks, in_links, sheet.names.pages),
        top_sites=_best_blocks(sheet.groups.site, ranks, in_links, sheet.names.sites),
        top_domains=_best_blocks(sheet.groups.domain, ranks, in_links, sheet.names.domains),
        distribution=distribution(ranks),
        file=str(room / RANKS_FILE),
        tolerance=settings.tolerance,
        footing=sheet.footing(),
    )


def _best_blocks(
    blocks: Blocks | None, ranks: Ranks, in_links: Ids, names: Callable[[list[int]], list[str]]
) -> tuple[TopPage, ...]:
    if blocks is None:
        return ()
    partition = Partition.of(blocks)
    return best(partition.number, partition.sums(ranks), partition.sums(in_links), names)


def explain(directory: Path, word: str) -> WhyReport:
    """Where the rank of a page comes from, in a crawl or in what an edge list was ranked into."""
    room = directory / "rank"
    return why(
        room, word, crawl_naming(CrawlFolder(directory)) if CrawlFolder.is_crawl(directory) else table_naming(room)
    )
