"""`nephila search`: words in, pages out."""

from __future__ import annotations

import re
from typing import Final

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json

_MINUS: Final = "\N{MINUS SIGN}"  # means the same in a query, and is no option's
_WITHOUT: Final = re.compile(r"-(?!-|C|[qh]\Z).+", re.DOTALL)  # -C may have its folder right behind it


class _Searching(click.Command):
    """Words may begin with a minus, as they may in a query: `nephila search crawler -spider`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [_MINUS + word[1:] if _WITHOUT.fullmatch(word) else word for word in args])


@click.command(cls=_Searching)
@click.argument("words", nargs=-1, required=True)
@click.option("--site", "sites", multiple=True, metavar="S", help="Pages of this site alone: host, or scheme and host.")
@click.option("--domain", "domains", multiple=True, metavar="D", help="Pages of this registrable domain alone.")
@click.option("--community", "communities", multiple=True, metavar="C",
              help="Pages of this community alone: its number, its name or one of its sites.")  # fmt: skip
@click.option("--lang", "languages", multiple=True, metavar="L", help="Pages in this language alone, such as ko.")
@click.option("--page", type=click.IntRange(min=1), default=1, show_default=True, help="Which page of the hits.")
@click.option("--size", type=click.IntRange(min=1, max=1000), default=None, show_default="search.page_size",
              help="How many hits on a page.")  # fmt: skip
@click.option("--all", "everything", is_flag=True,
              help="Near-duplicates and all pages of a site too, not only the best of each.")  # fmt: skip
@click.option("--explain", is_flag=True, help="Tell where each score comes from.")
@common_options
def command(
    common: Common, words: tuple[str, ...], sites: tuple[str, ...], domains: tuple[str, ...],
    communities: tuple[str, ...], languages: tuple[str, ...], page: int, size: int | None, everything: bool,
    explain: bool,
) -> int:  # fmt: skip
    """Search the pages of a crawl, after `nephila index`.

    \b
        nephila search web crawler                 pages with all these words
        nephila search crawler -spider             the first word, and not the second
        nephila search '"검색 엔진" -광고'         a phrase, and not this word
        nephila search 'robot OR spider' --site www.example.org
        nephila search 'rank lang:ko domain:kaist.ac.kr after:2024 before:2025'

    Limits may be typed or given as options: site:, domain:, community:, lang:, before:, after:. Of near-duplicates one
    is shown, of a site two, unless --all or a site is asked for. Settings, with --set: search.rank_weight,
    search.title_weight and others (`nephila config`); --explain shows what they do. With search.log on, what was
    searched for and shown is kept in the folder, and `nephila refresh` visits such pages more often.
    """
    import time
    from dataclasses import replace

    from nephila.cli import search_view
    from nephila.search.noting import noted
    from nephila.search.query import Limit, parse
    from nephila.search.searching import Searcher
    from nephila.store.folder import CrawlFolder

    text = " ".join(words)
    limits = [
        *(Limit("site", name.lower()) for name in sites),
        *(Limit("domain", name.lower()) for name in domains),
        *(Limit("community", name.lower()) for name in communities),
        *(Limit("lang", name.lower()) for name in languages),
    ]
    query = parse(text).limited_to(tuple(limits))
    folder, config = CrawlFolder.open(common.directory), common.configuration().config.search
    found = Searcher(folder, config).search(query, page, size=size, everything=everything, explain=explain)
    results = noted(config, folder, replace(found, text=text), time.time())
    if common.as_json:
        emit_json(results)
    else:
        emit(search_view.rendered(results).plain) if common.quiet else search_view.show(results)
    return 0
