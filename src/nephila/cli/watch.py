"""`nephila watch`: keep a crawl fresh until somebody stops it."""

from __future__ import annotations

import os
from dataclasses import replace

import click

from nephila.cli import INTERRUPTED
from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json, inert


@click.command()
@click.option("--every", metavar="TIME", help="From the beginning of one round to the next, such as 1h; refresh.every.")
@click.option("--rounds", type=click.IntRange(min=1), metavar="N", help="Stop after so many rounds.")
@click.option("--policy", metavar="NAME", help="Which policy decides; refresh.policy.")
@common_options
def command(common: Common, every: str | None, rounds: int | None, policy: str | None) -> int:
    """Go on refreshing: a round every hour, for weeks, with tables, ranks and index following each.

    \b
        nephila watch -C crawl                                      until Ctrl-C; the same command goes on
        nephila watch -C crawl --every 15m --set refresh.per_day=0.5
        nephila status -C crawl                                     what it does and will do next

    Every page has a schedule of its own; a round visits those whose time has come, refresh.per_day visits per page and
    day on average. Killed, it loses nothing: started again it goes on with the round that was under way.
    """
    from datetime import UTC, datetime

    from nephila.crawl.run import open_crawl
    from nephila.engine import open_engine
    from nephila.jobs.watch import watch
    from nephila.store.folder import CrawlFolder

    settings = [*common.settings]
    settings += [f"refresh.every={every}"] if every is not None else []
    settings += [f"refresh.policy={policy}"] if policy is not None else []
    CrawlFolder.open(common.directory)
    agents = common.agents or os.cpu_count() or 1
    opened, _ = open_crawl(common.directory, replace(common, settings=tuple(settings)).layers(), [], agents)

    def tell(line: str) -> None:
        if not common.quiet and not common.as_json:
            click.echo(f"  {datetime.now(UTC).strftime('%H:%M:%S')}  {inert(line)}", err=True)

    try:
        with open_engine(common.engine, agents) as engine:
            report = watch(opened, engine, agents, rounds, tell)
    finally:
        opened.lock.release()
    if common.as_json:
        emit_json(report)
    else:
        emit(
            f"{report.rounds:,} rounds: {report.visited:,} visits, {report.changed:,} changes found, "
            f"{report.new_pages:,} new pages. `nephila watch -C {common.directory}` goes on."
        )
    return INTERRUPTED if report.how == "interrupted" else 0
