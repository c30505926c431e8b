"""`nephila rank`: PageRank of a crawl or of any graph."""

from __future__ import annotations

import os
from pathlib import Path

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json


@click.command()
@click.option("--graph", type=click.Path(path_type=Path), metavar="FILE",
              help="Rank this edge list (TSV, CSV, Parquet; gzip too) instead of the crawl's links.")  # fmt: skip
@click.option("--ids", type=click.Choice(["number", "text"]), default="number", show_default=True,
              help="What the ids of the edge list are: numbers, or any words such as URLs.")  # fmt: skip
@click.option("--blocks", type=click.Path(path_type=Path), metavar="FILE",
              help="Lines `id block` for the edge list, for the methods that rank by blocks.")  # fmt: skip
@click.option("--compare", is_flag=True, help="Rank by every method and print one table; no ranks are written.")
@click.option("--why", "page", metavar="URL", help="Where the rank of this page (URL or id) comes from.")
@common_options
def command(common: Common, graph: Path | None, ids: str, blocks: Path | None, compare: bool, page: str | None) -> int:
    """Rank pages by the links between them: PageRank, exact, on all cores.

    \b
        nephila rank                                 the crawl in ./crawl, after `nephila convert`
        nephila rank --graph links.tsv.gz -C out     any edge list: lines `source target`
        nephila rank --why https://www.example.org/  who gives this page its rank
        nephila rank --compare --set rank.block=domain

    Writes DIR/rank/ranks.parquet: page_id, rank, in_links, out_links and, where sites are known, local_rank, site_rank
    and domain_rank; and DIR/rank/rank.svg, a picture of the ranks and of the rounds. Run again after more was crawled,
    it starts from the last ranks.

    Settings, with --set: rank.damping=0.85, rank.tolerance=1e-10, rank.method=pagerank, power, blockrank (as S0 prints
    it), blockrank-sized, blockrank-start or blocks (exact, by coordinator and agents), rank.block=site, domain or
    community, rank.teleport=FILE for personal ranks, rank.topics=FILE for one rank per topic.
    """
    from nephila.cli import rank_view
    from nephila.engine import open_engine
    from nephila.errors import UsageError
    from nephila.rank import run as ranking
    from nephila.rank.edge_list import IdKind
    from nephila.store.folder import CrawlFolder

    settings = common.configuration().config.rank
    if page is not None:
        explained = ranking.explain(common.directory, page)
        emit_json(explained) if common.as_json else emit(rank_view.why_as_text(explained))
        return 0
    if graph is not None and not graph.is_file():
        raise UsageError(f"{graph}: there is no such file; give an edge list with --graph FILE.")
    folder = CrawlFolder.open(common.directory) if graph is None else None
    with open_engine(common.engine, common.agents or os.cpu_count() or 1) as engine:
        if folder is not None:
            compared = ranking.run_compare(settings, folder, engine) if compare else None
            ranked = None if compare else ranking.run(settings, folder, engine)
        else:
            assert graph is not None
            kind = IdKind(ids)
            given = (settings, common.directory, graph, engine)
            compared = ranking.run_graph_compare(*given, kind=kind, blocks_file=blocks) if compare else None
            ranked = None if compare else ranking.run_graph(*given, kind=kind, blocks_file=blocks)
    if common.as_json:
        emit_json(compared or ranked)
    elif compared is not None:
        emit(rank_view.comparison_as_text(compared))
    elif ranked is not None:
        emit(rank_view.as_text(ranked))
    return 0
