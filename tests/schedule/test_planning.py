"""Plans from the files of a folder, and how they are shown (S2-12)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from nephila.config.sections import Archive, Politeness, Schedule
from nephila.crawl.group import FoundPage, Group, SiteRow
from nephila.crawl.site_list import Admission, Located, SiteList
from nephila.crawl.slot_state import SlotState
from nephila.errors import DamagedError, UsageError
from nephila.records import Outcome
from nephila.schedule.hours import Belief
from nephila.schedule.open_sites import OpenSite, read_open_sites
from nephila.schedule.plan_file import plan_path, read_plan
from nephila.schedule.planning import HourPlanner, choose_policy, earlier_first, page_rates
from nephila.schedule.showing import tonight
from nephila.serve.hour_charts import days
from nephila.store.archive.exchange import Software
from nephila.store.folder import CrawlFolder
from nephila.store.hour_figures import DAY_S, HOUR_S, HourNote, HoursFile, hours_path

NOW = 20_000 * DAY_S
SITES = ("http://busy.example", "http://night.example", "http://quiet.example")


def note(seconds: float) -> HourNote:
    return HourNote(40, 40 * math.log(seconds), 40 * math.log(seconds) ** 2)


@pytest.fixture
def folder(tmp_path: Path) -> CrawlFolder:
    """Three sites, one of them complete; `night` is quick at 2 and 3 UTC alone, `quiet` always, `busy` never."""
    made = CrawlFolder.create(tmp_path / "crawl")
    listed = SiteList(made.coordinator_database, 1)
    admission = Admission(follow_links=True, max_sites=None)
    listed.add_given([f"{url}/" for url in (*SITES, "http://done.example")], admission, NOW)
    listed.lease([Located(number, f"127.0.0.{number}") for number in (1, 2, 3, 4)])
    listed._db.execute("UPDATE sites SET state = 'done' WHERE site = 4")
    listed.close()
    state = SlotState(made, 0, Archive(), Software("nephila", "nephila", "", "obey"))
    group = Group()
    for number, url in enumerate(SITES, 1):
        group.sites[number] = SiteRow(
            number, url, f"127.0.0.{number}", True, "waiting", requested=number == 2, known=30
        )
    group.sites[4] = SiteRow(4, "http://done.example", "127.0.0.4", True, "done", requested=8, known=8)
    group.found += [FoundPage(3, page, f"/{page}", 1, page, Outcome.WAITING, "", NOW, "", "a") for page in range(20)]
    state.commit(group, 1)
    state.close()
    file = HoursFile(hours_path(made, "probe"), 7 * DAY_S)
    first = int(NOW // HOUR_S) - 48
    for hour in range(24):
        quick_at_night = 0.1 if hour in (2, 3) else 0.9
        for url, seconds in zip(SITES, (0.9, quick_at_night, 0.1), strict=True):
            file.add({(url, first + hour): note(seconds)}, NOW)
    file.close()
    return made


def test_open_sites_are_read_with_what_is_left_of_them(folder: CrawlFolder) -> None:
    left = {site.url: (site.left_pages, site.begun) for site in read_open_sites(folder)}
    # 8 pages is what complete sites have; 20 pages are known to wait in the third
    assert left == {SITES[0]: (8.0, False), SITES[1]: (7.0, True), SITES[2]: (20.0, False)}


@pytest.mark.parametrize(
    ("policy", "hour", "first"),
    [("random", 0, 1), ("sorting", 0, 3), ("hybrid", 2, 2), ("index", 2, 2), ("lp", 2, 2)],
)
def test_a_plan_puts_the_sites_in_the_policys_order(folder: CrawlFolder, policy: str, hour: int, first: int) -> None:
    schedule = Schedule(policy=policy)  # type: ignore[arg-type]
    planner = HourPlanner(folder, schedule, Politeness(min_delay=0))
    plan = planner.plan(NOW + hour * HOUR_S, [(0,)], 1)
    # then every open site has one turn, and the plan lies in the folder for people to read
    assert sorted(turn.site for turn in plan.turns) == [1, 2, 3]
    assert plan.turns[0].site == first
    kept = read_plan(folder)
    assert kept is not None
    assert (kept.policy, kept.hour, [site.site for site in kept.sites]) == (policy, hour, [t.site for t in plan.turns])
    assert plan.turns[0].expected_s > 0.05


def test_a_crawl_of_agents_without_sites_gets_an_empty_plan(folder: CrawlFolder) -> None:
    planner = HourPlanner(folder, Schedule(policy="lp"), Politeness())
    assert planner.plan(NOW, [(7,)], 4).turns == ()


def test_rates_follow_politeness() -> None:
    # S1-18, J-2: 10 × l-time where that is longer than min_delay
    table = np.full((1, 24), 0.5)
    belief = Belief(np.zeros((1, 24)), table, np.zeros((1, 24)), table, np.zeros(1), np.ones(1))
    assert page_rates(belief, Politeness())[0, 0] == pytest.approx(3600 / 5.5, rel=0.01)
    assert page_rates(belief, Politeness(min_delay=30))[0, 0] == pytest.approx(3600 / 30.5, rel=0.01)
    assert page_rates(belief, Politeness(max_delay=2))[0, 0] == pytest.approx(3600 / 2.5, rel=0.01)


def test_tonight_shows_hours_from_now_on_and_when_each_site_comes(folder: CrawlFolder) -> None:
    # given one place at 1 UTC, and the night site's best hours ahead
    shown = tonight(folder, Schedule(policy="lp"), Politeness(min_delay=0), NOW + HOUR_S, 1, 10)
    # then
    assert (shown.first_hour, shown.sites_open, len(shown.rows)) == (1, 3, 3)
    assert all(sum(row.planned) == pytest.approx(1, abs=0.01) for row in shown.rows)
    night = next(row for row in shown.rows if row.url == SITES[1])
    assert night.loads[1] < night.loads[10]
    drawn = days(shown)
    assert [len(day.cells) for day in drawn] == [24] * 3
    assert any(cell.dot for cell in drawn[0].cells)
    # without a policy, and with nothing known, it says so without failing
    assert tonight(folder, Schedule(), Politeness(), NOW, 1, 2).hours is None
    empty = CrawlFolder.create(folder.path.parent / "empty")
    assert tonight(empty, Schedule(policy="lp"), Politeness(), NOW, 1, 2).rows == ()


def test_what_cannot_be_planned_or_read_is_told_in_a_sentence(folder: CrawlFolder) -> None:
    with pytest.raises(UsageError, match="--policy hybrid"):
        choose_policy(Schedule())
    folder.plan.mkdir()
    plan_path(folder).write_text("{")
    with pytest.raises(DamagedError, match="delete it"):
        read_plan(folder)


def test_sites_on_one_address_come_in_the_order_in_which_they_were_found() -> None:
    # S0-9: the earlier of two aliases is the canonical one, whatever its hours say
    sites = [OpenSite(number, 0, f"http://{number}", address, 1.0, False) for number, address in
             ((1, "a"), (2, "b"), (3, "a"), (4, "a"))]  # fmt: skip
    assert earlier_first([3, 1, 2, 0], sites) == [0, 1, 2, 3]
    assert earlier_first([1, 0], sites) == [1, 0]
