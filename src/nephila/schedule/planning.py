"""An hour's plan for a crawl: open sites and what is believed of their hours, put in order by a policy.

Rates are pages per hour that a polite place gets out of a site: one request at a time, its answer after `latency`, and
then a delay of max(min_delay, factor × latency) (S1-18, J-2). Where the delay is the factor's, the rate falls with the
load as S2 has it; where it is `min_delay`, hours differ little and the plan says so. The load that we add ourselves is
OWN_LOAD for the share of time in which a request is under way (S2-17).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nephila.config.sections import Politeness, Schedule
from nephila.errors import UsageError
from nephila.records import HourPlan, SiteTurn
from nephila.schedule.hours import OWN_LOAD, Belief, believe
from nephila.schedule.open_sites import OpenSite, read_open_sites
from nephila.schedule.plan_file import write_plan
from nephila.schedule.policies import POLICIES
from nephila.schedule.policy import HOURS, Floats, HourOrder, Policy, Situation
from nephila.store.folder import CrawlFolder
from nephila.store.hour_figures import HOUR_S, read_hours

_SURE: float = 0.5


@dataclass(frozen=True, slots=True)
class Believed:
    """The open sites of a folder and what is believed of them."""

    sites: tuple[OpenSite, ...]
    belief: Belief
    rates: Floats  # pages per place and hour

    def situation(self, rows: Sequence[int], now: float, places: int) -> Situation:
        chosen = np.array(rows, dtype=np.int64)
        return Situation(
            hour=int(now // HOUR_S) % HOURS,
            loads=self.belief.loads[chosen],
            rates=self.rates[chosen],
            left=np.array([self.sites[row].left_pages for row in rows]),
            places=places,
            length_h=max(1 - now % HOUR_S / HOUR_S, 1e-3),
            begun=np.array([self.sites[row].begun for row in rows], dtype=np.bool_),
        )


class HourPlanner:
    """Plans from the files of one folder; what a crawl asks at each hour change."""

    def __init__(self, folder: CrawlFolder, schedule: Schedule, politeness: Politeness) -> None:
        self._folder = folder
        self._schedule = schedule
        self._politeness = politeness
        self._policy = choose_policy(schedule)

    def plan(self, now: float, agents: Sequence[tuple[int, ...]], places: int) -> HourPlan:
        """The order of all open sites, agent by agent: each chooses among its own, for places of its own."""
        believed = read_belief(self._folder, self._schedule, self._politeness, now)
        turns: list[SiteTurn] = []
        for slots in agents:
            rows = [row for row, site in enumerate(believed.sites) if site.slot in slots]
            if rows:
                situation = believed.situation(rows, now, places)
                turns += _turns(believed, rows, self._policy(situation), situation.hour)
        plan = HourPlan(int(now // HOUR_S), tuple(turns))
        write_plan(self._folder, plan, self._schedule.policy, now, places * len(agents))
        return plan


def choose_policy(schedule: Schedule) -> Policy:
    """The policy that the configuration names."""
    match schedule.policy:
        case "hybrid":
            return POLICIES["hybrid" if schedule.step_five == "next" else "hybrid-later"]
        case "lp":
            return POLICIES["lp-quota"]
        case "off":
            raise UsageError(
                "there is no policy to plan by; choose one: --policy hybrid, or lp, index, sorting, random."
            )
        case name:
            return POLICIES[name]


def read_belief(folder: CrawlFolder, schedule: Schedule, politeness: Politeness, now: float) -> Believed:
    """Open sites and their hours, as the folder has them now."""
    return belief_about(folder, read_open_sites(folder), schedule, politeness, now)


def belief_about(
    folder: CrawlFolder, sites: Sequence[OpenSite], schedule: Schedule, politeness: Politeness, now: float
) -> Believed:
    """What the folder knows of these sites' hours."""
    urls = [site.url for site in sites]
    belief = believe(urls, read_hours(folder, now, schedule.half_life, urls), now)
    return Believed(tuple(sites), belief, page_rates(belief, politeness))


def page_rates(belief: Belief, politeness: Politeness) -> Floats:
    """Pages per hour on one place: 3600 / (latency + delay), less what fails."""
    latency = belief.latency_s
    longest = max(politeness.max_delay, politeness.min_delay)
    delay = np.maximum(politeness.min_delay, np.minimum(longest, politeness.delay_factor * latency))
    own = latency / (latency + delay)
    # Answers take 1 / (1 − load) times as long as at rest: a busy server feels what we add, an idle one hardly.
    spare = 1.0 - belief.loads
    slowed = latency * spare / np.maximum(spare - OWN_LOAD * own, 0.1 * spare)
    rates: Floats = HOUR_S / (
        slowed + np.maximum(politeness.min_delay, np.minimum(longest, politeness.delay_factor * slowed))
    )
    return rates * (1.0 - belief.failures)


def _turns(believed: Believed, rows: Sequence[int], chosen: HourOrder, hour: int) -> list[SiteTurn]:
    turns = []
    for place in earlier_first(chosen.order.tolist(), [believed.sites[row] for row in rows]):
        row = rows[place]
        site = believed.sites[row]
        quota_s = float("inf") if chosen.quota_h is None else float(chosen.quota_h[place]) * HOUR_S
        sure = believed.belief.confidence[row, hour] >= _SURE
        turns.append(
            SiteTurn(
                site=site.number,
                slot=site.slot,
                quota_s=quota_s,
                stays=chosen.stays is None or bool(chosen.stays[place]),
                expected_s=float(believed.belief.latency_s[row, hour]) if sure else 0.0,
            )
        )
    return turns


def earlier_first(order: Sequence[int], sites: Sequence[OpenSite]) -> list[int]:
    """The order, but on one address the site found earlier comes first: of two aliases it is the canonical (S0-9)."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(order):
        places[sites[row].address].append(place)
    result = list(order)
    for shared in places.values():
        if len(shared) > 1:
            by_number = sorted((order[place] for place in shared), key=lambda row: sites[row].number)
            for place, row in zip(shared, by_number, strict=True):
                result[place] = row
    return result
