"""A crawl that follows a policy: the room that collects is given the one that plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nephila.crawl.hourly import Planner
    from nephila.crawl.opening import Opened


def make_planner(opened: Opened) -> Planner | None:
    """The planner that the crawl's settings ask for; None where sites are collected as they come."""
    config = opened.effective.config
    if config.schedule.policy == "off":
        return None
    from nephila.schedule.planning import HourPlanner  # heavy, and needed with a policy alone

    return HourPlanner(opened.folder, config.schedule, config.politeness)
