"""Kinds of crawler on real manuals and on the lab: pages asked for, harvest ratio, precision and recall (S4-1, S1-8).

    python bench/scopes.py FOLDER        `make scopes`: FOLDER holds httrack-doc, anarchism and mplayer-doc, unpacked

Three manuals of Debian packages are sites of one small web, and a page links to the start of each (of mplayer's to
each of its ten languages). The truth about a page is where it lies, which manual and which language's folder; but
many pages were never translated: one is English that shares half of its pairs of words with the English page of its
name. What a crawl of the whole finds is what each kind of crawler is measured against.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from nephila.config.layers import Layer
from nephila.config.sections import Convert, Lab, Links
from nephila.convert.run import run as convert
from nephila.crawl.report import CrawlReport
from nephila.crawl.run import open_crawl
from nephila.crawl.run import run as run_crawl
from nephila.engine import open_engine
from nephila.lab.serve import LabServer
from nephila.lab.static import StaticSite
from nephila.lab.web import Web
from nephila.markup.glance import glance
from nephila.store.database import open_reader
from nephila.store.folder import CrawlFolder
from nephila.store.opened import OpenedCrawl

MANUALS = {
    "httrack.test": ("usr/share/httrack/html", ["/index.html"]),
    "anarchism.test": ("usr/share/doc/anarchism/html", ["/index.html"]),
    "mplayer.test": ("usr/share/doc/mplayer/HTML", [f"/{language}/index.html" for language in (
        "cs", "de", "en", "es", "fr", "hu", "it", "pl", "ru", "zh_CN")]),
}  # fmt: skip
FAST = {
    "politeness.min_delay": 0.0, "politeness.delay_factor": 0.0, "crawl.retries": 0, "crawl.sleep_min": 0.1,
    "archive.sync": False, "net.header_timeout": 3.0, "net.idle_timeout": 3.0, "net.connect_timeout": 3.0,
}  # fmt: skip
EXAMPLES = 12


@dataclass(frozen=True)
class Crawled:
    """What one crawl asked for and got: HTML pages by their URL."""

    report: CrawlReport
    pages: frozenset[str]
    off: frozenset[str]  # judged to be off topic or in another language
    seconds: float
    cpu_s: float


def crawl(folder: Path, server: LabServer, seeds: list[str], **settings: object) -> Crawled:
    named = {key.replace("__", "."): value for key, value in settings.items()}
    net = {"net.allow_private": ["127.0.0.0/8"], "net.nameservers": [server.dns]}
    opened, seed_list = open_crawl(folder, [Layer("bench", {**FAST, **net, **named})], [(s, "bench") for s in seeds], 1)
    started, cpu = time.monotonic(), time.process_time()
    try:
        with open_engine("inline", 1) as engine:
            report = run_crawl(opened, seed_list, engine, 1)
    finally:
        opened.lock.release()
    seconds, cpu_s = time.monotonic() - started, time.process_time() - cpu
    reader = open_reader(CrawlFolder(folder).agent_database(0))
    sql = """SELECT sites.url || path, flags FROM pages JOIN sites USING (site)
             WHERE pages.outcome = 'ok' AND mime = 'text/html'"""
    rows = dict(reader.execute(sql))
    reader.close()
    off = frozenset(url for url, flags in rows.items() if "off:" in flags)
    return Crawled(report, frozenset(rows), off, seconds, cpu_s)


def show(name: str, found: Crawled, wanted: set[str], *, judged: bool = True) -> None:
    """A line: requests, HTML pages, the share of them that is wanted, how many of the wanted came, and the judge's."""
    hits = found.pages & wanted
    of_judge = ""
    if judged:
        seen = {url for url in found.pages if "hub.test" not in url}
        right = sum((url not in found.off) == (url in wanted) for url in seen)
        said = {url for url in seen if url not in found.off}
        of_judge = f"{len(said & wanted) / max(1, len(said)):>10.1%}{right / max(1, len(seen)):>10.1%}"
        of_judge += f"{found.report.harvest_ratio or 0:>10.1%}"
    print(
        f"{name:<38}{found.report.run_requests:>9,}{len(found.pages):>7,}{len(hits) / max(1, len(found.pages)):>9.1%}"
        f"{len(hits) / max(1, len(wanted)):>8.1%}{found.cpu_s:>7.1f}{of_judge}"
    )


def manuals(folder: Path, place: Path) -> None:
    hub = place / "hub"
    hub.mkdir()
    sites = [StaticSite("hub.test", "127.9.0.1", str(hub))]
    for number, (host, (below, _)) in enumerate(MANUALS.items(), 2):
        sites.append(StaticSite(host, f"127.9.0.{number}", str(folder / below)))
    with LabServer(None, static=sites, processes=1) as server:
        links = "".join(
            f'<a href="http://{host}:{server.port}{start}">{host}</a> '
            for host, (_, starts) in MANUALS.items()
            for start in starts
        )
        (hub / "index.html").write_text(f"<html><body>{links}</body></html>")
        seeds = [f"http://hub.test:{server.port}/index.html"]
        print(f"{'':<38}{'requests':>9}{'pages':>7}{'wanted':>9}{'recall':>8}{'CPU s':>7}", end="")
        print(f"{'precision':>10}{'accuracy':>10}{'harvest':>10}")
        general = crawl(place / "general", server, seeds)
        player = {url for url in general.pages if "mplayer.test" in url}
        told = {url: spoken_in(url, folder) for url in player}
        english = {url for url, language in told.items() if language == "en"}
        german = {url for url, language in told.items() if language == "de"}
        print(f"{len(player)} pages of the player's manual, {len(english)} in English, {len(german)} in German")
        show("general: everything", general, english, judged=False)
        words = ["mplayer", "mencoder", "video", "audio", "codec", "subtitles", "playback"]
        for margin in (0, 1):
            topical = crawl(place / f"words-{margin}", server, seeds, crawl__profile="topical", topic__wanted=words,
                            topic__min_hits=3, scope__languages=["en"], scope__margin=margin)  # fmt: skip
            show(f"topical: words, English, margin {margin}", topical, english)
        wanted, unwanted = examples(folder, place)
        for margin in (0, 1):
            learnt = crawl(place / f"learnt-{margin}", server, seeds, crawl__profile="topical", scope__margin=margin,
                           topic__wanted_pages=[wanted], topic__unwanted_pages=[unwanted])  # fmt: skip
            show(f"topical: {EXAMPLES} + {EXAMPLES} examples, margin {margin}", learnt, english)
        spoken = crawl(place / "german", server, seeds, scope__languages=["de"], scope__margin=0)
        show("language: German, margin 0", spoken, german)
        wrappers = place / "wrappers.toml"
        wrappers.write_text(
            f'[manual]\nmatch = ["http://mplayer.test:{server.port}/en/*.html"]\nfields.heading = ".titlepage .title"\n'
            'fields.next = { css = "link[rel=next]", attribute = "href", type = "url" }\n'
            'fields.sections = { css = "h2", many = true }\n'
            """fields.generator = { xpath = "//meta[@name='generator']/@content" }\n"""
        )
        start = [f"http://mplayer.test:{server.port}/en/index.html"]
        named = crawl(place / "wrapper", server, start, crawl__profile="wrapper", convert__wrappers=str(wrappers))
        listed = {url for url in player if "/en/" in url}
        show("wrapper: */en/*.html", named, listed, judged=False)
        fields(place / "wrapper", wrappers)
        focusing = crawl(place / "focusing", server, start, crawl__profile="focusing")
        show("focusing: the site of one seed", focusing, listed, judged=False)


def spoken_in(url: str, folder: Path) -> str:
    """The language of a page of the player's manual, by its folder, or English where it was never translated."""
    language, name = url.split("/")[-2:]
    below = folder / MANUALS["mplayer.test"][0]
    own, original = (pairs_of(below / each / name) for each in (language, "en"))
    return "en" if own and len(own & original) >= len(own) / 2 else language.partition("_")[0]


def pairs_of(path: Path) -> set[tuple[str, str]]:
    words = glance(path.read_bytes(), None).text.split() if path.exists() else []
    return set(pairwise(words))


def examples(folder: Path, place: Path) -> tuple[str, str]:
    """A few pages of the English manual, and as many of everything else; every seventh, so that none is chosen."""
    chosen: dict[str, list[Path]] = {"wanted": [], "unwanted": []}
    for host, (below, _) in MANUALS.items():
        for number, path in enumerate(sorted((folder / below).rglob("*.html"))):
            kind = "wanted" if host == "mplayer.test" and path.parent.name == "en" else "unwanted"
            if number % 7 == 3 and (kind == "wanted" or host != "mplayer.test" or spoken_in(str(path), folder) != "en"):
                chosen[kind].append(path)
    for kind, paths in chosen.items():
        (place / kind).mkdir()
        step = max(1, len(paths) // EXAMPLES)
        for number, path in enumerate(paths[::step][:EXAMPLES]):
            (place / kind / f"{number}.html").write_bytes(path.read_bytes())
    return str(place / "wanted"), str(place / "unwanted")


def fields(path: Path, wrappers: Path) -> None:
    with open_engine("inline", 1) as engine:
        convert(Convert(wrappers=str(wrappers)), Links(), CrawlFolder(path), engine)
    sql = """SELECT field, count(*) AS number, count(DISTINCT page_id) AS pages,
                    count(*) FILTER (field = 'heading' AND pages.title LIKE '%' || fields.text || '%') AS in_title
             FROM fields JOIN pages USING (page_id) GROUP BY field ORDER BY field"""
    for row in OpenedCrawl(path).sql(sql).to_pylist():
        told = f", {row['in_title']} of them in the page's title" if row["field"] == "heading" else ""
        print(f"  {row['field']:<12}{row['number']:>6,} values on {row['pages']:,} pages{told}")


def lab(place: Path) -> None:
    """All kinds on the lab: half of the addresses are called Korean (S1-8); of a topic the lab's links know nothing."""
    with LabServer(Lab(sites=24, max_depth=2, seed=6), folder=place / "lab") as server:
        assert server.lab is not None
        seeds = list(Web(server.lab).seeds())
        general = crawl(place / "lab-general", server, seeds)
        reader = open_reader(CrawlFolder(place / "lab-general").coordinator_database)
        rows = dict(reader.execute("SELECT url, address FROM sites WHERE address <> ''"))
        reader.close()
        addresses = sorted(set(rows.values()))
        (place / "kr.txt").write_text("".join(f"{address}/32\n" for address in addresses[::2]))
        korean = crawl(place / "lab-korea", server, seeds, scope__include_countries=["KR"],
                       scope__country_ranges=[f"KR={place / 'kr.txt'}"])  # fmt: skip
        inside = {url for url in general.pages if rows.get(url[: url.index("/", 8)]) in set(addresses[::2])}
        print(f"\nlab, 24 seeds: {len(rows)} sites on {len(addresses)} addresses, half of them called Korean")
        show("general", general, inside, judged=False)
        show("country KR", korean, inside, judged=False)
        told = korean.report
        print(f"  refused: {told.refused_sites} of {told.located_sites} sites with an address, {told.refused_by_rule}")
        for margin in (0, 2):
            topical = crawl(place / f"lab-topic-{margin}", server, seeds, topic__wanted=["검색"], topic__min_hits=3,
                            scope__margin=margin)  # fmt: skip
            on = topical.report.judged
            ratio = topical.report.harvest_ratio
            print(f"topic 검색 (3 hits), margin {margin}: {topical.report.pages:,} pages, harvest {ratio}, {on}")
        largest, [start, *_] = largest_site(general, seeds)
        own = {url for url in general.pages if url.startswith(largest)}
        focusing = crawl(place / "lab-focusing", server, [start], crawl__profile="focusing")
        show("focusing: the largest site", focusing, own, judged=False)
        wrappers = place / "lab.toml"
        wrappers.write_text(
            f'[lab]\nmatch = ["{largest}*"]\nfields.heading = "h1"\nfields.links = {{ css = "a", many = true }}\n'
        )
        named = crawl(place / "lab-wrapper", server, [start], crawl__profile="wrapper", convert__wrappers=str(wrappers))
        show("wrapper: pages of the largest site", named, own, judged=False)
        fields(place / "lab-wrapper", wrappers)
        with open_engine("inline", 1) as engine:
            convert(Convert(), Links(), CrawlFolder(place / "lab-general"), engine)
        sql = "SELECT url FROM pages WHERE language = 'en' AND state = 'OK'"
        english = {row["url"] for row in OpenedCrawl(place / "lab-general").sql(sql).to_pylist()} & general.pages
        for margin in (0, 1):
            spoken = crawl(place / f"lab-en-{margin}", server, seeds, scope__languages=["en"], scope__margin=margin)
            show(f"language: English, margin {margin}", spoken, english)


def largest_site(general: Crawled, seeds: list[str]) -> tuple[str, list[str]]:
    """The site of the seeds that has the most pages, and its seeds."""

    def site(url: str) -> str:
        return url[: url.index("/", 8) + 1]

    pages = Counter(site(url) for url in general.pages)
    largest = max({site(seed) for seed in seeds}, key=lambda name: (pages[name], name))
    return largest, [seed for seed in seeds if site(seed) == largest]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        print(f"load {os.getloadavg()[0]:.2f}")
        manuals(Path(sys.argv[1]), Path(scratch))
        lab(Path(scratch))
        print(f"load {os.getloadavg()[0]:.2f}")
