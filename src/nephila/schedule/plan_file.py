"""`DIR/plan/schedule.json`: the plan in force, for people and their scripts; the crawl itself does not read it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from nephila.errors import DamagedError, DiskFullError
from nephila.records import HourPlan
from nephila.store.durable import make_directory, replace_file
from nephila.store.folder import CrawlFolder

PLAN_FILE: Final = "schedule.json"


@dataclass(frozen=True, slots=True)
class PlannedSite:
    """A site's turn; `quota_s` is null where it keeps its place to its end."""

    site: int
    slot: int
    quota_s: float | None
    stays: bool


@dataclass(frozen=True, slots=True)
class PlanFile:
    """One hour's plan: sites in the order in which they take places."""

    made_at: float  # UTC
    hour: int  # of the day, UTC
    policy: str
    places: int
    sites: tuple[PlannedSite, ...]


def plan_path(folder: CrawlFolder) -> Path:
    return folder.plan / PLAN_FILE


def write_plan(folder: CrawlFolder, plan: HourPlan, policy: str, now: float, places: int) -> None:
    sites = tuple(
        PlannedSite(turn.site, turn.slot, turn.quota_s if math.isfinite(turn.quota_s) else None, turn.stays)
        for turn in plan.turns
    )
    kept = PlanFile(now, plan.hour % 24, policy, places, sites)
    try:
        make_directory(folder.plan)
        replace_file(plan_path(folder), msgspec.json.encode(kept))
    except DiskFullError:
        return  # it is for people; the crawl has the plan itself


def read_plan(folder: CrawlFolder) -> PlanFile | None:
    """The plan in force, or the last one of the last run; None where there never was one."""
    path = plan_path(folder)
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=PlanFile)
    except msgspec.MsgspecError as problem:
        raise DamagedError(f"{path} cannot be read ({problem}); delete it, the next plan writes it anew.") from None
