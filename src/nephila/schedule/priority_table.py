"""The priority table of the hybrid method (S2-8): one column per hour, in it every site once, in order of service.

    step 1 (S2-9)   b(s) = the hour of the lowest load of s, the earliest of several
    step 2 (S2-10)  s goes into column b(s); within a column by load, ascending
    step 3 (S2-11)  below them, in each column, all sites that are not in it yet, by load, ascending

Equal loads keep the order of the list.
"""

from __future__ import annotations

import numpy as np

from nephila.schedule.policy import HOURS, Floats, Ints


def best_hours(loads: Floats) -> Ints:
    """Step 1: the hour of the lowest load, per site."""
    best: Ints = np.argmin(loads, axis=1).astype(np.int64)
    return best


def column(loads: Floats, hour: int, best: Ints | None = None) -> Ints:
    """One column: the sites whose best hour it is, then all others, each part by load."""
    best = best_hours(loads) if best is None else best
    return np.lexsort((loads[:, hour], best != hour)).astype(np.int64)


def priority_table(loads: Floats) -> Ints:
    """The whole table: rows are places in the order of service, columns hours, entries row numbers of sites."""
    best = best_hours(loads)
    return np.stack([column(loads, hour, best) for hour in range(HOURS)], axis=1)
