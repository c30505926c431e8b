"""What searching costs, and how good it is.

    python bench/search.py build DIR [PAGES]     synthetic tables (Zipf words, a fifth Korean) and their index in DIR
    python bench/search.py speed DIR [QUERIES]   milliseconds per query on that index, by the number of pages that match
    python bench/search.py lab DIR [SITES]       the lab's web collected, converted, ranked and indexed in DIR
    python bench/search.py manuals DIR DEBS      the same of three real manuals; DEBS as `make real-sites` fills it
    python bench/search.py quality DIR…          known-item search on such folders, with and without rank

Figures are of this machine, now; compare only those of one run.
"""

from __future__ import annotations

import dataclasses
import os
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nephila.config.sections import Search
from nephila.engine import open_engine
from nephila.search.fields import words_of
from nephila.search.index import run
from nephila.search.query import Query, QueryError, Words
from nephila.search.searching import Searcher
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import NAME, Manifest, Part
from nephila.store.tables.schemas import PART_IDS, TABLES

_VOCABULARY = 200_000
_TEXT_WORDS = 300
_SITE_PAGES = 200
_LINKS_PER_PAGE = 8
_SEED = 1


def words(count: int, korean: bool) -> Any:
    """Different words, the frequent ones short: each number, multiplied so that neighbours differ, in signs."""
    letters = [chr(code) for code in range(0xAC00, 0xAC00 + 2000)] if korean else list("etaoinshrdlucmfwypvbgkjqxz")
    found = []
    for number in range(count):
        length = 2 + (number + 2).bit_length() // (5 if korean else 3)
        rest, signs = number * 1_000_003 % len(letters) ** length, []
        for _ in range(length):
            rest, place = divmod(rest, len(letters))
            signs.append(letters[place])
        found.append("".join(signs))
    return np.array(found, dtype=object)


def zipf(choice: Any, count: int, most: int) -> Any:
    """Places 0 … most - 1, place n about 1 / (n + 1) as frequent as the first."""
    return np.minimum(np.exp(choice.random(count) * np.log(most)).astype(np.int64) - 1, most - 1)


def build(path: Path, pages: int) -> None:
    folder = CrawlFolder.create(path)
    started = time.monotonic()
    if not (folder.tables / NAME).exists():
        _write_tables(folder, pages)
        print(f"{pages:,} synthetic pages in tables: {time.monotonic() - started:.1f} s")
    started, cores = time.monotonic(), os.cpu_count() or 1
    with open_engine("local", cores) as engine:
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        report = run(Search(), folder, engine)
    took = time.monotonic() - started
    print(msgspec.json.format(msgspec.json.encode(report), indent=1).decode())
    written = report.written / took
    used = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) - used
    print(f"{used / max(report.written, 1) * 1000:.3f} ms CPU per page, all processes and threads")
    print(f"{took:.1f} s: {written:,.0f} pages/s on {cores} cores, {written / cores:,.0f} per core; "
          f"{report.index_bytes / max(report.pages, 1):,.0f} bytes of index per page")  # fmt: skip
    for who, name in ((resource.RUSAGE_SELF, "this process"), (resource.RUSAGE_CHILDREN, "largest worker")):
        print(f"  peak memory of {name}: {resource.getrusage(who).ru_maxrss / 2**10:,.0f} MiB")


def _write_tables(folder: CrawlFolder, pages: int) -> None:
    latin, hangul = words(_VOCABULARY, False), words(_VOCABULARY, True)
    sites = (pages + _SITE_PAGES - 1) // _SITE_PAGES
    tables: dict[str, list[Part]] = defaultdict(list)
    for part in range((pages + PART_IDS - 1) // PART_IDS):
        ids = np.arange(part * PART_IDS, min((part + 1) * PART_IDS, pages))
        choice = np.random.default_rng((_SEED, part))
        with_text = [_pages(choice, some, latin, hangul) for some in np.array_split(ids, max(1, len(ids) // 8192))]
        _add(folder, tables, "pages", f"pages/part-{part:05}.parquet", pa.concat_tables(with_text))
        _add(folder, tables, "links", f"links/part-{part:05}.parquet", _links(choice, ids, pages, latin, hangul))
    ids = np.arange(pages)
    counts = {"page_id": ids, "in_links": ids * 0, "out_links": ids * 0}
    _add(folder, tables, "page_counts", "page_counts.parquet", _table("page_counts", pages, counts))
    numbers = np.arange(sites, dtype=np.int32)
    names = [f"http://{_host(number)}" for number in range(sites)]
    rows = {"site_id": numbers, "domain_id": numbers, "community_id": numbers // 50, "url": names}
    _add(folder, tables, "sites", "sites.parquet", _table("sites", sites, rows))
    count = int(sites + 49) // 50
    rows = {"community_id": np.arange(count, dtype=np.int32), "name": [f"community{number}" for number in range(count)]}
    _add(folder, tables, "communities", "communities.parquet", _table("communities", count, rows))
    folder.rank.mkdir(exist_ok=True)
    ranks = 1 / (np.random.default_rng(_SEED).permutation(pages) + 10.0)
    pq.write_table(pa.table({"page_id": ids, "rank": ranks / ranks.sum()}), folder.rank / "ranks.parquet")
    manifest = Manifest({name: tuple(parts) for name, parts in tables.items()}, 1)
    (folder.tables / NAME).write_bytes(msgspec.json.encode(manifest))


def _host(site: int) -> str:
    return f"www.site{site}.example"


def _pages(choice: Any, ids: Any, latin: Any, hangul: Any) -> Any:
    titles, texts, languages = [], [], []
    lengths = choice.gamma(2.0, _TEXT_WORDS / 2, len(ids)).astype(np.int64) + 5
    drawn = zipf(choice, int(lengths.sum()), _VOCABULARY)
    starts = np.cumsum(lengths) - lengths
    for page, start, length in zip(ids.tolist(), starts.tolist(), lengths.tolist(), strict=True):
        korean = page // _SITE_PAGES % 5 == 0
        vocabulary = hangul if korean else latin
        chosen = vocabulary[drawn[start : start + length]].tolist()
        texts.append(" ".join(chosen))
        titles.append(" ".join(chosen[:: max(1, length // 5)][:5]))
        languages.append("ko" if korean else "en")
    hosts = ids // _SITE_PAGES
    columns = {
        "page_id": ids, "site_id": hosts.astype(np.int32), "domain_id": hosts.astype(np.int32),
        "parse": ["ok"] * len(ids), "url": [f"http://{_host(page // _SITE_PAGES)}/page{page}.html" for page in ids],
        "title": titles, "description": [text[:150] for text in texts], "text": texts, "language": languages,
        "modified_at": pa.array(ids * 10**9, pa.timestamp("us", tz="UTC")),
    }  # fmt: skip
    return _table("pages", len(ids), columns)


def _links(choice: Any, ids: Any, pages: int, latin: Any, hangul: Any) -> Any:
    rows = len(ids) * _LINKS_PER_PAGE
    targets = np.minimum(choice.zipf(1.3, rows) - 1, pages - 1) * 7919 % pages
    places = zipf(choice, rows, 20_000)
    vocabulary = np.where(targets // _SITE_PAGES % 5 == 0, hangul[places], latin[places])
    columns = {"source": np.repeat(ids, _LINKS_PER_PAGE), "target": targets, "resolved": targets, "anchor": vocabulary}
    return _table("links", rows, columns)


def _table(name: str, rows: int, columns: dict[str, Any]) -> Any:
    """Columns that nobody asks for are zero or empty."""
    arrays = []
    for field in TABLES[name].schema:
        if field.name in columns:
            arrays.append(pa.array(columns[field.name], field.type))
        elif field.nullable:
            arrays.append(pa.nulls(rows, field.type))
        else:
            empty: Any = {pa.string(): "", pa.bool_(): False}.get(field.type, 0)
            arrays.append(pa.array([empty] * rows, field.type))
    return pa.Table.from_arrays(arrays, schema=TABLES[name].schema)


def _add(folder: CrawlFolder, tables: dict[str, list[Part]], table: str, name: str, rows: Any) -> None:
    path = folder.tables / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, path, compression="zstd", row_group_size=2**13 if table == "pages" else 2**17)
    tables[table].append(Part(name, rows.num_rows, path.stat().st_size))


def speed(path: Path, queries: int) -> None:
    """Words of one page each, so that something is found; one to four of them, as people type."""
    started = time.perf_counter()
    searcher = Searcher(path)
    print(f"{searcher.pages:,} pages; opened in {(time.perf_counter() - started) * 1000:.0f} ms")
    choice = np.random.default_rng(2)
    folder = CrawlFolder.open(path)
    file = folder.tables / "pages" / "part-00000.parquet"
    titles = pq.read_table(file, columns=["title"]).column("title").to_pylist()
    asked = []
    for _ in range(queries):
        title = list(dict.fromkeys(titles[int(choice.integers(len(titles)))].split()))
        count = int(choice.choice([1, 2, 3, 4], p=[0.25, 0.4, 0.25, 0.1]))
        asked.append(" ".join(title[:count]))
    kinds: dict[str, list[str]] = {
        "words": asked,
        "of one site": [f"{text} site:{_host(number)}" for number, text in enumerate(asked[: queries // 4])],
        "of one community": [f"{text} community:{number % 50}" for number, text in enumerate(asked[: queries // 4])],
        "a year alone": [f"{text} after:1971 before:1972" for text in asked[: queries // 4]],
        "phrases": [f'"{" ".join(titles[number].split()[:2])}"' for number in range(queries // 4)],
    }
    for query in asked[:50]:
        searcher.search(query)
    for kind, texts in kinds.items():
        rows = [_timed(searcher, text) for text in texts]
        print(f"{kind:<18} {_quantiles(rows)}")
        if kind == "words":
            for low, high in ((0, 100), (100, 10_000), (10_000, 100_000), (100_000, 10**9)):
                some = [row for row in rows if low <= row[2] < high]
                if some:
                    print(f"  {low:>9,} or more match {_quantiles(some)}")
    with open_threads(searcher, asked) as rate:
        print(f"{'two threads':<18} {rate:,.0f} queries/s")


def open_threads(searcher: Searcher, asked: Sequence[str]) -> Any:
    from concurrent.futures import ThreadPoolExecutor
    from contextlib import nullcontext

    started = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(searcher.search, asked))
    return nullcontext(len(asked) / (time.perf_counter() - started))


def _timed(searcher: Searcher, text: str) -> tuple[float, float, int]:
    started, cpu = time.perf_counter(), time.thread_time()
    results = searcher.search(text)
    return (time.perf_counter() - started) * 1000, (time.thread_time() - cpu) * 1000, results.total


def lab(path: Path, sites: int) -> None:
    from nephila.config.sections import Lab
    from nephila.lab.serve import LabServer
    from nephila.lab.web import Web

    with LabServer(Lab(sites=sites, max_depth=2), folder=path / "lab") as server:
        assert server.lab is not None
        _collect(path / "crawl", server.dns, list(Web(server.lab).seeds()))


def manuals(path: Path, packages: Path) -> None:
    import subprocess

    from nephila.lab.serve import LabServer
    from nephila.lab.static import StaticSite

    sites = []
    for number, (name, (below, _)) in enumerate(_MANUALS.items()):
        (package,) = packages.glob(f"{name}_*.deb")
        path.mkdir(parents=True, exist_ok=True)
        subprocess.run(["dpkg-deb", "-x", str(package), str(path / name)], check=True)
        sites.append(StaticSite(f"{name}.test", f"127.8.0.{number + 1}", str(path / name / below)))
    with LabServer(None, static=sites, folder=path / "lab") as server:
        seeds = [f"http://{name}.test:{server.port}{start}" for name, (_, start) in _MANUALS.items()]
        _collect(path / "crawl", server.dns, seeds)


_MANUALS = {
    "httrack-doc": ("usr/share/httrack/html", "/index.html"),
    "anarchism": ("usr/share/doc/anarchism/html", "/index.html"),
    "mplayer-doc": ("usr/share/doc/mplayer/HTML", "/en/index.html"),
}


def _collect(path: Path, dns: str, seeds: list[str]) -> None:
    from nephila.config.layers import Layer
    from nephila.convert.run import run as convert
    from nephila.crawl.run import open_crawl
    from nephila.crawl.run import run as crawl
    from nephila.rank.run import run as rank

    settings: dict[str, object] = {
        "net.allow_private": ["127.0.0.0/8"], "net.nameservers": [dns], "politeness.min_delay": 0.0,
        "politeness.delay_factor": 0.0, "crawl.retries": 0, "crawl.sleep_min": 0.1, "net.header_timeout": 4.0,
    }  # fmt: skip
    cores = os.cpu_count() or 1
    opened, seed_list = open_crawl(path, [Layer("the bench", settings)], [(url, "bench") for url in seeds], cores)
    config = opened.effective.config
    try:
        with open_engine("local", cores) as engine:
            crawl(opened, seed_list, engine, cores)
    finally:
        opened.lock.release()
    with open_engine("local", cores) as engine:
        convert(config.convert, config.links, opened.folder, engine)
        rank(config.rank, opened.folder, engine)
        report = run(config.search, opened.folder, engine)
    print(f"{report.pages:,} pages of {report.sites:,} sites in {path}")


_DEPTH = 50
"""A page that is not among so many hits counts as not found."""


def quality(path: Path, items: int = 400) -> None:
    """Mean reciprocal rank of a page that is looked for by its title, by words of it, and by what links call it."""
    asked = _known_items(path, items)
    print(f"{path}: " + ", ".join(f"{len(pairs)} by {kind}" for kind, pairs in asked.items()))
    print(f"{'rank_weight':>12}" + "".join(f"{kind:>20}" for kind in asked) + f"{'all':>10}")
    for rank_weight in (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0):
        config = dataclasses.replace(Search(), rank_weight=rank_weight, candidates=5000, per_site=None)
        searcher = Searcher(path, config)
        scores = [np.mean([_reciprocal(searcher, *pair) for pair in pairs]) for pairs in asked.values()]
        print(f"{rank_weight:>12}" + "".join(f"{score:>20.3f}" for score in scores) + f"{np.mean(scores):>10.3f}")


def _known_items(path: Path, items: int) -> dict[str, list[tuple[Query, int]]]:
    """Queries and the page meant. Titles that several pages have are left out, links are drawn as they occur."""
    import nephila

    opened, choice = nephila.open(path), np.random.default_rng(3)
    pages = opened.sql("""
        SELECT page_id, title FROM pages JOIN ranks USING (page_id) WHERE title <> '' AND flags NOT LIKE '%noindex%'
        QUALIFY count(*) OVER (PARTITION BY lower(title)) = 1 ORDER BY page_id""")
    chosen = [pages.slice(int(place), 1).to_pylist()[0] for place in choice.permutation(pages.num_rows)[:items]]
    links = opened.sql("""
        SELECT anchor, resolved FROM links JOIN ranks ON ranks.page_id = resolved JOIN pages USING (page_id)
        WHERE anchor <> '' AND source <> resolved AND flags NOT LIKE '%noindex%' ORDER BY source, resolved, anchor""")
    drawn = [links.slice(int(place), 1).to_pylist()[0] for place in choice.permutation(links.num_rows)[:items]]
    whole = [(_query(words_of(row["title"])), row["page_id"]) for row in chosen]
    some = []
    for row in chosen:
        titled = words_of(row["title"])
        kept = sorted(choice.permutation(len(titled))[:2].tolist())
        some.append((_query([titled[place] for place in kept]), row["page_id"]))
    called = [(_query(words_of(row["anchor"])), row["resolved"]) for row in drawn]
    kinds = {"whole title": whole, "two words of it": some, "anchor text": called}
    return {kind: [pair for pair in pairs if pair[0].all_of] for kind, pairs in kinds.items()}


def _query(words: list[str]) -> Query:
    return Query(tuple((Words(word),) for word in words[:16]))


def _reciprocal(searcher: Searcher, query: Query, page_id: int) -> float:
    try:
        found = searcher.page_ids(query, size=_DEPTH)
    except QueryError:
        return 0.0
    group = searcher.group_of(page_id)
    return next((1 / place for place, one in enumerate(found, 1) if searcher.group_of(one) == group), 0.0)


def _quantiles(rows: list[tuple[float, float, int]]) -> str:
    """By the clock, and by the CPU, which a busy machine does not blur."""
    (p50, p95, p99), (cpu50, cpu95, _) = (
        np.quantile([row[place] for row in rows], [0.5, 0.95, 0.99]) for place in (0, 1)
    )
    return (
        f"{len(rows):>6} queries, p50 {p50:7.2f} ms, p95 {p95:7.2f}, p99 {p99:7.2f}; CPU {cpu50:6.2f} and {cpu95:6.2f}"
    )


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or [""]
    if what == "build" and rest:
        build(Path(rest[0]), int(rest[1]) if rest[1:] else 1_000_000)
    elif what == "speed" and rest:
        speed(Path(rest[0]), int(rest[1]) if rest[1:] else 2000)
    elif what == "lab" and rest:
        lab(Path(rest[0]), int(rest[1]) if rest[1:] else 48)
    elif what == "manuals" and len(rest) == 2:
        manuals(Path(rest[0]), Path(rest[1]))
    elif what == "quality" and rest:
        for place in rest:
            quality(Path(place))
    else:
        sys.exit(__doc__)
