"""How long URLs live: Kaplan and Meier's estimate of the share that is still there after so many batches.

A URL's life begins with its first download and ends after its last, if another batch followed; one that was there in
the last batch may live on (it is censored). Those of the first batch were born before the study, so what is seen of
them is the rest of their lives; those that came later are seen from their beginning. Both are told. With d of n at risk
ending at a step the share falls by the factor 1 - d/n; the interval is Greenwood's, on the scale of log(-log).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nephila.stats.section import Cell, Column, Plot, Section

GROUP = "How documents change"
_SQL = """SELECT first_batch = 1 AS from_the_start, last_batch - first_batch AS lived, last_batch < {batches} AS ended,
       count(*) AS documents
FROM documents GROUP BY ALL ORDER BY ALL"""
Step = tuple[int, float, float, float, float]
"""batches lived, at risk, share that lives on, lower and upper bound"""


def kaplan_meier(rows: Sequence[tuple[int, bool, float]]) -> list[Step]:
    """(batches lived, whether the end was seen, how many) to the share that lives on beyond each."""
    at_risk = sum(count for _, _, count in rows)
    steps: list[Step] = []
    share, variance = 1.0, 0.0
    for lived in sorted({lived for lived, _, _ in rows}):
        ended = sum(count for at, seen, count in rows if at == lived and seen)
        gone = sum(count for at, _, count in rows if at == lived)
        if at_risk > 0:
            share *= 1 - ended / at_risk
            variance += ended / (at_risk * (at_risk - ended)) if at_risk > ended else 0.0
        steps.append((lived + 1, at_risk, share, *_bounds(share, variance)))
        at_risk -= gone
    return steps


def _bounds(share: float, variance: float) -> tuple[float, float]:
    if not 0 < share < 1:
        return share, share
    width = 1.96 * math.sqrt(variance) / abs(math.log(share))
    return share ** math.exp(width), share ** math.exp(-width)


def survival_sections(duck: Any, batches: int, gap_days: float) -> tuple[Section, ...]:
    """Two tables: URLs of the first batch, and those that came later."""
    sql = _SQL.format(batches=batches)
    found = duck.execute(sql).fetchall()
    sections = []
    for name, title, start, seen in (
        ("survival", "How long URLs live that were there at the beginning", True,
         "These were older than the study: what is seen is the rest of their lives."),
        ("survival-of-new", "How long new URLs live", False,
         "These came after the first batch: their lives are seen from the beginning."),
    ):  # fmt: skip
        chosen = [(int(lived), bool(ended), float(count)) for first, lived, ended, count in found if first == start]
        rows: list[tuple[Cell, ...]] = [
            (lived, lived * gap_days, int(at_risk), share, low, high)
            for lived, at_risk, share, low, high in kaplan_meier(chosen)
            if lived < batches
        ]
        sections.append(Section(
            name, title,
            "The share of URLs that is downloaded again after so many batches, by Kaplan and Meier: a URL ends when no "
            f"later batch has it; those of the last batch may live on. {seen} Intervals of 95 % by Greenwood.",
            sql,
            (Column("batches", "number"), Column("days", "days"), Column("at_risk", "count"), Column("alive", "share"),
             Column("alive_low", "share"), Column("alive_high", "share")),
            tuple(rows), Plot("line", "days", ("alive",), "days", "still there", "alive_low", "alive_high"), GROUP,
            "S1-44",
        ))  # fmt: skip
    return tuple(sections)
