"""What the simulation has to say: hours per policy on every instance, and CHECKLIST 3's quantities over all of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation over the instances."""

    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class InstanceRow:
    """Hours of each policy on one instance; `hours_honest` with what three days taught instead of the day itself."""

    seed: int
    hours: dict[str, float]
    hours_honest: dict[str, float]
    bound: float
    in_order: bool
    in_order_honest: bool


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """One policy over all instances."""

    policy: str
    hours: Spread
    hours_rounded_up: Spread
    faster_than_random: float  # of the mean times: 0.26 = done 1.26 times as fast
    utilisation: Spread
    load_at_fetch: Spread
    best_hours_share: Spread
    suspensions: Spread
    worst_delay_h: Spread
    ratio_to_bound: Spread
    volume: tuple[float, ...]  # mean per hour


@dataclass(frozen=True, slots=True)
class HourByHour:
    """How the three methods of the paper compare within the run (S2-16, I2-4); hours counted from the start, 0-based.

    Hours are medians over the instances; None where most of them have no such hour.
    """

    sorting_first: float  # share of instances: most volume in hour 0 comes by sorting, then hybrid, then random
    hybrid_overtakes: int | None  # first hour with more volume than sorting
    hybrid_overtakes_cumulative: int | None  # first hour after which more has come in all
    hybrid_leads_from: int | None  # its longest block of hours in a row above sorting
    hybrid_leads_hours: int | None
    sorting_below_random: int | None


@dataclass(frozen=True, slots=True)
class SimulateReport:
    """The experiment. `policies` is the paper's own way, each policy knowing the day; `honest` plans on three others.

    `in_order` is the share of instances with random > sorting > hybrid > lp-quota ≥ lp ≥ bound.
    """

    servers: int
    robots: int
    seed: int
    in_order: float
    in_order_honest: float
    policies: tuple[PolicyRow, ...]
    honest: tuple[PolicyRow, ...]
    bound: Spread
    hour_by_hour: HourByHour
    instances: tuple[InstanceRow, ...]
    seconds: float
    cpu_seconds: float
    picture: str  # the file; empty if none was asked for
