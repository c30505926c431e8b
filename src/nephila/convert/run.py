"""The front door: a crawl folder goes in, its tables come out; run again, it does what is new.

The steps, in order: give ids, extract what was requested since the last conversion, lay it over the page parts, find
duplicates and where pages lead, resolve the links of touched parts, count what only the whole can tell, publish.
Nothing a reader sees changes before the last step; a conversion that is killed and run again gives the same bytes.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from nephila.config.sections import Convert, Links
from nephila.convert.changes import PORTION_PAGES, Portions, find_changes
from nephila.convert.composing import find_duplicates, load_keys, prepare_fields, prepare_pages, prepare_raw_links
from nephila.convert.counting import Found, count
from nephila.convert.crawled import SiteRow, SlotReader, open_slots, read_sites
from nephila.convert.extract import VERSION, Extracted, extract
from nephila.convert.ids import IdStore, SiteIds
from nephila.convert.listing import prepare_archive_files, prepare_seeds, prepare_unfetched, prepare_visits, visit_parts
from nephila.convert.report import ConvertReport
from nephila.convert.resolving import RESOLVED, LinkCounts, affected_parts, find_resolved, load_lookups, prepare_links
from nephila.convert.workshop import Workshop, parts_of
from nephila.engine import Engine
from nephila.markup.pdf import can_read as can_read_pdf
from nephila.markup.wrappers import NO_WRAPPERS, read_wrappers
from nephila.store.durable import crash_point, make_directory
from nephila.store.folder import CrawlFolder
from nephila.store.lock import FileLock
from nephila.store.tables.duck import batches, open_duck
from nephila.store.tables.manifest import Manifest, Part, publish_all, read_manifest
from nephila.store.tables.schemas import FIELDS, LINKS, PAGES, TABLES, VISITS
from nephila.urls import url_hash

TRIES: Final = 2 * PORTION_PAGES + 1
"""Each page of a portion may cost two workers (`guarding`)."""

Tell = Callable[[str, int, int], None]
"""step, done, of how many"""


class _Settings(msgspec.Struct, frozen=True):
    """What rows depend on beside the crawl; a change of it makes them anew."""

    version: int
    strip: tuple[str, ...]
    max_url_length: int
    max_parse_bytes: int
    case: str
    max_pdf_bytes: int = 0
    reads_pdf: bool = False
    wrappers: str = ""


def run(config: Convert, links: Links, folder: CrawlFolder, engine: Engine, tell: Tell | None = None) -> ConvertReport:
    """Convert what is new; blocking. Works while a crawl runs, on what it has committed."""
    lock = FileLock.take(folder.state / "convert.lock", "convert", subject=f"The conversion of {folder.path}")
    with lock:
        ids = IdStore(folder.state / "convert.db")
        try:
            with open_slots(folder) as readers:
                return _Conversion(config, links, folder, engine, ids, readers, tell or _silence).run()
        finally:
            ids.close()


class _Conversion:
    """One run, step by step, and what the steps share."""

    def __init__(
        self, config: Convert, links: Links, folder: CrawlFolder, engine: Engine, ids: IdStore,
        readers: Sequence[SlotReader], tell: Tell,
    ) -> None:  # fmt: skip
        self._config, self._links, self._folder, self._engine = config, links, folder, engine
        self._ids, self._readers, self._tell = ids, readers, tell
        self._work = Workshop(folder)
        self._wrappers = read_wrappers(config.wrappers) if config.wrappers else NO_WRAPPERS
        self._steps: dict[str, float] = {}

    def run(self) -> ConvertReport:
        started = time.monotonic()
        make_directory(self._work.extracts)
        make_directory(self._folder.tables)
        self._work.remove_leftovers()
        settings = _Settings(
            VERSION, self._links.strip_parameters, self._links.max_url_length, self._config.max_parse_size,
            self._links.case, self._config.max_pdf_size, can_read_pdf(), self._wrappers.digest,
        )  # fmt: skip
        packed = msgspec.json.encode(settings).decode()
        everything = read_manifest(self._folder) is None or packed != self._ids.settings
        with self._step("ids"):
            sites = {row.site: row for row in read_sites(self._folder)}
            site_ids = self._ids.give_site_ids((row.site, row.url) for row in sites.values())
            before = self._ids.pages
            changes = find_changes(self._ids, self._readers, everything=everything)
            crash_point("convert.ids")
        read_to = {} if everything else {each.slot: self._ids.converted_visit(each.slot) for each in self._readers}
        portions = Portions(changes, self._readers, sites, site_ids, read_to)
        with self._step("extract"):
            extracted = self._extract(portions)
        with open_duck(self._config.memory_limit, self._engine.workers, self._work.scratch) as duck:
            page_parts, link_parts, found_links = self._compose(duck, extracted, sites)
            with self._step("counts"):
                parts = parts_of(self._ids.pages)
                distance, file = self._config.near_duplicate_distance, self._config.communities
                robots = {site: said for reader in self._readers for site, said in reader.robots()}
                rows = list(sites.values())
                found = count(duck, self._work, self._ids, rows, site_ids, robots, parts, distance, file)
            with self._step("visits"):
                self._list(duck, sites, site_ids)
        with self._step("publish"):
            manifest = self._publish(bool(changes))
            visits = {reader.slot: reader.last_visit for reader in self._readers}
            self._ids.finish(visits, portions.unsettled, packed, counts=bool(changes))
            shutil.rmtree(self._work.extracts)
        read_now = [portion for group in extracted.values() for portion in group]
        return _report(
            manifest, read_now, found, found_links, self._steps, new_pages=self._ids.pages - before,
            extracted_pages=len(changes), page_parts=len(page_parts), link_parts=len(link_parts),
            seconds=round(time.monotonic() - started, 3),
        )  # fmt: skip

    def _extract(self, portions: Portions) -> dict[int, list[Extracted]]:
        name = "" if self._engine.name == "inline" else f"{os.getpid()}-{time.time_ns()}"
        parts = portions.parts()
        extracted: dict[int, list[Extracted]] = defaultdict(list)
        made = portions.make(self._config, self._links, self._work, name, self._wrappers)
        for part, portion in zip(parts, self._engine.map(extract, made, tries=TRIES), strict=True):
            extracted[part].append(portion)
            self._tell("extract", sum(map(len, extracted.values())), len(parts))
        return extracted

    def _compose(
        self, duck: Any, extracted: dict[int, list[Extracted]], sites: dict[int, SiteRow]
    ) -> tuple[list[int], list[int], LinkCounts]:
        parts = parts_of(self._ids.pages)
        with self._step("pages"):
            load_keys(duck, self._work, extracted, parts)
            page_parts = sorted(find_duplicates(duck) | extracted.keys())
            for done, part in enumerate(page_parts):
                self._tell("pages", done, len(page_parts))
                prepare_pages(duck, self._work, extracted, part)
                if part in extracted:
                    prepare_raw_links(duck, self._work, extracted[part], part)
                    prepare_fields(duck, self._work, extracted[part], part)
        crash_point("convert.pages")
        with self._step("links"):
            load_lookups(duck, _alias_keys(sites), self._links.case)
            find_resolved(duck, self._links.case)
            untouched = [part for part in parts if part not in extracted]
            link_parts = sorted(extracted.keys() | affected_parts(duck, self._work, untouched))
            found_links = prepare_links(duck, self._work, link_parts, self._config.memory_limit)
            resolved = batches(duck, "SELECT page_id, resolved FROM resolved ORDER BY page_id")
            self._work.prepare(self._work.resolved, RESOLVED, resolved)
        crash_point("convert.links")
        return page_parts, link_parts, found_links

    def _list(self, duck: Any, sites: dict[int, SiteRow], site_ids: dict[int, SiteIds]) -> None:
        for reader in self._readers:
            converted = self._ids.converted_visit(reader.slot)
            prepare_visits(duck, self._work, reader, self._ids, sites, site_ids, converted)
        prepare_unfetched(duck, self._work, self._readers, sites)
        prepare_seeds(self._work, self._readers, self._ids, site_ids)
        prepare_archive_files(self._work, self._readers)

    def _publish(self, counts: bool) -> Manifest:
        parts = parts_of(self._ids.pages)
        tables: dict[str, tuple[Part, ...]] = {}
        for table in TABLES.values():
            if table is VISITS:
                paths = [path for reader in self._readers for path in visit_parts(self._work, reader)]
            elif table in (PAGES, LINKS, FIELDS):
                paths = [self._work.table_part(table, part) for part in parts]
            else:
                paths = [self._work.table_file(table)]
            tables[table.name] = tuple(self._work.part_of(path) for path in paths)
        manifest = Manifest(tables, self._ids.conversions + int(counts))
        crash_point("convert.prepared")
        publish_all(manifest, self._folder, self._work.in_publishing_order())
        crash_point("convert.published")
        return manifest

    @contextmanager
    def _step(self, name: str) -> Iterator[None]:
        self._tell(name, 0, 1)
        started = time.monotonic()
        yield
        self._steps[name] = round(time.monotonic() - started, 3)


def _silence(step: str, done: int, of: int) -> None: ...


def _alias_keys(sites: dict[int, SiteRow]) -> list[tuple[int, int]]:
    """Hashes of each alias and of the site at the end of its chain."""
    keys = []
    for row in sites.values():
        end, seen = row, {row.site}
        while end.alias_of is not None and end.alias_of in sites and end.alias_of not in seen:
            seen.add(end.alias_of)
            end = sites[end.alias_of]
        if end is not row:
            keys.append((url_hash(row.url), url_hash(end.url)))
    return keys


def _report(
    manifest: Manifest, portions: list[Extracted], found: Found, found_links: LinkCounts, steps: dict[str, float],
    *, new_pages: int, extracted_pages: int, page_parts: int, link_parts: int, seconds: float,
) -> ConvertReport:  # fmt: skip
    parses: Counter[str] = Counter()
    for portion in portions:
        parses.update(portion.parses)
    cpu_s = sum(portion.cpu_s for portion in portions)
    return ConvertReport(
        pages=manifest.rows("pages"),
        links=manifest.rows("links"),
        sites=manifest.rows("sites"),
        domains=manifest.rows("domains"),
        communities=found.communities,
        unfetched=manifest.rows("unfetched"),
        visits=manifest.rows("visits"),
        clusters=found.clusters,
        new_pages=new_pages,
        extracted_pages=extracted_pages,
        extracted_links=sum(portion.links for portion in portions),
        fields=manifest.rows("fields"),
        page_parts=page_parts,
        link_parts=link_parts,
        parses=dict(sorted(parses.items())),
        found_links=found_links,
        steps=steps,
        seconds=seconds,
        extract_ms_per_page=round(1000 * cpu_s / extracted_pages, 3) if extracted_pages else None,
    )
