"""What a policy is: a plain function of what is believed about the sites at the beginning of an hour (S2-1).

In comes a `Situation`, out goes an `HourOrder`: in which order free places take sites in this hour, how long each may
keep its place, and which of those under way give theirs back. A policy knows no clock, no file and no network; the
simulation and the crawl ask the same ones.

A place, the paper's robot, collects one site at a time. Whoever asks the policy never leaves a place empty while a site
waits: a quota that is used up only moves a site behind the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

HOURS: Final = 24
"""Columns of every table of hours: the hours of the day, 0-23 UTC."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known when an hour begins. One row per site, in the order in which the sites were listed."""

    hour: int  # of the day, 0-23
    loads: Floats  # sites × 24, each in [0, 1)
    rates: Floats  # sites × 24: what one place collects of the site in an hour (pages, or any unit of `left`)
    left: Floats  # what is still to be collected; 0 = complete
    places: int
    length_h: float = 1.0  # how much of this hour is left
    begun: Flags | None = None  # sites of which something was collected; None = not known


@dataclass(frozen=True, slots=True)
class HourOrder:
    """What a policy decides for one hour."""

    order: Ints  # rows of the incomplete sites, the first to be served first
    quota_h: Floats | None = None  # per row: how long a site may keep a place in this hour; None = to its end
    stays: Flags | None = None  # per row: a site under way keeps its place at the hour change; None = all do


class Policy(Protocol):
    """One way of choosing."""

    def __call__(self, situation: Situation) -> HourOrder: ...


def incomplete(situation: Situation) -> Ints:
    """The rows that still have something to collect, as listed."""
    return np.flatnonzero(situation.left > 0)
