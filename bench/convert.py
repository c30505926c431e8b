"""What converting costs: CPU of each step per real page, and the join of many links under a memory limit.

    python bench/convert.py pages [DIR…]         each step of reading a page, over the HTML files below the folders
    python bench/convert.py links PAGES LINKS MEMORY    the URL-to-id join, counts and clusters on synthetic keys
                                                 (default 1,000,000 20,000,000 4GiB)
    python bench/convert.py increment PAGES MORE    a lab's web: so many pages, then so many more, then none
                                                 (default 10,000 500)

Figures are of this machine, now; compare only those of one run. Steps are measured in CPU time, the best of three.
"""

from __future__ import annotations

import gc
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nephila import markup
from nephila.config.layers import Layer
from nephila.config.sections import Convert, Lab, Links
from nephila.config.units import parse_size
from nephila.convert.attributes import attributes
from nephila.convert.counting import _load_edges, _page_counts
from nephila.convert.resolving import find_resolved, load_lookups, prepare_links
from nephila.convert.run import run
from nephila.convert.simhash import simhash
from nephila.convert.staging import KEYS, LINK_STAGE
from nephila.convert.workshop import Workshop, parts_of
from nephila.crawl.run import open_crawl
from nephila.crawl.run import run as run_crawl
from nephila.engine import open_engine
from nephila.lab.serve import LabServer
from nephila.lab.web import Web
from nephila.markup import boilerplate
from nephila.markup import text as reading
from nephila.markup.language import language_of, load_model
from nephila.store.durable import aside_of, publish
from nephila.store.folder import CrawlFolder
from nephila.store.tables.duck import open_duck
from nephila.store.tables.schemas import PART_IDS
from nephila.urls import NO_RULES

_PAGES = 400
_SITES = 20_000


def timed(name: str, work: Callable[[Any], Any], make: Callable[[], list[Any]]) -> list[Any]:
    """CPU per thing, the best of three rounds over things made anew."""
    best = float("inf")
    results: list[Any] = []
    for _ in range(3):
        things = make()
        gc.collect()
        started = time.process_time()
        results = [work(thing) for thing in things]
        best = min(best, (time.process_time() - started) / len(things))
    print(f"  {name:<34} {best * 1e6:8.0f} µs")
    return results


def pages(folders: Iterable[Path]) -> None:
    """CPU of each step, one after another over the same pages, and of all together."""
    paths = sorted(path for folder in folders for path in folder.rglob("*.htm*") if path.is_file())
    chosen = paths[:: max(1, len(paths) // _PAGES)][:_PAGES]
    most = Convert().max_parse_size
    bodies = [body for path in chosen if b"<" in (body := path.read_bytes()[:most])[:2000]]
    if not bodies:
        sys.exit("no HTML files below these folders")
    load_model()
    print(f"{len(bodies)} pages of {sum(map(len, bodies)) / len(bodies):,.0f} bytes on average")
    charsets = timed("charset", lambda body: markup.choose(body, None).encoding, lambda: bodies)
    texts = timed(
        "decode", lambda pair: pair[0].decode(pair[1], "replace"), lambda: list(zip(bodies, charsets, strict=True))
    )

    def trees(unseen: str = "") -> list[Any]:
        made = [reading.parse(text) for text in texts]
        return [tree.remove(unseen) for tree in made] if unseen else made

    timed("parse", reading.parse, lambda: texts)
    timed("title, description, dates", _head, trees)
    timed("visible bytes", lambda tree: reading._visible_bytes(tree, "utf-8"), lambda: trees(boilerplate.UNSEEN))
    seen = lambda: list(zip(trees(boilerplate.UNSEEN), texts, strict=True))  # noqa: E731
    mains = timed("main text", lambda pair: boilerplate.main_text(*pair), seen)
    timed("language", lambda text: language_of(text, None), lambda: mains)
    timed("simhash", simhash, lambda: mains)
    timed("all of the markup (read_text)", reading.read_text, lambda: texts)
    everything = lambda body: attributes("http://a.kr/", body, None, "text/html", "", NO_RULES, most)  # noqa: E731
    timed("everything (attributes)", everything, lambda: bodies)


def _head(tree: Any) -> None:
    meta, _ = reading._head(tree)
    reading._title(tree, meta)
    reading._dates(tree, meta)


def links(page_count: int, link_count: int, memory: int) -> None:
    """Look up and resolve links of which 80 % stay in their site and 15 % lead to URLs never fetched."""
    choice = np.random.default_rng(1)
    place = Path(tempfile.mkdtemp(prefix="nephila-bench-"))
    work = Workshop(CrawlFolder(place))
    site_of = np.sort(choice.integers(0, _SITES, page_count))
    site_keys = choice.integers(-(2**62), 2**62, _SITES)
    path_keys = choice.integers(-(2**62), 2**62, page_count)
    try:
        _write_keys(work, site_of, site_keys, path_keys)
        _write_links(work, choice, link_count, site_of, site_keys, path_keys)
        started, cpu = time.monotonic(), time.process_time()
        with open_duck(memory, 2, work.scratch) as duck:
            files = ", ".join(f"'{work.keys(part)}'" for part in parts_of(page_count))
            duck.execute(f"CREATE TABLE keys AS SELECT * FROM read_parquet([{files}])")
            load_lookups(duck, [], "meaning")
            find_resolved(duck, "meaning")
            counts = prepare_links(duck, work, list(parts_of(page_count)), memory)
            looked_up = time.monotonic()
            print(f"{page_count:,} pages, {link_count:,} links: {counts}")
            print(f"  look-up and resolve   {looked_up - started:6.1f} s")
            _load_edges(duck, work, parts_of(page_count))
            clusters = _page_counts(duck, work, 3)
            print(f"  counts and clusters   {time.monotonic() - looked_up:6.1f} s ({clusters:,} clusters)")
        print(f"  CPU in all            {time.process_time() - cpu:6.1f} s")
        print(f"  peak memory           {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:6.2f} GiB, "
              f"limit for joins {memory / 2**30:.1f} GiB")  # fmt: skip
    finally:
        shutil.rmtree(place)


def _write_keys(work: Workshop, site_of: Any, site_keys: Any, path_keys: Any) -> None:
    choice = np.random.default_rng(2)
    for part in parts_of(len(site_of)):
        ids = np.arange(part * PART_IDS, min((part + 1) * PART_IDS, len(site_of)))
        rows = len(ids)
        columns = {
            "page_id": ids, "site_id": site_of[ids].astype(np.int32), "domain_id": site_of[ids].astype(np.int32),
            "checksum": [choice.bytes(16) for _ in range(rows)], "simhash": _simhashes(choice, site_of[ids]),
            "has_content": np.ones(rows, bool), "is_home": np.zeros(rows, bool), "own_site": site_keys[site_of[ids]],
            "own_path": path_keys[ids], "own_folded": path_keys[ids],
        }  # fmt: skip
        arrays = [
            pa.array(columns[field.name], field.type) if field.name in columns else pa.nulls(rows, field.type)
            for field in KEYS
        ]
        _write(work, work.keys(part), KEYS, pa.RecordBatch.from_arrays(arrays, schema=KEYS))


def _simhashes(choice: Any, sites: Any) -> Any:
    """Hashes as pages of templates have them: each bit is the sign of what the site's template and the page itself
    say, the template more or less loudly by site; a tenth of the pages are near copies of the one before."""
    bits = np.empty((len(sites), 64), bool)
    _, place = np.unique(sites, return_inverse=True)
    share = choice.beta(2, 2, place.max() + 1)
    template = choice.normal(size=(place.max() + 1, 64))
    for start in range(0, len(sites), 2**14):
        own = place[start : start + 2**14]
        loud = share[own][:, None]
        page = choice.normal(size=(len(own), 64))
        bits[start : start + len(own)] = np.sqrt(loud) * template[own] + np.sqrt(1 - loud) * page > 0
    copies = np.flatnonzero(choice.random(len(sites)) < 0.1)
    copies = copies[copies > 0]
    bits[copies] = bits[copies - 1]
    bits[copies, choice.integers(0, 64, len(copies))] ^= choice.random(len(copies)) < 0.7
    return np.packbits(bits, axis=1, bitorder="little").view(np.int64).ravel()


def increment(first: int, more: int) -> None:
    """What a further conversion costs beside the first one."""
    place = Path(tempfile.mkdtemp(prefix="nephila-bench-"))
    try:
        with LabServer(Lab(sites=max(100, first // 20)), folder=place / "lab") as server:
            assert server.lab is not None
            seeds = list(Web(server.lab).seeds())
            for limit, what in ((first, "first"), (first + more, "further"), (None, "nothing new")):
                if limit is not None:
                    _crawl(place / "crawl", server.dns, seeds, limit)
                with open_engine("local", 2) as engine:
                    report = run(Convert(), Links(), CrawlFolder.open(place / "crawl"), engine)
                steps = ", ".join(f"{step} {seconds:.2f}" for step, seconds in report.steps.items())
                print(f"{what:<12} {report.seconds:7.2f} s for {report.extracted_pages:,} of {report.pages:,} pages "
                      f"({report.page_parts} parts of pages, {report.link_parts} of links): {steps}")  # fmt: skip
    finally:
        shutil.rmtree(place)


def _crawl(path: Path, dns: str, seeds: list[str], max_pages: int) -> None:
    settings = {
        "net.allow_private": ["127.0.0.0/8"], "net.nameservers": [dns], "politeness.min_delay": 0.0,
        "politeness.delay_factor": 0.0, "crawl.retries": 0, "crawl.max_pages": max_pages,
    }  # fmt: skip
    opened, seed_list = open_crawl(path, [Layer("the bench", settings)], [(url, "the lab") for url in seeds], 2)
    try:
        with open_engine("local", 2) as engine:
            run_crawl(opened, seed_list, engine, 2)
    finally:
        opened.lock.release()


def _write_links(work: Workshop, choice: Any, count: int, site_of: Any, site_keys: Any, path_keys: Any) -> None:
    pages_total = len(site_of)
    for part in parts_of(pages_total):
        first, last = part * PART_IDS, min((part + 1) * PART_IDS, pages_total)
        rows = count * (last - first) // pages_total
        sources = np.sort(choice.integers(first, last, rows))
        near = np.clip(sources + choice.integers(-25, 26, rows), 0, pages_total - 1)
        targets = np.where(choice.random(rows) < 0.8, near, choice.integers(0, pages_total, rows))
        paths = np.where(choice.random(rows) < 0.15, choice.integers(-(2**62), 2**62, rows), path_keys[targets])
        anchors = pa.array([f"anchor {number}" for number in range(1000)]).take(
            pa.array(choice.integers(0, 1000, rows))
        )
        sizes = np.full(rows, 60, np.int32)
        kinds = pa.array(["a"]).take(pa.array(np.zeros(rows, int)))
        columns = [sources, site_keys[site_of[targets]], paths, paths, kinds, anchors, sizes]
        arrays = [pa.array(column, field.type) for column, field in zip(columns, LINK_STAGE, strict=True)]
        _write(work, work.raw_links(part), LINK_STAGE, pa.RecordBatch.from_arrays(arrays, schema=LINK_STAGE))


def _write(work: Workshop, path: Path, schema: Any, batch: Any) -> None:
    work.prepare(path, schema, [batch])
    publish(aside_of(path), path)
    del work.prepared[path]


if __name__ == "__main__":
    what, *rest = [*sys.argv[1:], ""] if len(sys.argv) < 2 else sys.argv[1:]
    if what == "links":
        page_count, link_count, memory = rest if rest else ("1_000_000", "20_000_000", "4GiB")
        links(int(page_count), int(link_count), parse_size(memory))
    elif what == "increment":
        increment(*(map(int, rest) if rest else (10_000, 500)))
    elif what == "pages":
        pages([Path(folder) for folder in rest] or [Path("/usr/share/doc")])
    else:
        sys.exit(__doc__)
