"""The sheet of an edge list: every id that occurs is a page; ids that are URLs bring their sites with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nephila.errors import NephilaError
from nephila.rank.arrays import NOWHERE, Blocks
from nephila.rank.edge_list import IdKind, Names, read_links
from nephila.rank.gathering import Rows, Spool, as_rows
from nephila.rank.sheet import Groups, Naming, Sheet, Unit, grouping_keys, reordered
from nephila.urls import host_of, registrable_domain, site_of


@dataclass(frozen=True, slots=True)
class _Grouped:
    """The groups of an edge list's pages, and what sites and domains are called; by their numbers where unknown."""

    groups: Groups
    sites: list[str] | None = None
    domains: list[str] | None = None


@contextmanager
def graph_sheet(
    file: Path, room: Path, memory_limit_bytes: int, kind: IdKind, unit: Unit, blocks_file: Path | None = None
) -> Iterator[Sheet]:
    """Read the edge list; `blocks_file` says of each id which block it belongs to, in the same form as links."""
    names = Names() if kind is IdKind.TEXT else None
    with Spool(room, memory_limit_bytes // 2) as spool:
        spool.fill(read_links(file, names))
        rows = Rows.of_spool(spool)
        texts = names.texts() if names is not None else None
        grouped = _blocks(blocks_file, rows, names, texts) if blocks_file is not None else _of_urls(texts or [])
        groups = grouped.groups
        keys = grouping_keys(groups, unit)
        if keys:
            rows, order = rows.in_order_of(keys)
            groups = reordered(groups, order)
        yield Sheet(
            rows, groups, lambda: as_rows(spool.drain(), rows), lambda: spool.links, naming(names, texts, grouped)
        )


def naming(names: Names | None, texts: list[str] | None, grouped: _Grouped) -> Naming:
    """The words of an edge list as names; numbers where it has none."""
    sites, domains = (_names_in(known) for known in (grouped.sites, grouped.domains))
    if names is None or texts is None:
        return Naming(sites=sites, domains=domains)

    def find(words: list[str]) -> dict[str, int]:
        found = {word: names.find(word.encode()) for word in words}
        return {word: number for word, number in found.items() if number is not None}

    return Naming(_names_in(texts), sites, domains, find)


def _names_in(texts: list[str] | None) -> Callable[[list[int]], list[str]]:
    return lambda numbers: [str(number) if texts is None else texts[number] for number in numbers]


def _blocks(file: Path, rows: Rows, names: Names | None, texts: list[str] | None) -> _Grouped:
    blocks = np.full(len(rows.ids), -1, np.int64)
    block_names = Names()
    for ids, numbers in read_links(file, None) if names is None else _named_blocks(file, names, block_names):
        found = rows.find(ids)
        blocks[found[found != NOWHERE]] = numbers[found != NOWHERE]
    if (blocks < 0).any():
        lost = int(rows.ids[int(np.argmin(blocks))])
        named = lost if texts is None else repr(texts[lost])
        raise NephilaError(f"{file} does not say to which block {named} belongs; every id of the graph needs one.")
    called = None if names is None else block_names.texts()
    return _Grouped(Groups(blocks, blocks, blocks), called, called)


def _named_blocks(file: Path, names: Names, block_names: Names) -> Iterator[tuple[Blocks, Blocks]]:
    words = Names()
    pairs = [np.stack(pair, axis=1) for pair in read_links(file, words)]
    texts = words.texts()
    for pair in pairs:
        ids = [names.find(texts[number].encode()) for number in pair[:, 0]]
        blocks = [block_names.number(texts[number].encode()) for number in pair[:, 1]]
        known = [place for place, number in enumerate(ids) if number is not None]
        yield (
            np.array([ids[place] for place in known], np.int64),
            np.array([blocks[place] for place in known], np.int64),
        )


def _of_urls(texts: list[str]) -> _Grouped:
    """Sites and domains, when every word is a URL."""
    if not texts or not all(text.startswith(("http://", "https://")) for text in texts):
        return _Grouped(Groups())
    sites, domains = Names(), Names()
    site = [sites.number(site_of(text).encode()) for text in texts]
    domain = [domains.number(registrable_domain(host_of(text)).encode()) for text in texts]
    groups = Groups(np.array(site, np.int64), np.array(domain, np.int64))
    return _Grouped(groups, sites.texts(), domains.texts())
