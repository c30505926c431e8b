"""The front door of searching: opened once on a crawl folder, used by many threads, moved to a new index when there
is one.

A search asks tantivy for its best answers by relevance times the rank it was told, scores those exactly with the
ranks of now (`scoring`), lets near-duplicates and crowds of one site give way, and shows one page of what is left.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

import msgspec
import numpy as np
import tantivy

from nephila.config.sections import Search
from nephila.errors import DamagedError, NephilaError, UsageError
from nephila.search.columns import Columns
from nephila.search.copies import archived_copy
from nephila.search.fields import Card, open_index, schema
from nephila.search.manifest import Manifest, in_force
from nephila.search.matching import Asked, Matching
from nephila.search.query import Query, parse
from nephila.search.results import Copy, Explanation, Hit, Results
from nephila.search.scoring import keep, level_factor, rank_factor
from nephila.search.snippets import marks_in, needles_of, snippet
from nephila.store.folder import CrawlFolder
from nephila.urls import host_of, registrable_domain, site_of, url_hash

MOST_HITS: Final = 10_000
"""How far one may page."""
_GROWTH: Final = 4
_TRIES: Final = 5
_CARDS: Final = msgspec.msgpack.Decoder(Card)


@dataclass(frozen=True, slots=True)
class _Opened:
    """One generation of the index, whole."""

    manifest: Manifest
    searcher: tantivy.Searcher
    columns: Columns
    matching: Matching

    @classmethod
    def of(cls, folder: CrawlFolder, config: Search) -> Self:
        for _ in range(_TRIES):
            manifest = in_force(folder)
            place = folder.index / manifest.folder_name
            try:
                columns = Columns.load(place)
                searcher = open_index(place).searcher()
            except (FileNotFoundError, ValueError, OSError):
                if in_force(folder) == manifest:
                    raise DamagedError(
                        f"the index in {place} cannot be opened; delete {folder.index} and run `nephila index` again."
                    ) from None
                continue  # a newer one took its place just now
            return cls(manifest, searcher, columns, Matching(config, manifest.korean, columns, searcher))
        raise NephilaError(f"the index of {folder.path} changes faster than it can be opened; try again.")


@dataclass(frozen=True, slots=True)
class _Found:
    """Tantivy's best answers with their exact scores, side by side."""

    addresses: list[tantivy.DocAddress]
    ids: Any
    relevance: Any
    scores: Any
    total: int


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What is to be shown on one page of results."""

    asked: Asked
    found: _Found
    places: tuple[int, ...]
    has_more: bool
    given_way: int


class Searcher:
    """Searches one crawl folder. Safe to use from several threads; `reopen` costs one look at a small file."""

    def __init__(self, folder: CrawlFolder | Path | str, config: Search | None = None) -> None:
        self.folder = folder if isinstance(folder, CrawlFolder) else CrawlFolder.open(Path(folder))
        self.config = config or Search()
        self._opened = _Opened.of(self.folder, self.config)

    @property
    def pages(self) -> int:
        """Pages in the index."""
        return self._opened.manifest.pages

    @property
    def generation(self) -> int:
        return self._opened.manifest.generation

    def reopen(self) -> bool:
        """Move to the index in force now; False where it is the one already open."""
        if in_force(self.folder) == self._opened.manifest:
            return False
        self._opened = _Opened.of(self.folder, self.config)
        return True

    def search(
        self, query: str | Query, page: int = 1, *, size: int | None = None, everything: bool = False,
        explain: bool = False,
    ) -> Results:  # fmt: skip
        """One page of hits. `everything` also shows what would give way; a bad query is a QueryError."""
        started = time.perf_counter()
        size = size if size is not None else self.config.page_size
        opened, chosen = self._choose(query, page, size, everything, explain)
        first = (page - 1) * size
        hits = self._show(opened, chosen, first)
        if explain:
            hits = self._explained(opened, chosen, hits)
        return Results(
            query if isinstance(query, str) else "", page, size, hits, chosen.found.total, chosen.has_more,
            chosen.given_way, chosen.asked.remarks, round(time.perf_counter() - started, 6),
        )  # fmt: skip

    def page_ids(
        self, query: str | Query, page: int = 1, *, size: int | None = None, everything: bool = False
    ) -> list[int]:
        """The ids of the same hits, without what is shown of them."""
        _, chosen = self._choose(query, page, size if size is not None else self.config.page_size, everything, False)
        return [int(chosen.found.ids[place]) for place in chosen.places]

    def _choose(
        self, query: str | Query, page: int, size: int, everything: bool, explain: bool
    ) -> tuple[_Opened, _Chosen]:
        if page < 1 or size < 1 or page * size > MOST_HITS:
            raise UsageError(f"pages count from 1, and go up to {MOST_HITS:,} hits; page {page} of {size} is none.")
        rows = parse(query) if isinstance(query, str) else query
        opened = self._opened
        asked, columns = opened.matching.ask(rows, explain=explain), opened.columns
        alone = everything or rows.names_a_site or opened.manifest.sites <= 1
        per_site = None if alone else self.config.per_site
        per_group = None if everything else self.config.per_cluster
        wanted = page * size + 1
        limit = max(self.config.candidates, 2 * wanted)
        while True:
            found = self._best(opened, asked, limit)
            kept = keep(
                found.scores, found.ids, columns.group[found.ids], columns.site[found.ids], per_group=per_group,
                per_site=per_site, most=wanted,
            )  # fmt: skip
            if len(kept.places) >= wanted or limit >= found.total or limit >= MOST_HITS * _GROWTH:
                break
            limit *= _GROWTH
        first = (page - 1) * size
        places = kept.places[first : first + size]
        return opened, _Chosen(asked, found, places, len(kept.places) > first + size, kept.given_way)

    def copy(self, page_id: int) -> Copy:
        """The archived body of a page; an error where there is none."""
        return archived_copy(self.folder, page_id)

    def group_of(self, page_id: int) -> int:
        """The smallest id among a page, its near-duplicates and its duplicates."""
        return int(self._opened.columns.group[page_id])

    def page_id_of(self, url: str) -> int | None:
        """The page at a URL in normal form, where the index holds it."""
        opened = self._opened
        question = tantivy.Query.term_query(schema(), "url_hash", url_hash(url))
        for _, address in opened.searcher.search(question, 3, False).hits:
            if _card(opened.searcher, address).url == url:
                return int(opened.searcher.fast_field_values("page_id", [address])[0] or 0)
        return None

    def _best(self, opened: _Opened, asked: Asked, limit: int) -> _Found:
        answer: Any = opened.searcher.search(asked.question, limit, True, weight_by_field="weight")
        hits = answer.hits
        addresses = [address for _, address in hits]
        ids = np.array(opened.searcher.fast_field_values("page_id", addresses), np.int64)
        weighed = np.array([score for score, _ in hits], np.float64)
        relevance = weighed / level_factor(opened.columns.level[ids], opened.manifest.rank_weight)
        factors = rank_factor(opened.columns.times_mean[ids], self.config.rank_weight)
        return _Found(addresses, ids, relevance, relevance * factors, int(answer.count))

    def _show(self, opened: _Opened, chosen: _Chosen, first: int) -> tuple[Hit, ...]:
        found, needles = chosen.found, needles_of(chosen.asked.words)
        columns = opened.columns
        hits = []
        for number, place in enumerate(chosen.places):
            page_id = int(found.ids[place])
            card = _card(opened.searcher, found.addresses[place])
            text, marks = snippet((card.text, card.description), needles, self.config.snippet_size)
            community = int(columns.community_of_site[columns.site[page_id]])
            fetched_s = int(columns.fetched_s[page_id])
            hits.append(
                Hit(
                    place=first + number + 1,
                    page_id=page_id,
                    url=card.url,
                    title=card.title,
                    title_marks=marks_in(card.title, needles),
                    snippet=text,
                    snippet_marks=marks,
                    site=site_of(card.url),
                    domain=registrable_domain(host_of(card.url)),
                    community_id=community,
                    community=columns.community_names[community],
                    language=card.language,
                    published_at=_time(card.published_s),
                    modified_at=_time(card.modified_s),
                    fetched_at=_time(fetched_s if fetched_s >= 0 else None),
                    times_mean=round(float(columns.times_mean[page_id]), 4),
                    score=float(found.scores[place]),
                    explanation=None,
                )
            )
        return tuple(hits)

    def _explained(self, opened: _Opened, chosen: _Chosen, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        """What each field brings, by asking tantivy for that part of the question alone, about these pages alone."""
        ids = [hit.page_id for hit in hits]
        parts: dict[int, list[tuple[str, float]]] = {page_id: [] for page_id in ids}
        these = tantivy.Query.const_score_query(tantivy.Query.term_set_query(schema(), "page_id", ids), 0.0)
        for name, question in chosen.asked.parts if ids else ():
            both = [(tantivy.Occur.Must, these), (tantivy.Occur.Should, question)]
            answer = opened.searcher.search(tantivy.Query.boolean_query(both), len(ids), False).hits
            numbers = opened.searcher.fast_field_values("page_id", [address for _, address in answer])
            for page_id, (score, _) in zip(numbers, answer, strict=True):
                if score > 0:
                    parts[int(page_id or 0)].append((name, float(score)))
        relevance = [float(chosen.found.relevance[place]) for place in chosen.places]
        return tuple(
            replace(hit, explanation=self._explanation(opened, hit, parts[hit.page_id], value))
            for hit, value in zip(hits, relevance, strict=True)
        )

    def _explanation(self, opened: _Opened, hit: Hit, parts: list[tuple[str, float]], relevance: float) -> Explanation:
        times_mean = float(opened.columns.times_mean[hit.page_id])
        factor = float(rank_factor(times_mean, self.config.rank_weight))
        shown = " + ".join(f"{name} {value:.2f}" for name, value in parts)
        line = f"{hit.score:.2f} = ({shown}) × {factor:.2f} for {times_mean:.2f} times the mean rank"
        return Explanation(tuple(parts), relevance, times_mean, factor, line)


def _card(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> Card:
    return _CARDS.decode(bytes(searcher.doc(address)["card"][0]))


def _time(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
