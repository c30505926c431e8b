"""`nephila forget`: pages and sites leave the folder."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json

if TYPE_CHECKING:
    from nephila.jobs.forget import ForgetReport

_SHOWN = 10


@click.command()
@click.argument("rules", nargs=-1, required=True, metavar="URL|SITE...")
@click.option("--allow-again", is_flag=True, help="Lift these rules: what they kept out may come back.")
@common_options
def command(common: Common, rules: tuple[str, ...], allow_again: bool) -> int:
    """Take pages or whole sites out of a crawl folder, and keep them out.

    \b
        nephila forget http://www.example.org/a.html -C crawl      this page
        nephila forget http://www.example.org -C crawl             this site (no slash behind the host)
        nephila forget www.example.org -C crawl                    this host, http and https
        nephila forget "http://www.example.org/private/*" -C crawl all that fits

    They leave the state, the archive (its files are written anew), tables, ranks, index and report; no crawl, refresh,
    repair or import brings them back. What other pages say about them is theirs and stays: their text, and their
    links, by URL and link text. control/forgotten.jsonl keeps what was asked, when, and how much left; nothing of the
    content. A folder that is being crawled is refused. Killed, the same command goes on.
    """
    from nephila.jobs.forget import allow, forget, normal_rules

    config = common.configuration().config
    normal = normal_rules(config, rules)
    if allow_again:
        lifted = allow(common.directory, normal)
        if common.as_json:
            emit_json(lifted)
        else:
            emit(f"Allowed again: {', '.join(lifted.rules)}; {lifted.pages:,} pages wait to be asked for.")
        return 0
    from nephila.engine import open_engine

    with open_engine(common.engine, common.agents or os.cpu_count() or 1) as engine:
        report = forget(common.directory, config, normal, engine, _quiet if common.quiet or common.as_json else _tell)
    if common.as_json:
        emit_json(report)
    else:
        emit(as_text(report, str(common.directory)))
    return 0


def _quiet(step: str) -> None: ...


def _tell(step: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"{step} …", err=True)


def as_text(report: ForgetReport, directory: str) -> str:
    """The report for a person."""
    lines = [
        f"Forgotten: {', '.join(report.rules)}",
        f"  {report.pages:,} pages with {report.visits:,} visits, {report.known:,} URLs that were only known; "
        f"{report.archive_bytes:,} bytes left the archive ({report.seconds:.1f} s)",
    ]
    if report.made_anew:
        lines.append(f"  made anew: {', '.join(report.made_anew)}")
    if report.deleted:
        lines.append(f"  deleted, because it may hold them: {', '.join(report.deleted)}")
    if report.twins:
        more = f" and {len(report.twins) - _SHOWN:,} more" if len(report.twins) > _SHOWN else ""
        lines.append(f"  the same content stays under {', '.join(report.twins[:_SHOWN])}{more}")
    if not report.pages and not report.known:
        lines.append("  nothing of it was here (any more); it is kept out from now on")
    lines.append(f"{directory}/control/forgotten.jsonl has the log; `nephila forget RULE --allow-again` lifts it.")
    return "\n".join(lines)
