"""The policies by their names, as configuration, reports and plans call them."""

from __future__ import annotations

from typing import Final

from nephila.schedule.hybrid import by_table, by_table_later
from nephila.schedule.listed_order import as_listed
from nephila.schedule.lp_quota import by_quota
from nephila.schedule.policy import Policy
from nephila.schedule.relative_rate import by_index
from nephila.schedule.sorting import by_load

POLICIES: Final[dict[str, Policy]] = {
    "random": as_listed,
    "sorting": by_load,
    "hybrid": by_table,
    "hybrid-later": by_table_later,
    "index": by_index,
    "lp-quota": by_quota,
}
OPTIMUM: Final = "lp"
"""The exact optimum: no policy, since it knows the day to come; what policies are measured against."""
