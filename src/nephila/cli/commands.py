"""The table of commands. A row is all that `nephila --help` needs; the module behind it is imported on use."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import Final, NamedTuple

import click

from nephila import VERSION


class Row(NamedTuple):
    module: str
    short_help: str


COMMANDS: Final[dict[str, Row]] = {
    "demo": Row("demo", "The whole circle on a small web served on this machine."),
    "run": Row("run", "Crawl, convert, rank, index and report: the main job, from seeds to search."),
    "crawl": Row("crawl", "Collect a web; run again to go on, kill it and nothing is lost."),
    "import": Row("importing", "Make a crawl of anyone's archive: WARC, ARC or WACZ files."),
    "convert": Row("convert", "From archive to tables: pages, links, sites, with ids that never change."),
    "rank": Row("rank", "PageRank of the crawl, or of any edge list."),
    "index": Row("index", "Make the pages searchable: titles, texts, what links call them, weighed by rank."),
    "refresh": Row("refresh", "Visit again what is due, within a budget; compare the policies that decide it."),
    "watch": Row("watch", "Keep the crawl fresh, round after round, until somebody stops it."),
    "search": Row("search", "Search the pages: words, phrases, site:, domain:, community:, lang:, dates."),
    "schedule": Row("schedule", "When servers are quiet: S2's policies simulated, learnt loads, tonight's plan."),
    "stats": Row("stats", "The web as found, in tables with their SQL: the survey's six, and what else it is made of."),
    "report": Row("report", "The statistics as one HTML file with plots, to keep, send and print."),
    "load": Row("load", "The tables into a DuckDB file or a PostgreSQL database."),
    "export": Row("export", "The tables as CSV or JSON Lines, or as the paper's own files."),
    "serve": Row("serve", "The crawl in your browser: live figures, sites, search, ranks, statistics."),
    "study": Row("study", "The change study: the same sites again and again, and how they change."),
    "status": Row("status", "What a crawl has done and is doing, from another terminal."),
    "why": Row("why", "The whole story of one URL: who linked to it, what was decided, when and why."),
    "wrap": Row("wrap", "Try wrappers on a page: which fields they find, before they fill a table."),
    "lab": Row("lab", "A web in a box: serve it, tell its truth, check it against the papers."),
    "merge": Row("merge", "One crawl folder of several: every page once, all its visits."),
    "forget": Row("forget", "Take pages or sites out of the folder, everywhere, and keep them out."),
    "compact": Row("compact", "Drop old versions, close holes, put small archive files together."),
    "repair": Row("repair", "Check a crawl folder from end to end and mend what is damaged."),
    "config": Row("config", "The configuration in force, and where each value came from."),
    "completion": Row("completion", "Print the shell's completion script."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = COMMANDS.get(cmd_name)
        if row is None:
            return None
        command: click.Command = import_module(f"nephila.cli.{row.module}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean `nephila {near[0]}`?" if near else "`nephila --help` lists the commands."
            raise click.UsageError(f"there is no command {args[0]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, row.short_help) for name, row in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, prog_name="nephila")
def nephila() -> None:
    """Gather a web, turn it into tables, rank it, keep it fresh, measure it and search it.

    \b
    Try it without touching the internet:
        nephila demo
    \b
    Collect a site of your own, one request at a time (Ctrl-C stops, the same command goes on):
        nephila crawl https://www.example.org/ --set crawl.mode=sites --set net.contact=you@example.org

    Every command takes -C DIR (the crawl folder, ./crawl by default), --config FILE, --set section.key=value,
    --json and --quiet; `nephila COMMAND --help` teaches the rest.

    Exit codes: 0 done, 1 failed with a sentence, 2 wrong usage, 3 disk full, 4 folder in use by another process,
    5 damaged, 130 interrupted and resumable.
    """
