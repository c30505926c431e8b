"""The tables that need no page to be read: `visits`, the change log, `seeds`, `unfetched`, and the archive's files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from nephila.convert.crawled import SiteRow, SlotReader, UnfetchedUrl, read_refused, read_seeds
from nephila.convert.ids import IdStore, SiteIds
from nephila.convert.staging import batch_of
from nephila.convert.workshop import Workshop
from nephila.markup.text import storable
from nephila.records import Outcome, network_state
from nephila.store.archive.names import archive_files
from nephila.store.tables.duck import batches
from nephila.store.tables.parts import batches_of, rows_in, schema_of
from nephila.store.tables.schemas import ARCHIVE_FILES, PART_IDS, SEEDS, UNFETCHED, VISITS
from nephila.urls import split, url_hash

_BATCH_ROWS: Final = 2**14
_VISIT_STAGE: Final = pa.schema(
    [
        *(each for each in VISITS.schema if each.name not in ("text_checksum", "simhash")),
        pa.field("content", pa.binary(16)),  # checksum of what the visit found or confirmed
    ]
)
_RANK: Final = pa.field("rank", pa.int32(), nullable=False)  # who knows most of a URL: its slot


def visit_parts(work: Workshop, reader: SlotReader) -> list[Path]:
    """The files of a slot's visits."""
    return [_visit_part(work, reader.slot, part) for part in range((reader.last_visit + PART_IDS - 1) // PART_IDS)]


def _visit_part(work: Workshop, slot: int, part: int) -> Path:
    return work.folder.tables / VISITS.name / f"part-{slot:02}-{part:05}.parquet"


def prepare_visits(
    duck: Any, work: Workshop, reader: SlotReader, ids: IdStore, sites: dict[int, SiteRow],
    site_ids: dict[int, SiteIds], converted: int,
) -> int:  # fmt: skip
    """The parts of a slot's visits that have new rows, which are put behind the old ones; how many are new.

    What a visit's text was is known while its content is the page's latest, so old rows are kept as they are. Visits
    that the state does not know any more are left out; parts that are not there, or were made by an earlier Nephila
    with other columns, are written anew.
    """
    parts = visit_parts(work, reader)
    if any(path.exists() and schema_of(path).names != VISITS.schema.names for path in parts):
        converted = 0
    for part, path in enumerate(parts):
        start, last = part * PART_IDS, min((part + 1) * PART_IDS, reader.last_visit)
        done = min(max(converted, start), last)
        known = reader.visit_numbers(start + 1, done)
        in_file = rows_in(path) if path.exists() else -1
        if done == last and in_file == len(known):
            continue
        # More rows than were noted: the last conversion was killed after it had published them, or some were forgotten.
        if in_file < len(known) or not known:
            done, known = start, set()
        rows = (_visit_row(reader.slot, row, ids, sites, site_ids) for row in reader.visits(done + 1, last))
        old = _those(batches_of(path), known) if known else iter(())
        new = (batch for staged in _batched(_VISIT_STAGE, rows) for batch in _with_texts(duck, staged))
        work.prepare(path, VISITS.schema, chain(old, new), VISITS.sorted_by)
    return reader.last_visit - converted


def _visit_row(
    slot: int, row: tuple[Any, ...], ids: IdStore, sites: dict[int, SiteRow], site_ids: dict[int, SiteIds]
) -> tuple[Any, ...]:
    visit, site, key, path, role, at, outcome, reason, code, checksum, *figures = row
    wire_bytes, body_bytes, connect_ms, header_ms, elapsed_ms, address, http, tls, server, file, offset = figures[:11]
    changed, compare_bytes, etag, modified, content = figures[11:]
    page_id = ids.page_id(site, key) if role == "page" else None
    server = server.replace("\0", "") if server else server
    return (
        slot, visit, page_id, site_ids[site].site_id, sites[site].url + path, role, datetime.fromtimestamp(at, UTC),
        outcome, reason, code, checksum, wire_bytes, body_bytes, connect_ms, header_ms, elapsed_ms, address,
        http or None, tls or None, server, file, offset, None if changed is None else bool(changed), compare_bytes,
        storable(etag) if etag else None, storable(modified) if modified else None, content,
    )  # fmt: skip


def _with_texts(duck: Any, staged: Any) -> Iterator[Any]:
    """Visits with what is known of the main text they found: that of the page, where its content is still the same."""
    duck.register("staged_visits", staged)
    sql = """SELECT v.*, k.text_checksum, k.simhash FROM staged_visits v
             LEFT JOIN keys k ON k.page_id = v.page_id AND k.checksum = v.content ORDER BY v.visit"""
    found = list(batches(duck, sql))
    duck.unregister("staged_visits")
    for batch in found:  # in the types of the old rows, which stand before them
        columns = [batch.column(each.name).cast(each.type) for each in VISITS.schema]
        yield pa.RecordBatch.from_arrays(columns, schema=VISITS.schema)


def _those(some: Iterator[Any], known: set[int]) -> Iterator[Any]:
    """The rows of these visits."""
    for batch in some:
        yield batch.filter(pa.array([visit in known for visit in batch.column("visit").to_pylist()]))


def prepare_unfetched(duck: Any, work: Workshop, readers: Sequence[SlotReader], sites: dict[int, SiteRow]) -> int:
    """Every URL known and never requested, once: a slot knows more of its pages than others do."""
    rows = (
        (row.url, row.depth, row.outcome, row.reason, _state(row.outcome, row.reason), row.referrer,
         datetime.fromtimestamp(row.found_at, UTC), rank)
        for rank, row in _unfetched(work, readers, sites)
    )  # fmt: skip
    duck.execute("CREATE TEMP TABLE waiting (url TEXT, depth INTEGER, outcome TEXT, reason TEXT, state TEXT,"
                 " referrer TEXT, found_at TIMESTAMPTZ, rank INTEGER)")  # fmt: skip
    schema = UNFETCHED.schema.append(_RANK)
    for batch in _batched(schema, rows):
        duck.register("found_now", batch)
        duck.execute("INSERT INTO waiting SELECT * FROM found_now")
        duck.unregister("found_now")
    sql = """SELECT url, min(depth) AS depth, arg_min(outcome, rank) AS outcome, arg_min(reason, rank) AS reason,
                    arg_min(state, rank) AS state, arg_min(referrer, rank) AS referrer, min(found_at) AS found_at
             FROM waiting GROUP BY url ORDER BY url"""
    return work.prepare(work.table_file(UNFETCHED), UNFETCHED.schema, batches(duck, sql), UNFETCHED.sorted_by)


def _unfetched(
    work: Workshop, readers: Sequence[SlotReader], sites: dict[int, SiteRow]
) -> Iterator[tuple[int, UnfetchedUrl]]:
    by_url = {row.url: row for row in sites.values()}
    of_slot = {reader.slot: reader for reader in readers}

    def came_in(url: str) -> bool:
        """Whether a URL that was left out where it was first found is a page all the same: found again elsewhere."""
        site, path = split(url)
        row = by_url.get(site)
        owner = of_slot.get(row.slot) if row is not None and row.slot is not None else None
        return row is not None and owner is not None and owner.knows(row.site, url_hash(path))

    for reader in readers:
        for site, path, depth, outcome, reason, referrer, found_at in reader.unfetched():
            yield 0, UnfetchedUrl(sites[site].url + path, depth, outcome, reason, referrer, found_at)
        for row in reader.outside():
            if not came_in(row.url):
                yield 2, row
    for row in read_refused(work.folder):
        yield 3, row
    # A seed is known for good: that some link to it was left out says less than what became of its site.
    by_slot = {reader.slot: reader for reader in readers}
    for seed in read_seeds(work.folder):
        if seed.slot not in by_slot or not by_slot[seed.slot].knows(seed.site, seed.hash):
            yield 1, UnfetchedUrl(seed.url, 0, seed.outcome, seed.reason, seed.referrer, seed.found_at)


def prepare_seeds(work: Workshop, readers: Sequence[SlotReader], ids: IdStore, site_ids: dict[int, SiteIds]) -> int:
    """Every seed with what became of it: of its page, where its slot knows that, else of its site (S1-12)."""
    by_slot = {reader.slot: reader for reader in readers}
    took = {reader.slot: reader.party_s() for reader in readers}
    rows = []
    for seed in read_seeds(work.folder):
        reader = by_slot.get(seed.slot) if seed.slot is not None else None
        known = reader.standing_of(seed.site, seed.hash) if reader else None
        outcome, reason = known or (seed.outcome, seed.reason)
        party_s = took[reader.slot].get((seed.site, seed.hash)) if reader else None
        rows.append(
            (seed.url, site_ids[seed.site].site_id, ids.page_id(seed.site, seed.hash), bool(seed.given), outcome,
             storable(reason), _state(outcome, reason), seed.referrer, datetime.fromtimestamp(seed.found_at, UTC),
             party_s)
        )  # fmt: skip
    rows.sort()
    return work.prepare(work.table_file(SEEDS), SEEDS.schema, _batched(SEEDS.schema, iter(rows)), SEEDS.sorted_by)


def prepare_archive_files(work: Workshop, readers: Sequence[SlotReader]) -> int:
    """The archive's files with their committed lengths (S1-31)."""
    rows: list[tuple[str, int, int]] = []
    for reader in readers:
        last, end = reader.archive_end
        rows += (
            (path.name, reader.slot, end if path.name == last else path.stat().st_size)
            for path in archive_files(work.folder.archive_of(reader.slot))
            if path.name <= last
        )
    rows.sort()
    batches_ = _batched(ARCHIVE_FILES.schema, iter(rows))
    return work.prepare(work.table_file(ARCHIVE_FILES), ARCHIVE_FILES.schema, batches_, ARCHIVE_FILES.sorted_by)


def _state(outcome: str, reason: str) -> str:
    return network_state(Outcome(outcome), reason).value


def _batched(schema: Any, rows: Iterator[tuple[Any, ...]]) -> Iterator[Any]:
    while some := list(islice(rows, _BATCH_ROWS)):
        yield batch_of(schema, some)
