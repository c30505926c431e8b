"""Who is visited next: one file per policy, all of them pure.

A policy gives every page a score that grows with the time since its last visit; the pages with the highest scores are
visited, and a page is due when its score has reached the price: that of the last page that the budget bought. So
every policy spends the same budget, and differs in whom it spends it on.
"""

from __future__ import annotations

from typing import Final

from nephila.errors import UsageError
from nephila.refresh.policies.azar import azar
from nephila.refresh.policies.fixed import Fixed
from nephila.refresh.policies.groups import Groups
from nephila.refresh.policies.index import Index
from nephila.refresh.policies.lambdacrawl import lambdacrawl
from nephila.refresh.policies.nutch import Nutch
from nephila.refresh.policies.policy import Policy
from nephila.refresh.policies.proportional import Proportional
from nephila.refresh.policies.uniform import Uniform

POLICIES: Final[dict[str, Policy]] = {
    "index": Index(),
    "uniform": Uniform(),
    "proportional": Proportional(),
    "fixed": Fixed(),
    "groups": Groups(),
    "groups-counts": Groups("counts"),
    "nutch": Nutch(),
    "azar": azar(),
    "lambdacrawl": lambdacrawl(),
}


def policy_named(name: str) -> Policy:
    if name not in POLICIES:
        raise UsageError(f"there is no policy {name!r}; choose one of {', '.join(POLICIES)}.")
    return POLICIES[name]
