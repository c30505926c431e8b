"""`nephila wrap`: a dry run of wrappers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json

if TYPE_CHECKING:
    from nephila.jobs.wrap import WrappedPage


@click.command()
@click.argument("pages", nargs=-1, required=True, metavar="FILE|URL...")
@click.option("-w", "--wrappers", "file", type=click.Path(path_type=Path), metavar="FILE",
              help="The TOML file of wrappers; without it the one of convert.wrappers.")  # fmt: skip
@click.option("--url", default="", metavar="URL", help="Take a file for the page at this URL.")
@common_options
def command(common: Common, pages: tuple[str, ...], file: Path | None, url: str) -> int:
    """Show what wrappers find on pages; nothing is written.

    \b
        nephila wrap page.html -w wrappers.toml --url http://www.example.org/doc/page.html
        nephila wrap http://www.example.org/doc/page.html -w wrappers.toml -C crawl

    A URL is looked up in the crawl's archive. When the fields are right, crawl just these pages and fill the table
    `fields` with them:

    \b
        nephila crawl --profile wrapper --set convert.wrappers=wrappers.toml http://www.example.org/doc/
        nephila convert
    """
    from nephila.jobs.wrap import wrap
    from nephila.markup.wrappers import read_wrappers

    config = common.configuration().config
    wrappers = read_wrappers(str(file) if file is not None else config.convert.wrappers)
    report = wrap(config, wrappers, pages, common.directory, url)
    if common.as_json:
        emit_json(report)
    else:
        emit("\n".join(line for page in report.pages for line in _lines(page)))
    return 0


def _lines(page: WrappedPage) -> list[str]:
    if not page.wrapper:
        return [f"{page.page}: no wrapper's pattern matches {page.url}"]
    lines = [f"{page.page}: {page.wrapper}"]
    width = max((len(name) for name in (*(value.field for value in page.values), *page.missing)), default=0)
    for value in page.values:
        read = value.number if value.number is not None else value.moment
        lines.append(f"  {value.field:<{width}}  {value.text[:100]}" + (f"  ({read})" if read is not None else ""))
    lines += [f"  {name:<{width}}  is not there" for name in page.missing]
    return lines
