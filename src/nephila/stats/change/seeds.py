"""Seeds from batch to batch: Tables 7-10, and the chances that what is up stays up and what is down stays down.

S is the number of seeds, N of batches, |S(i)| of seeds downloaded in i batches. As S1 prints them (S1-38, S1-39):

    SS = Σ |S(i)| (i-1) / ((S - |S(0)|) (N-1))        FF = Σ |S(i)| (N-1-i) / ((S - |S(N)|) (N-1))

These average over seeds. "A seed whose download failed, will the next one fail?" asks about failures, of which some
seeds have many; averaged over events (S1-40, finding 2):

    SS = Σ |S(i)| i (i-1) / ((N-1) Σ |S(i)| i)        FF = Σ |S(i)| (N-i)(N-1-i) / ((N-1) Σ |S(i)| (N-i))

Both forget the order of the batches. The batches' own log has it: of all downloads (failures) with a batch after them,
how many were followed by another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nephila.stats.change.bootstrap import Grouped, Ratio, drawn
from nephila.stats.section import Cell, Column, Plot, Section

GROUP = "How seeds change"
_TIMES = "SELECT times AS downloads, count(*) AS seeds\nFROM seeds GROUP BY times ORDER BY times"
_BATCHES = """SELECT batch, count(*) FILTER (seed) AS seeds_requested,
       count(*) FILTER (seed AND ok) AS seeds_downloaded,
       count(*) FILTER (requested) AS requested, count(*) FILTER (ok) AS downloaded,
       make_timestamp((any_value(began_at) * 1000000)::BIGINT)::VARCHAR AS began
FROM observations GROUP BY batch ORDER BY batch"""
_NEXT = """SELECT count(*) FILTER (ok AND later) AS ss, count(*) FILTER (ok) AS up,
       count(*) FILTER (NOT ok AND NOT later) AS ff, count(*) FILTER (NOT ok) AS down
FROM (SELECT ok, lead(ok) OVER (PARTITION BY url ORDER BY batch) AS later FROM observations WHERE seed)
WHERE later IS NOT NULL"""
_NEXT_BY_SITE = f"SELECT site, {_NEXT[7:].replace('SELECT ok,', 'SELECT site, ok,')} GROUP BY site"


def ss(times: Sequence[float]) -> float | None:
    """S1-38; `times[i]` seeds were downloaded in i batches."""
    return _quotient(sum(n * (i - 1) for i, n in enumerate(times) if i), (sum(times) - times[0]) * (len(times) - 2))


def ff(times: Sequence[float]) -> float | None:
    """S1-39."""
    last = len(times) - 1
    over = sum(n * (last - 1 - i) for i, n in enumerate(times[:-1]))
    return _quotient(over, (sum(times) - times[-1]) * (last - 1))


def ss_by_events(times: Sequence[float]) -> float | None:
    """S1-40."""
    over = sum(n * i * (i - 1) for i, n in enumerate(times))
    return _quotient(over, (len(times) - 2) * sum(n * i for i, n in enumerate(times)))


def ff_by_events(times: Sequence[float]) -> float | None:
    """S1-40."""
    last = len(times) - 1
    over = sum(n * (last - i) * (last - 1 - i) for i, n in enumerate(times))
    return _quotient(over, (last - 1) * sum(n * (last - i) for i, n in enumerate(times)))


def _quotient(over: float, under: float) -> float | None:
    return float(over / under) if under else None


def seed_sections(duck: Any, batches: int) -> tuple[Section, ...]:
    """Tables 7-10 and the chances."""
    return (_table7(duck), _table8(duck, batches), _chances(duck, batches), _table9(duck), _table10(duck))


def _table7(duck: Any) -> Section:
    rows = []
    for row in duck.execute(_BATCHES).fetchall():
        batch, seeds, up, requested, downloaded, began = row
        rows.append((int(batch), began[:19], seeds, up, requested, downloaded, _quotient(downloaded, requested)))
    return Section(
        "table-7", "Table 7: requests and downloads of each batch",
        "Each batch with its date, the seeds asked for and downloaded, and all pages likewise. Downloaded means code "
        "200, HTML, and the whole body (S1-10).",
        _BATCHES,
        (Column("batch", "number"), Column("began"), Column("seeds_requested", "count"),
         Column("seeds_downloaded", "count"), Column("requested", "count"), Column("downloaded", "count"),
         Column("success", "share")),
        tuple(rows), Plot("columns", "batch", ("downloaded",), "batch", "pages downloaded"), GROUP, "S1-35",
    )  # fmt: skip


def times_of(duck: Any, batches: int) -> list[int]:
    """Seeds by the number of batches in which they were downloaded, 0 .. N."""
    found = dict(duck.execute(_TIMES).fetchall())
    return [int(found.get(i, 0)) for i in range(batches + 1)]


def _table8(duck: Any, batches: int) -> Section:
    times = times_of(duck, batches)
    rows = tuple((i, times[i], _quotient(times[i], sum(times))) for i in range(batches, -1, -1))
    return Section(
        "table-8", "Table 8: seeds by number of downloads",
        "Seeds by the number of batches in which they were downloaded.", _TIMES,
        (Column("downloads", "number"), Column("seeds", "count"), Column("share", "share")), rows,
        Plot("columns", "downloads", ("seeds",), "batches in which a seed was downloaded", "seeds"), GROUP, "S1-37",
    )  # fmt: skip


def _chances(duck: Any, batches: int) -> Section:
    by_site = duck.execute("SELECT site, times FROM seeds ORDER BY site").fetchall()
    sites, index = np.unique([row[0] for row in by_site], return_inverse=True)
    counts = np.zeros((len(sites), batches + 1))
    for place, (_, times) in zip(index, by_site, strict=True):
        counts[place, int(times)] += 1
    again = drawn(counts) if len(sites) else np.zeros((1, batches + 1))
    pairs = np.array([[float(v) for v in row[1:]] for row in duck.execute(_NEXT_BY_SITE).fetchall()]).reshape(-1, 4)
    pairs_again = drawn(pairs) if len(pairs) else np.zeros((1, 4))
    total, whole = counts.sum(axis=0), pairs.sum(axis=0)
    rows: list[tuple[Cell, ...]] = []
    if batches > 1:
        for name, function, meaning in (
            ("SS", ss, "as printed: averaged over seeds (S1-38)"),
            ("SS", ss_by_events, "averaged over downloads (S1-40)"),
        ):
            rows.append((name, meaning, function(total.tolist()), _spread([function(r.tolist()) for r in again])))
        rows.append(("SS", "seen: a download followed by one", _quotient(whole[0], whole[1]),
                     _spread([_quotient(r[0], r[1]) for r in pairs_again])))  # fmt: skip
        for name, function, meaning in (
            ("FF", ff, "as printed: averaged over seeds (S1-39)"),
            ("FF", ff_by_events, "averaged over failures (S1-40)"),
        ):
            rows.append((name, meaning, function(total.tolist()), _spread([function(r.tolist()) for r in again])))
        rows.append(("FF", "seen: a failure followed by one", _quotient(whole[2], whole[3]),
                     _spread([_quotient(r[2], r[3]) for r in pairs_again])))  # fmt: skip
    return Section(
        "up-and-down", "Does a seed stay up, does it stay down?",
        "SS: the chance that a seed that was downloaded is downloaded in the next batch; FF: that one that failed "
        "fails again. S1's formulas average over seeds; the question is about events, and with the batches' log it can "
        "be counted. Errors: sites drawn again.",
        _NEXT,
        (Column("chance"), Column("how"), Column("value", "number"), Column("error", "number")),
        tuple(rows), None, GROUP, "S1-38, S1-39, S1-40",
    )  # fmt: skip


def _spread(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.std(known)) if known else None


_SUMS = (
    ("seeds", "count(*)"),
    ("always", "count(*) FILTER (times = looked)"),
    ("changed", "count(*) FILTER (times = looked AND changes > 0)"),
    ("days", "coalesce(sum(interval_days) FILTER (times = looked), 0)"),
)
_DEFINITION = (
    "Seeds by {what}: all, those downloaded in every batch, and of these the changed ones and their interval: the days "
    "from first to last download divided by the changes seen, averaged over the changed ones alone (S1-41). {rest} "
    "Errors: sites drawn again."
)


def _table9(duck: Any) -> Section:
    return domain_section(
        duck, "table-9", "Table 9: change of seeds by domain", "top-level domain", "tld", "true", "S1-42", 10
    )


def _table10(duck: Any) -> Section:
    return domain_section(
        duck, "table-10", "Table 10: change of seeds by second-level domain", "public suffix of two labels or more",
        "suffix", "contains(suffix, '.')", "S1-43", 1,
    )  # fmt: skip


def domain_section(
    duck: Any, name: str, title: str, what: str, group: str, where: str, paper: str, least: int
) -> Section:
    question = Grouped("seeds", group, _SUMS, where)
    answer = question.ask(duck)
    always = answer.ratio("always", "seeds")
    changed, days = answer.ratio("changed", "always"), answer.ratio("days", "changed")
    rows = []
    for place in np.argsort(-answer.sum("seeds"), kind="stable").tolist():
        seeds = answer.sum("seeds")[place]
        if seeds < least:
            continue
        rows.append((
            str(answer.names[place]), int(seeds), int(answer.sum("always")[place]), *_cells(always[place]),
            int(answer.sum("changed")[place]), *_cells(changed[place]), *_cells(days[place]),
        ))  # fmt: skip
    rest = f"Domains with fewer than {least} seeds are left out." if least > 1 else ""
    return Section(
        name, title, _DEFINITION.format(what=what, rest=rest), question.sql(),
        (Column("domain"), Column("seeds", "count"), Column("in_all_batches", "count"), Column("share", "share"),
         Column("share_error", "share"), Column("changed", "count"), Column("changed_share", "share"),
         Column("changed_error", "share"), Column("interval_days", "days"), Column("interval_error", "days")),
        tuple(rows), Plot("bars", "domain", ("interval_days",), "", "days between changes"), GROUP, paper,
    )  # fmt: skip


def _cells(ratio: Ratio) -> tuple[float | None, float | None]:
    return ratio.value, ratio.error
