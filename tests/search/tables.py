"""Crawl folders with tables and ranks but without a crawl: a few pages that say just what a test needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from nephila.config.sections import Search
from nephila.engine import open_engine
from nephila.search.index import IndexReport, run
from nephila.search.searching import Searcher
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import NAME, Manifest, Part
from nephila.store.tables.schemas import TABLES
from nephila.urls import host_of, registrable_domain, site_of


@dataclass(frozen=True)
class Page:
    url: str
    title: str | None = None
    text: str | None = None
    description: str | None = None
    language: str | None = "en"
    published: str | None = None
    fetched: str | None = "2026-01-01"
    flags: str = ""
    parse: str = "ok"
    cluster: int | None = None
    duplicate_of: int | None = None
    alias: bool = False
    """its site is an alias"""


Link = tuple[int, int, str]
"""from, to, what it says"""


def write_tables(
    path: Path, pages: Sequence[Page], links: Sequence[Link] = (), ranks: Mapping[int, float] | None = None,
    communities: Mapping[str, str] | None = None,
) -> Path:  # fmt: skip
    """Write the tables; ids are places. `communities` has a name for some sites, all others are in one of their own."""
    folder = CrawlFolder.create(path)
    sites = list(dict.fromkeys(site_of(page.url) for page in pages))
    domains = list(dict.fromkeys(registrable_domain(host_of(site)) for site in sites))
    labels = [(communities or {}).get(host_of(site), site) for site in sites]
    names = list(dict.fromkeys(labels))
    rows: dict[str, list[dict[str, Any]]] = {
        "pages": [
            {
                "page_id": number, "site_id": sites.index(site_of(page.url)), "url": page.url, "parse": page.parse,
                "domain_id": domains.index(registrable_domain(host_of(page.url))), "title": page.title,
                "text": page.text, "description": page.description, "language": page.language, "flags": page.flags,
                "published_at": _time(page.published), "fetched_at": _time(page.fetched),
                "duplicate_of": page.duplicate_of,
            }
            for number, page in enumerate(pages)
        ],
        "links": [
            {"source": source, "target": target, "resolved": target, "kind": "a", "anchor": anchor}
            for source, target, anchor in sorted(links)
        ],
        "page_counts": [{"page_id": number, "cluster": page.cluster} for number, page in enumerate(pages)],
        "sites": [
            {
                "site_id": number, "url": site, "community_id": names.index(labels[number]),
                "domain_id": domains.index(registrable_domain(host_of(site))),
                "alias_of": 0 if any(page.alias for page in pages if site_of(page.url) == site) else None,
            }
            for number, site in enumerate(sites)
        ],
        "communities": [{"community_id": number, "name": name} for number, name in enumerate(names)],
    }  # fmt: skip
    files = {name: (_write(folder, name, some), len(some)) for name, some in rows.items()}
    tables = {
        name: (Part(file.relative_to(folder.tables).as_posix(), count, file.stat().st_size),)
        for name, (file, count) in files.items()
    }
    (folder.tables / NAME).write_bytes(msgspec.json.encode(Manifest(tables, 1)))
    write_ranks(path, ranks)
    return path


def write_ranks(path: Path, ranks: Mapping[int, float] | None) -> None:
    folder = CrawlFolder.open(path)
    folder.rank.mkdir(exist_ok=True)
    (folder.rank / "ranks.parquet").unlink(missing_ok=True)
    if ranks:
        total = sum(ranks.values())
        table = pa.table({"page_id": list(ranks), "rank": [rank / total for rank in ranks.values()]})
        pq.write_table(table, folder.rank / "ranks.parquet")


def index(path: Path, config: Search | None = None, engine: str = "inline") -> IndexReport:
    with open_engine(engine, 2) as opened:
        return run(config or Search(), CrawlFolder.open(path), opened)


def searcher_of(path: Path, pages: Sequence[Page], config: Search | None = None, **more: Any) -> Searcher:
    """The pages, indexed and opened."""
    write_tables(path, pages, **more)
    index(path, config)
    return Searcher(path, config)


def found(searcher: Searcher, query: str, **more: Any) -> list[int]:
    """The page ids of the hits, the best first."""
    return [hit.page_id for hit in searcher.search(query, **more).hits]


def _time(day: str | None) -> datetime | None:
    return None if day is None else datetime.fromisoformat(day).replace(tzinfo=UTC)


def _write(folder: CrawlFolder, name: str, rows: list[dict[str, Any]]) -> Path:
    table = TABLES[name]
    columns = []
    for field in table.schema:
        empty: Any = None if field.nullable else {pa.string(): "", pa.bool_(): False}.get(field.type, 0)
        if field.type == pa.timestamp("us", tz="UTC") and not field.nullable:
            empty = datetime(2026, 1, 1, tzinfo=UTC)
        columns.append(pa.array([row.get(field.name, empty) for row in rows], field.type))
    path = folder.tables / (f"{name}/part-00000.parquet" if table.parts else f"{name}.parquet")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # a new file, as convert's renames make it
    pq.write_table(pa.Table.from_arrays(columns, schema=table.schema), path)
    return path
