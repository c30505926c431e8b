"""From URLs to ids: exact, by meaning, through aliases; and from the page written to the page meant."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nephila.convert.resolving import Case, LinkCounts, find_resolved, load_lookups, prepare_links
from nephila.convert.staging import KEYS, LINK_STAGE, NO_KEY, is_home, key_of
from nephila.convert.workshop import Workshop
from nephila.store.folder import CrawlFolder
from nephila.store.tables.duck import open_duck
from nephila.store.tables.schemas import LINKS
from nephila.urls import url_hash

A, B = "http://a.kr", "http://b.kr"


@dataclass(frozen=True, slots=True)
class Known:
    """A page; `content` stands for its body, None for a page without any."""

    url: str
    content: str | None = "x"
    redirect_to: str = ""
    canonical: str = ""


def keys_table(pages: list[Known]) -> pa.Table:
    rows = []
    for page_id, page in enumerate(pages):
        redirect = key_of(page.redirect_to) if page.redirect_to else NO_KEY
        canonical = key_of(page.canonical) if page.canonical else NO_KEY
        checksum = page.content.encode().ljust(16) if page.content is not None else None
        values = {
            "page_id": page_id, "site_id": 0, "domain_id": 0, "checksum": checksum, "simhash": None,
            "has_content": page.content is not None, "is_home": is_home(page.url),
        }  # fmt: skip
        for whose, key in (("own", key_of(page.url)), ("redirect", redirect), ("canonical", canonical)):
            values |= {f"{whose}_{suffix}": part for suffix, part in zip(("site", "path", "folded"), key, strict=True)}
        rows.append(values)
    return pa.Table.from_pylist(rows, schema=KEYS)


def resolve(
    place: Path, pages: list[Known], links: list[tuple[str, str]], aliases: dict[str, str] | None = None,
    case: Case = "meaning",
) -> tuple[set[tuple[str, str, str]], LinkCounts]:  # fmt: skip
    """The links table as (source, target, resolved) by URL."""
    numbers = {page.url: number for number, page in enumerate(pages)}
    work = Workshop(CrawlFolder(place))
    rows = [(numbers[source], *key_of(target), "a", "", len(target)) for source, target in links]
    batch = pa.RecordBatch.from_pylist([dict(zip(LINK_STAGE.names, row, strict=True)) for row in rows], LINK_STAGE)
    work.prepare(work.raw_links(0), LINK_STAGE, [batch])
    with open_duck(2**28, 1, place / "scratch") as duck:
        duck.register("given", keys_table(pages))
        duck.execute("CREATE TABLE keys AS SELECT * FROM given")
        load_lookups(duck, [(url_hash(name), url_hash(of)) for name, of in (aliases or {}).items()], case)
        find_resolved(duck, case)
        counts = prepare_links(duck, work, [0], 2**28)
    table = pq.read_table(work.current(work.table_part(LINKS, 0)))
    names = [page.url for page in pages]
    return {(names[row["source"]], names[row["target"]], names[row["resolved"]]) for row in table.to_pylist()}, counts


HOME = Known(A + "/")


def test_exact_comes_before_meaning(tmp_path: Path) -> None:
    pages = [HOME, Known(A + "/Page.html", "one"), Known(A + "/page.html", "two")]
    found, counts = resolve(tmp_path, pages, [(A + "/", A + "/page.html"), (A + "/", A + "/PAGE.html")])
    # the spelling that was fetched is its own page; the one that was not means the first of its kind
    assert found == {(A + "/", A + "/page.html", A + "/page.html"), (A + "/", A + "/Page.html", A + "/Page.html")}
    assert (counts.exact, counts.meaning) == (1, 1)


def test_the_papers_four_spellings_are_one_page_by_meaning_and_four_exactly(tmp_path: Path) -> None:
    """S3-18."""
    spellings = [A + path for path in ("/Doc/Index.html", "/doc/index.html", "/DOC/INDEX.HTML", "/doc/Index.HTML")]
    pages = [HOME, *(Known(url, "same") for url in spellings)]
    links = [(A + "/", url) for url in spellings]
    meaning, _ = resolve(tmp_path / "meaning", pages, links)
    assert {resolved for _, _, resolved in meaning} == {spellings[0]}
    exact, counts = resolve(tmp_path / "exact", pages, links, case="exact")
    assert {resolved for _, _, resolved in exact} == set(spellings)
    assert counts.moved == 0


def test_spellings_that_differ_in_content_stay_two(tmp_path: Path) -> None:
    pages = [HOME, Known(A + "/x", "one"), Known(A + "/X", "two")]
    found, _ = resolve(tmp_path, pages, [(A + "/", A + "/X")])
    assert found == {(A + "/", A + "/X", A + "/X")}


def test_redirects_are_followed_to_their_end_across_sites(tmp_path: Path) -> None:
    chain = [Known(f"{A}/{n}", None, redirect_to=f"{A}/{n + 1}") for n in range(9)]
    pages = [HOME, *chain, Known(A + "/9", None, redirect_to=B + "/end"), Known(B + "/end", "end")]
    found, counts = resolve(tmp_path, pages, [(A + "/", A + "/0"), (A + "/", A + "/5")])
    assert found == {(A + "/", A + "/0", B + "/end"), (A + "/", A + "/5", B + "/end")}
    assert counts.moved == 2


def test_a_circle_leads_nowhere_and_a_redirect_to_what_was_not_fetched_stays(tmp_path: Path) -> None:
    pages = [
        HOME, Known(A + "/1", None, redirect_to=A + "/2"), Known(A + "/2", None, redirect_to=A + "/1"),
        Known(A + "/3", None, redirect_to=A + "/1"), Known(A + "/4", None, redirect_to=B + "/never"),
    ]  # fmt: skip
    links = [(A + "/", f"{A}/{n}") for n in (1, 2, 3, 4)]
    found, _ = resolve(tmp_path, pages, links)
    assert found == {(A + "/", f"{A}/{n}", f"{A}/{n}") for n in (1, 2, 3, 4)}


def test_a_canonical_is_followed_if_it_was_fetched_with_content(tmp_path: Path) -> None:
    pages = [
        HOME, Known(A + "/print", "p", canonical=A + "/page"), Known(A + "/page", "q", canonical=A + "/page"),
        Known(A + "/odd", "r", canonical=A + "/gone"), Known(A + "/gone", None),
    ]  # fmt: skip
    found, _ = resolve(tmp_path, pages, [(A + "/", A + "/print"), (A + "/", A + "/odd"), (A + "/", A + "/page")])
    resolved = {target: end for _, target, end in found}
    assert resolved == {A + "/print": A + "/page", A + "/odd": A + "/odd", A + "/page": A + "/page"}


def test_a_link_to_an_alias_means_the_canonical_site(tmp_path: Path) -> None:
    """S0-9: the alias's home page was fetched when the two were compared, its other pages never."""
    alias = "http://nickname.kr"
    pages = [HOME, Known(alias + "/"), Known(A + "/deep/Page.html", "deep")]
    links = [(A + "/", alias + "/"), (A + "/", alias + "/deep/Page.html"), (A + "/", alias + "/DEEP/page.html")]
    found, counts = resolve(tmp_path, pages, links, {alias: A})
    assert found == {
        (A + "/", alias + "/", A + "/"),
        (A + "/", A + "/deep/Page.html", A + "/deep/Page.html"),
    }
    assert counts.alias == 2


def test_links_to_urls_never_fetched_are_counted_and_left_out(tmp_path: Path) -> None:
    found, counts = resolve(tmp_path, [HOME], [(A + "/", B + "/"), (A + "/", A + "/")])
    assert found == {(A + "/", A + "/", A + "/")}
    assert (counts.written, counts.elsewhere, counts.rows) == (2, 1, 1)


@given(
    next_of=st.lists(st.one_of(st.none(), st.integers(0, 11)), min_size=12, max_size=12),
)
@settings(max_examples=8, deadline=None)
def test_hops_end_where_walking_ends(next_of: list[int | None], tmp_path_factory: pytest.TempPathFactory) -> None:
    pages = [
        Known(f"{A}/{n}", None if to is not None else str(n), redirect_to=f"{A}/{to}" if to is not None else "")
        for n, to in enumerate(next_of)
    ]
    links = [(f"{A}/{n}", f"{A}/{n}") for n in range(12)]
    found, _ = resolve(tmp_path_factory.mktemp("hops"), pages, links)
    for start, _, end in found:
        seen, at = [], int(start.rpartition("/")[2])
        first = at
        while (following := next_of[at]) is not None and following != at and at not in seen:
            seen.append(at)
            at = following
        walked = first if at in seen else at
        assert end == f"{A}/{walked}"
