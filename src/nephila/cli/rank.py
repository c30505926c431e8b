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
@common_options
def command(common: Common, graph: Path | None, ids: str, blocks: Path | None) -> int:
    """Rank pages by the links between them: PageRank, exact, on all cores.

    \b
        nephila rank                           the crawl in ./crawl, after `nephila convert`
        nephila rank --graph links.tsv.gz -C out

    Writes DIR/rank/ranks.parquet: page_id, rank and, where sites are known, local_rank, site_rank and domain_rank.
    Run again after more was crawled, it starts from the last ranks.

    Settings, with --set: rank.damping=0.85, rank.tolerance=1e-10, rank.method=pagerank, power, blockrank (as S0 prints
    it), blockrank-sized, blockrank-start or blocks (exact, by coordinator and agents), rank.block=site, domain or
    community, rank.teleport=FILE for personal ranks, rank.topics=FILE for one rank per topic.
    """
    from nephila.cli.rank_view import as_text
    from nephila.engine import open_engine
    from nephila.errors import UsageError
    from nephila.rank.edge_list import IdKind
    from nephila.rank.run import run_graph

    settings = common.configuration().config.rank
    if graph is None:
        raise UsageError("name an edge list with --graph FILE.")
    with open_engine(common.engine, common.agents or os.cpu_count() or 1) as engine:
        report = run_graph(settings, common.directory, graph, engine, kind=IdKind(ids), blocks_file=blocks)
    if common.as_json:
        emit_json(report)
    else:
        emit(as_text(report))
    return 0
