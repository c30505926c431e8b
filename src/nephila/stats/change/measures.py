"""Download rate, modification rate and coefficient of age variation, of S1's authors' later papers (2.1).

Of one document: DR is the share of batches, from its first download on, in which it was downloaded; MR the share of its
gaps between downloads after which it had changed; CAV the standard deviation of its ages divided by their mean, where
an age is the days from one change seen to the next. A page that changes by the clock has a CAV near 0, by chance (a
Poisson process) near 1, in bursts above. And how the three measures of a change compare.
"""

from __future__ import annotations

from typing import Any

from nephila.stats.change.visits import MEASURES, Measure, changed_column
from nephila.stats.section import Column, Plot, Section

GROUP = "How documents change"
_BANDS = "least(floor({value} * 10) / 10, 0.9)"


def measure_sections(duck: Any, measure: Measure, batches: int) -> tuple[Section, ...]:
    """DR, MR and CAV, and the three measures beside each other."""
    return (_rates(duck, measure, batches), _ages(duck, measure), _measures(duck))


def _rates(duck: Any, measure: Measure, batches: int) -> Section:
    sql = f"""SELECT band, count(*) FILTER (what = 'DR') AS by_download_rate,
       count(*) FILTER (what = 'MR') AS by_modification_rate
FROM (
    SELECT 'DR' AS what, {_BANDS.format(value=f"(downloads / ({batches} - first_batch + 1))")} AS band FROM documents
    UNION ALL
    SELECT 'MR', {_BANDS.format(value="(changes / gaps)")} FROM documents WHERE gaps > 0
) GROUP BY band ORDER BY band"""  # noqa: S608
    rows = tuple((f"{band:.1f} to {band + 0.1:.1f}", int(dr), int(mr)) for band, dr, mr in duck.execute(sql).fetchall())
    return Section(
        "rates-of-documents", "Download rate and modification rate",
        "Documents by their download rate (batches with a download, of those since the first one) and by their "
        f"modification rate (gaps with a change, of all gaps between downloads; a change by {measure}).",
        sql,
        (Column("rate"), Column("by_download_rate", "count"), Column("by_modification_rate", "count")),
        rows, Plot("pairs", "rate", ("by_download_rate", "by_modification_rate"), "rate", "documents"), GROUP,
        "Kim & Lee 2005, 2007 (2.1)",
    )  # fmt: skip


def _ages(duck: Any, measure: Measure) -> Section:
    sql = f"""SELECT least(floor(cav * 4) / 4, 2) AS band, count(*) AS documents, avg(ages) AS ages,
       avg(mean_days) AS mean_age_days
FROM (
    SELECT url, count(*) AS ages, avg(age) AS mean_days, stddev_samp(age) / avg(age) AS cav
    FROM (
        SELECT url, (seen_at - lag(seen_at) OVER (PARTITION BY url ORDER BY batch)) / 86400 AS age
        FROM downloads WHERE gap_days IS NOT NULL AND {changed_column(measure)}
    ) WHERE age IS NOT NULL GROUP BY url HAVING count(*) > 1
) GROUP BY band ORDER BY band"""  # noqa: S608
    rows = tuple(
        (f"{band:.2f} to {band + 0.25:.2f}" if band < 2 else "2 and more", int(documents), float(ages), float(days))
        for band, documents, ages, days in duck.execute(sql).fetchall()
    )
    return Section(
        "age-variation", "Coefficient of age variation",
        "Documents by how unequal the times between their changes are: the standard deviation of the ages divided by "
        "their mean, of documents with at least two ages (three changes seen). Near 0: by the clock; visits at fixed "
        "times cannot see less than one gap, so that pages that change more often than they are visited lie there too.",
        sql,
        (Column("cav"), Column("documents", "count"), Column("ages", "number"), Column("mean_age_days", "days")),
        rows, Plot("columns", "cav", ("documents",), "coefficient of age variation", "documents"), GROUP,
        "Kim & Lee 2005, 2007 (2.1)",
    )  # fmt: skip


def _measures(duck: Any) -> Section:
    columns = ", ".join(f"count(*) FILTER ({changed_column(one)}) AS by_{one}" for one in MEASURES)
    both = ", ".join(
        f"count(*) FILTER (changed_bytes AND {changed_column(one)}) AS bytes_and_{one}" for one in MEASURES
    )
    sql = f"SELECT count(*) AS gaps, {columns},\n       {both}\nFROM downloads WHERE gap_days IS NOT NULL"
    gaps, *found = (int(value) for value in duck.execute(sql).fetchone())
    meaning = {
        "bytes": "any byte of the body differs (S1's measure, and the default)",
        "text": "the main text differs",
        "simhash": "the simhash of the main text differs by more than 3 of 64 bits",
    }
    rows = tuple(
        (one, meaning[one], found[place], found[place] / gaps if gaps else None,
         found[3 + place] / found[0] if found[0] else None)
        for place, one in enumerate(MEASURES)
    )  # fmt: skip
    return Section(
        "measures-of-change", "What counts as a change",
        f"Of {gaps:,} pairs of downloads in a row: how many differ by each measure, and how many of those that differ "
        "in their bytes. All three are kept in DIR/study/downloads.parquet; `nephila study --measure` chooses.",
        sql,
        (Column("measure"), Column("meaning"), Column("changed", "count"), Column("share", "share"),
         Column("of_changed_bytes", "share")),
        rows, Plot("bars", "measure", ("share",), "", "pairs that differ"), GROUP, "S1-41, 2.7",
    )  # fmt: skip
