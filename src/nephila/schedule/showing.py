"""Tonight's plan as people look at it: sites by the hours to come, how busy each is, and when it is to be collected.

The plan of the hours to come is what the policy would do if everything came as believed: the simulator run on beliefs.
Nothing is written; a crawl may run beside it.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from nephila.config.sections import Politeness, Schedule
from nephila.schedule.hours import Belief, believe
from nephila.schedule.open_sites import OpenSite, read_open_sites
from nephila.schedule.plan_file import read_plan
from nephila.schedule.planning import Believed, belief_about, choose_policy
from nephila.schedule.policy import HOURS, Floats
from nephila.schedule.simulating import World, simulate
from nephila.shown import ScheduleShown, SiteDay
from nephila.store.folder import CrawlFolder
from nephila.store.hour_figures import HOUR_S, read_hours

MOST_PLANNED: Final = 2_000
"""Sites whose hours to come are played through; of more, those that the plan in force puts first."""

_DIGITS: Final = 3


def tonight(
    folder: CrawlFolder, schedule: Schedule, politeness: Politeness, now: float, places: int, most: int
) -> ScheduleShown:
    """The plan from `now` on, with at most so many rows: the sites that come first, first."""
    every = read_open_sites(folder)
    believed = belief_about(folder, _first_sites(folder, every), schedule, politeness, now)
    first_hour = int(now // HOUR_S) % HOURS
    if not every:
        return _known_hours(folder, schedule, now, first_hour, places, most)
    planned, hours = np.zeros(believed.belief.loads.shape), None
    if schedule.policy != "off":
        planned, hours = _played_through(believed, schedule, now, places, is_whole=len(believed.sites) == len(every))
    first = np.where(planned.any(axis=1), planned.argmax(axis=1), HOURS)
    order = np.lexsort((np.arange(len(first)), first))[:most]
    rows = tuple(
        _row(believed.sites[row].url, believed.sites[row].left_pages, believed.belief, row, first_hour, planned[row])
        for row in order.tolist()
    )
    return ScheduleShown(schedule.policy, now, first_hour, places, len(every), hours, rows)


def _first_sites(folder: CrawlFolder, every: list[OpenSite]) -> list[OpenSite]:
    """All, or where there are very many those that the plan in force puts first."""
    if len(every) <= MOST_PLANNED:
        return every
    plan = read_plan(folder)
    by_number = {site.number: site for site in every}
    listed = [by_number[turn.site] for turn in plan.sites if turn.site in by_number] if plan is not None else every
    return (listed or every)[:MOST_PLANNED]


def _played_through(
    believed: Believed, schedule: Schedule, now: float, places: int, *, is_whole: bool
) -> tuple[Floats, float | None]:
    """Share of each site's pages in each of the next 24 hours, and how long all of it takes."""
    situation = believed.situation(range(len(believed.sites)), now, places)
    world = World(situation.loads, situation.rates, situation.left, places, situation.hour)
    run = simulate(world, choose_policy(schedule))
    planned = np.zeros(believed.belief.loads.shape)
    count = min(HOURS, run.by_hour.shape[1])
    planned[:, :count] = run.by_hour[:, :count] / situation.left[:, None]
    return planned, run.hours if is_whole and math.isfinite(run.hours) else None


def _known_hours(
    folder: CrawlFolder, schedule: Schedule, now: float, first_hour: int, places: int, most: int
) -> ScheduleShown:
    """Nothing is left to collect: what is known of the sites' hours."""
    known = read_hours(folder, now, schedule.half_life)
    urls = sorted(known, key=lambda url: (-sum(known[url].answers), url))[:most]
    belief = believe(urls, known, now)
    nothing = np.zeros(HOURS)
    rows = tuple(_row(url, 0.0, belief, row, first_hour, nothing) for row, url in enumerate(urls))
    return ScheduleShown(schedule.policy, now, first_hour, places, 0, None, rows)


def _row(url: str, left: float, belief: Belief, row: int, first_hour: int, planned: Floats) -> SiteDay:
    coming = (first_hour + np.arange(HOURS)) % HOURS
    return SiteDay(
        url=url,
        zone=int(belief.zones[row]),
        pages_left=left,
        loads=_rounded(belief.loads[row, coming]),
        sure=_rounded(belief.confidence[row, coming]),
        planned=_rounded(planned),
        slower=round(float(belief.slower[row]), 1),
    )


def _rounded(values: Floats) -> tuple[float, ...]:
    return tuple(np.round(values, _DIGITS).tolist())
