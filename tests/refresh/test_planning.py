"""Plans from ledgers, and ledgers from databases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nephila.config.sections import Refresh
from nephila.crawl.site_tables import SITE_SCHEMA
from nephila.crawl.slot_tables import SLOT_SCHEMA
from nephila.engine import open_engine
from nephila.errors import DamagedError, NephilaError
from nephila.refresh.due import sentence
from nephila.refresh.ledger import Ledger, ledger_file, read_ledger
from nephila.refresh.planning import choose, columns_of
from nephila.refresh.policies import POLICIES
from nephila.refresh.priors import priors
from nephila.refresh.run import run
from nephila.refresh.weighing import weigh, weights
from nephila.store.change_model import S1_STUDY, PageFeatures
from nephila.store.database import close, open_writer, transaction
from nephila.store.folder import CrawlFolder
from nephila.store.plan import planned_pages, read_plan

NOW_DAY = 20_000.0
DAY_S = 86_400.0


def _ledger(count: int, sites: int = 2) -> Ledger:
    """Pages of a few sites, seen 1, 2, 3 … days ago."""
    return Ledger(
        site=np.arange(count, dtype=np.int32) % sites,
        hash=np.arange(count, dtype=np.int64),
        last_day=NOW_DAY - 1.0 - np.arange(count),
        depth=np.ones(count, np.uint8),
        kinds=np.full(count, 6, np.uint8),
        code=np.full(count, 200, np.int16),
        planned=np.zeros(count, bool),
        waits=np.zeros(count, bool),
        changes=np.zeros(count, np.float32),
        changed_days=np.zeros(count, np.float32),
        unchanged_days=np.zeros(count, np.float32),
        visits=np.zeros(count, np.uint16),
        changed_visits=np.zeros(count, np.uint16),
        changed_on=np.zeros(count, np.uint16),
        page_id=np.full(count, -1, np.int64),
    )


def _chosen(
    ledger: Ledger, budget: int, per_site: int | None = None, asleep: frozenset[int] = frozenset()
) -> list[int]:
    shape, rate, _ = priors(ledger, {}, None)
    columns = columns_of(ledger, weights(ledger.code, ledger.page_id, None, 0.0)[0], shape, rate, NOW_DAY)
    chosen = choose(POLICIES["index"], ledger, columns, NOW_DAY, budget, (), None, per_site, asleep)
    assert list(chosen.scores) == sorted(chosen.scores, reverse=True)
    return [int(place) for place in chosen.places]


def test_the_budget_goes_to_the_best_scores_first() -> None:
    # given pages that are alike but for the time since their last visit; then the longest unseen come first
    assert _chosen(_ledger(10), 3) == [9, 8, 7]


def test_a_site_gets_its_share_and_one_that_sleeps_a_single_page() -> None:
    assert _chosen(_ledger(10), 10, per_site=2) == [9, 8, 7, 6]
    assert _chosen(_ledger(10), 10, asleep=frozenset({1})) == [9, 8, 6, 4, 2, 0]


def test_what_waits_already_is_not_planned_twice_and_counts_against_the_budget() -> None:
    ledger = _ledger(10)
    ledger.planned[9] = ledger.waits[9] = True
    assert _chosen(ledger, 3) == [8, 7]


def test_an_error_weighs_less_than_a_page_and_a_rank_more_than_none() -> None:
    code = np.array([200, 200, 301, 404])
    found, _ = weights(code, np.array([0, 1, 2, 3]), np.array([3.0, 1.0, 0.0, 0.0]), 0.5)
    assert found[0] > found[1] > found[2] > found[3] > 0


def test_what_users_search_for_weighs_more_and_the_mean_weight_stays_one() -> None:
    # given four pages of equal rank, of which users look for the second
    code, ids, ranks = np.full(4, 200), np.arange(4), np.ones(4)
    found, scale = weights(code, ids, ranks, 0.5, np.array([0.0, 3.0, 0.5]), 0.4)
    # then
    assert found[1] > found[2] > found[0] == found[3] > 0
    assert float(found.mean()) == pytest.approx(1.0)
    # and a single page is weighed on the same scale
    one = weigh(code[:1], np.array([1.0]), np.array([3.0]), scale, 0.5, 0.4)
    assert float(one[0]) == pytest.approx(float(found[1]))


def test_before_any_history_a_page_is_expected_to_be_as_pages_like_it() -> None:
    ledger = replace(_ledger(2), kinds=np.array([0, 6], np.uint8), depth=np.array([3, 3], np.uint8))
    shape, rate, fitted = priors(ledger, {0: "co.kr", 1: "com"}, None)
    assert fitted == ()
    for place, kinds in enumerate(("000", "ha0")):
        assert (shape[place], rate[place]) == pytest.approx(S1_STUDY.prior_for(PageFeatures("", 3, kinds)), rel=1e-5)


def test_many_histories_are_believed_more_than_a_study() -> None:
    # given 400 pages of which every one changed at every second daily visit
    count = 400
    ledger = replace(
        _ledger(count), visits=np.full(count, 20, np.uint16), changes=np.full(count, 10, np.float32),
        changed_days=np.full(count, 10, np.float32), unchanged_days=np.full(count, 10, np.float32),
    )  # fmt: skip
    shape, rate, fitted = priors(ledger, {}, None)
    assert [kinds for kinds, _, _ in fitted] == [-1, 6]
    assert abs(float(shape[0] / rate[0]) - np.log(2)) < 0.1


@pytest.mark.parametrize(
    ("due_in_days", "words"),
    [
        (-3.0, "overdue by 3 days"),
        (-0.01, "due now"),
        (0.2, "due today"),
        (1.0, "due tomorrow 12:00"),
        (None, "not worth"),
    ],
)
def test_a_sentence_tells_how_often_when_last_and_when_next(due_in_days: float | None, words: str) -> None:
    # given a Wednesday at noon
    now = 1_800_014_400.0
    now -= now % DAY_S - DAY_S / 2
    due_at = None if due_in_days is None else now + due_in_days * DAY_S
    said = sentence("changes about every 6 days", now - 4 * DAY_S, due_at, now, planned=False)
    assert said.startswith("changes about every 6 days, last seen 4 days ago, ")
    assert words in said


def _folder(path: Path, pages: int) -> CrawlFolder:
    folder = CrawlFolder.create(path)
    coordinator = open_writer(folder.coordinator_database, SITE_SCHEMA)
    with transaction(coordinator):
        coordinator.execute(
            """INSERT INTO sites (site, url, state, slot, given, found_at, referrer)
               VALUES (1, 'http://a.kr', 'done', 0, 1, 0, '')"""
        )
    close(coordinator)
    slot = open_writer(folder.agent_database(0), SLOT_SCHEMA)
    with transaction(slot):
        slot.executemany(
            """INSERT INTO pages (site, hash, path, depth, place, todo, outcome, found_at, referrer, kind, tries, code,
               fetched_at, link_kinds) VALUES (1, ?, '/', 0, ?, 0, 'ok', 0, '', 'a', 1, 200, ?, 'ha0')""",
            ((key, key, (NOW_DAY - 1 - key) * DAY_S) for key in range(pages)),
        )
    close(slot)
    return folder


def test_a_ledger_that_is_brought_up_to_date_is_the_one_made_anew(tmp_path: Path) -> None:
    # given a ledger of a hundred pages
    folder = _folder(tmp_path / "crawl", 100)
    assert len(read_ledger(folder, 0, keeps=True)) == 100
    # when one is visited again, one is planned and one is new
    slot = open_writer(folder.agent_database(0), SLOT_SCHEMA)
    with transaction(slot):
        slot.execute("INSERT INTO changes VALUES (1, 7, 0, ?, ?, 3, 1, 1, 2, 5, 0, 1, x'', 0)", (NOW_DAY * DAY_S, 0.0))
        slot.execute("UPDATE pages SET revisit = 1, todo = 1 WHERE hash = 9")
        slot.execute(
            """INSERT INTO pages (site, hash, path, depth, place, todo, outcome, found_at, referrer, kind, tries, code,
               fetched_at) VALUES (1, -5, '/n', 1, 100, 0, 'ok', 0, '', 'a', 1, 200, 1.0)"""
        )
        for key in (7, -5):
            slot.execute(
                """INSERT INTO visits (site, hash, path, role, at, outcome, reason, wire_bytes, body_bytes, elapsed_ms,
                   address) VALUES (1, ?, '/', 'page', 0, 'ok', '', 0, 0, 0, '')""",
                (key,),
            )
    close(slot)
    updated = read_ledger(folder, 0, keeps=True)
    ledger_file(folder, 0).unlink()
    anew = read_ledger(folder, 0)
    # then both are the same
    for name in Ledger.__slots__:
        assert np.array_equal(getattr(updated, name), getattr(anew, name)), name
    assert len(anew) == 101 and anew.visits[anew.hash == 7] == 3 and anew.planned[anew.hash == 9]


def test_a_damaged_ledger_is_made_anew(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "crawl", 5)
    read_ledger(folder, 0, keeps=True)
    ledger_file(folder, 0).write_bytes(b"PK rubbish")
    assert len(read_ledger(folder, 0, keeps=True)) == 5


def test_a_plan_is_published_whole_and_read_from_where_it_was_left(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "crawl", 10)
    with open_engine("inline", 1) as engine:
        head = run(Refresh(), folder, engine, NOW_DAY * DAY_S, 4, 0)
    assert read_plan(folder) == head and head.rows == 4
    assert list(planned_pages(folder, head.number, 0, 3)) == [[(1, 9), (1, 8), (1, 7)], [(1, 6)]]
    assert list(planned_pages(folder, head.number, 3, 3)) == [[(1, 6)]]
    (folder.plan / "refresh.json").write_text("{")
    with pytest.raises(DamagedError, match="planned anew"):
        read_plan(folder)


def test_an_empty_crawl_has_nothing_to_plan(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "crawl", 0)
    with open_engine("inline", 1) as engine, pytest.raises(NephilaError, match="no page"):
        run(Refresh(), folder, engine, NOW_DAY * DAY_S, 4, 0)
