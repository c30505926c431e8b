"""The truth against a plain crawler that knows only `answer`, and against libraries that are not ours."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import ada_url
import pyarrow.parquet as pq
import pytest
from protego import Protego

from nephila.config.sections import Lab
from nephila.errors import UsageError
from nephila.lab.answer import Manner
from nephila.lab.truth import TruthRow, reach, site_rows, split_url, truth
from nephila.lab.truth_file import SCHEMA, write_truth
from nephila.lab.web import Web
from nephila.records import Outcome

from .page_reader import links_in

SMALL = Lab(sites=60, max_depth=3, seed=3)


@pytest.fixture(scope="module")
def web() -> Web:
    return Web(SMALL)


@pytest.fixture(scope="module")
def rows(web: Web) -> dict[str, TruthRow]:
    return {row.url: row for row in truth(web)}


def _crawl(web: Web, seeds: list[str]) -> dict[str, tuple[str, int]]:
    """URL → (what happened, status), by asking; links by an HTML5 parser, robots.txt by protego."""
    seen: dict[str, tuple[str, int]] = {}
    rules: dict[str, Protego] = {}
    waiting = list(seeds)
    while waiting:
        url = waiting.pop()
        if url in seen:
            continue
        origin, path, site = split_url(web, url)
        assert site is not None
        card = web.card(site)
        host, _, port = origin[len("http://") :].partition(":")
        place = web.resolve(host)
        if origin != card.origin:
            seen[url] = ("alias", 0)
            continue
        if not place.addresses:
            seen[url] = ("no name", 0)
            continue
        if int(port) != web.lab.port:
            seen[url] = ("refused", 0)
            continue
        if origin not in rules:
            text = web.answer(host, int(port), "/robots.txt", place.addresses[0], 0.0)
            rules[origin] = Protego.parse(text.body.decode() if text.status == 200 else "")
        if not rules[origin].can_fetch(url, "nephila"):
            seen[url] = ("blocked", 0)
            continue
        answer = web.answer(host, int(port), path, place.addresses[0], 0.0)
        seen[url] = (str(answer.manner), answer.status)
        if answer.manner is not Manner.WHOLE:
            continue
        headers = dict(answer.headers)
        if answer.status in (301, 302):
            waiting.append(headers["Location"])
        elif answer.status == 200:
            robots = headers.get("X-Robots-Tag", "") + answer.body[:2000].decode("latin-1").lower()
            if "nofollow" not in robots:
                waiting += [link for _, link in links_in(card, answer.body, path)]
    return seen


def test_a_crawl_that_knows_only_the_answers_finds_exactly_what_the_truth_calls_reachable(
    web: Web, rows: dict[str, TruthRow]
) -> None:
    # when everything is crawled from the full seed list
    seen = _crawl(web, list(web.seeds()))
    # then it is what the truth says, URL by URL
    assert set(seen) == {url for url, row in rows.items() if row.reachable}
    words = {
        Outcome.ALIAS: "alias",
        Outcome.DNS_NXDOMAIN: "no name",
        Outcome.DNS_FAIL: "no name",
        Outcome.DEFERRED_ROBOTS: "refused",
        Outcome.BLOCKED_ROBOTS: "blocked",
        Outcome.RESET: "reset",
        Outcome.TIMEOUT_HEADERS: "hang",
        Outcome.TRUNCATED_DISCONNECT: "cut_body",
        Outcome.TRUNCATED_TIME: "stall_body",
    }
    for url, (happened, status) in seen.items():
        row = rows[url]
        if row.outcome in words:
            assert happened == words[row.outcome], url
        elif row.outcome is Outcome.BAD_HTTP:
            assert happened in ("short_header", "not_http"), url
        else:
            assert (happened, status) == ("whole", row.status), url
    # and the web was rich enough to mean something
    assert len(seen) > 3_000
    assert {row.outcome for row in rows.values()} >= {Outcome.OK, Outcome.HTTP_ERROR, Outcome.REDIRECT, Outcome.ALIAS}
    assert Counter(row.reachable for row in rows.values())[False] > 20


def test_digests_are_those_of_the_bodies(web: Web, rows: dict[str, TruthRow]) -> None:
    for url, row in list(rows.items())[::40]:
        if row.outcome is Outcome.OK:
            _, path, site = split_url(web, url)
            assert site is not None
            body = web.answer(web.card(site).host, 8480, path, web.card(site).address, 0.0).body
            assert hashlib.sha1(body).digest()[:16] == row.digest


def test_urls_and_links_are_in_normal_form(rows: dict[str, TruthRow]) -> None:
    for url, row in list(rows.items())[::7]:
        assert all(ada_url.URL(one).href == one for one in (url, *row.links))


def test_a_case_variant_is_a_url_of_its_own_with_the_digest_of_its_true_form(rows: dict[str, TruthRow]) -> None:
    variants = [row for row in rows.values() if row.case_of and row.outcome is Outcome.OK]
    assert variants
    for row in variants:
        true_form = rows[row.case_of or ""]
        assert row.url.lower() == true_form.url.lower() and row.url != true_form.url
        if true_form.outcome is Outcome.OK:
            assert (row.digest, row.links) == (true_form.digest, true_form.links)


def test_no_session_id_stays_in_the_truth(rows: dict[str, TruthRow]) -> None:
    assert not any("sid=" in url or "sessionid" in url for row in rows.values() for url in (row.url, *row.links))


def test_a_page_without_follow_has_no_links_in_the_truth(web: Web, rows: dict[str, TruthRow]) -> None:
    held_back = 0
    for url, row in rows.items():
        if row.outcome is Outcome.OK and not row.links:
            _, path, site = split_url(web, url)
            assert site is not None
            body = web.answer(web.card(site).host, 8480, path, web.card(site).address, 0.0).body
            held_back += b"nofollow" in body[:2000].lower()
    assert held_back > 0


def test_links_lead_to_sites_that_are_no_seeds(web: Web, rows: dict[str, TruthRow]) -> None:
    seeds = list(web.seeds(0.1))
    known = reach(web, seeds, 0.0)
    reached = {url for urls in known.values() for url in urls}
    assert reached <= {url for url, row in rows.items() if row.reachable}
    assert len(known) > 3 * len(seeds)


def test_a_seed_that_fails_leads_nowhere(web: Web, rows: dict[str, TruthRow]) -> None:
    failed = next(row.url for row in rows.values() if row.depth == 0 and row.outcome is Outcome.HTTP_ERROR)
    assert list(reach(web, [failed], 0.0).values()) == [{failed}]


def test_depth_counts_from_the_home_page(rows: dict[str, TruthRow]) -> None:
    for row in rows.values():
        if row.depth is not None and row.outcome is Outcome.OK:
            inner = [rows[link] for link in row.links if link in rows and rows[link].site == row.site]
            assert all(link.depth is not None and link.depth <= row.depth + 1 for link in inner)
    assert all(rows[url].depth == 0 for url in rows if url.count("/") == 3 and url.endswith("/") and rows[url].reachable
               and rows[url].outcome is not Outcome.ALIAS)  # fmt: skip


def test_an_island_is_reached_only_through_another_site() -> None:
    # given a web with an island
    web = Web(Lab(sites=200, max_depth=2, faults=False))
    site = next(s for s in range(200) if web.skeleton(s).pages > web.skeleton(s).tree_pages)
    alone = {row.url for row in site_rows(web, site, 0.0) if row.reachable}
    everywhere = reach(web, web.seeds(), 0.0)[site]
    # then its own home page does not lead there, but the whole web does
    island = {
        row.url for row in site_rows(web, site, 0.0, everywhere) if row.depth is None and row.outcome is Outcome.OK
    }
    assert island & everywhere and not island & alone


def test_the_truth_is_written_as_parquet_and_read_back(tmp_path: Path) -> None:
    web = Web(Lab(sites=12, max_depth=2))
    count = write_truth(web, tmp_path / "truth.parquet")
    table = pq.read_table(tmp_path / "truth.parquet")
    expected = list(truth(web))
    assert table.schema.equals(SCHEMA) and table.num_rows == count == len(expected)
    assert table.column("url").to_pylist() == [row.url for row in expected]
    assert table.column("links").to_pylist() == [list(row.links) for row in expected]
    assert table.column("digest").to_pylist() == [row.digest for row in expected]
    assert [path.name for path in tmp_path.iterdir()] == ["truth.parquet"]


def test_a_web_too_large_for_the_truth_is_refused_with_a_way_out() -> None:
    with pytest.raises(UsageError, match=r"lab\.sites"):
        next(truth(Web(Lab(sites=20_000, seed=5))))
