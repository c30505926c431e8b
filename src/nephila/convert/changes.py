"""Which pages must be read now: requested since the last conversion, or left unsettled by it.

A page is unsettled when its row may change without a visit: it waits to be tried again, or its outcome is not that
of its last visit. So the cost of finding changes is in proportion to the changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Final

from nephila.config.sections import Convert, Links
from nephila.convert.crawled import SiteRow, SlotReader
from nephila.convert.extract import FetchedPage, Portion
from nephila.convert.ids import IdStore, SiteIds
from nephila.convert.workshop import Workshop
from nephila.markup.wrappers import Wrappers
from nephila.store.tables.schemas import PART_IDS

PORTION_PAGES: Final = 512


@dataclass(frozen=True, slots=True, order=True)
class ChangedPage:
    page_id: int
    slot: int
    site: int
    hash: int

    @property
    def part(self) -> int:
        return self.page_id // PART_IDS


def find_changes(ids: IdStore, readers: Sequence[SlotReader], *, everything: bool) -> list[ChangedPage]:
    """The pages to read, in the order of their ids; those that had none have one now."""
    by_slot = []
    for reader in readers:
        visited = reader.visited_since(0 if everything else ids.converted_visit(reader.slot))
        known = set(visited)
        by_slot.append((reader.slot, [*visited, *(key for key in ids.unsettled(reader.slot) if key not in known)]))
    ids.give_page_ids(by_slot)
    changed = []
    for slot, keys in by_slot:
        for site, key in keys:
            page_id = ids.page_id(site, key)
            assert page_id is not None
            changed.append(ChangedPage(page_id, slot, site, key))
    return sorted(changed)


class Portions:
    """The changed pages as portions of one part each, read from the slots while they are given out."""

    def __init__(
        self, changes: Sequence[ChangedPage], readers: Sequence[SlotReader], sites: dict[int, SiteRow],
        site_ids: dict[int, SiteIds], converted: dict[int, int],
    ) -> None:  # fmt: skip
        self._changes = changes
        self._converted = converted  # slot -> the last visit whose answer is in the tables
        self._readers = {reader.slot: reader for reader in readers}
        self._sites, self._site_ids = sites, site_ids
        self.unsettled: list[tuple[int, int, int]] = []

    def parts(self) -> list[int]:
        """The part of each portion, in their order."""
        return [changes[0].part for changes in self._cut()]

    def make(self, config: Convert, links: Links, work: Workshop, run: str, wrappers: Wrappers) -> Iterator[Portion]:
        for changes in self._cut():
            yield Portion(
                pages=tuple(self._page(change) for change in changes),
                archive=work.folder.archive,
                target=work.extracts,
                strip=links.strip_parameters,
                max_url_length=links.max_url_length,
                max_parse_bytes=config.max_parse_size,
                max_pdf_bytes=config.max_pdf_size,
                max_parse_s=config.max_parse_time,
                wrappers=wrappers,
                run=run,
            )

    def _cut(self) -> Iterator[list[ChangedPage]]:
        for _, group in groupby(self._changes, attrgetter("part")):
            of_part = list(group)
            for start in range(0, len(of_part), PORTION_PAGES):
                yield of_part[start : start + PORTION_PAGES]

    def _page(self, change: ChangedPage) -> FetchedPage:
        reader = self._readers[change.slot]
        page = reader.page(change.site, change.hash)
        if page.todo or page.outcome != reader.last_outcome(change.site, change.hash):
            self.unsettled.append((change.slot, change.site, change.hash))
        ids = self._site_ids[change.site]
        url = self._sites[change.site].url + page.path
        was_read = reader.was_read(page, self._converted.get(change.slot, 0))
        return FetchedPage(change.page_id, ids.site_id, ids.domain_id, change.slot, url, page, was_read)
