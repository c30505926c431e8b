"""`nephila lab check`: each of S1's Tables 1-6 beside the generated one, and whether it is within tolerance (4.12).

The tolerance comes from the standard error of each line as the configured number of sites allows, clustered by site
where pages are counted. 4.12 asks for three errors of each. But 37 lines are compared: with three errors a web that
is right would fail by chance about once in ten seeds. So the whole check, and not each line, is held to the chance of
three errors (0.27 %, Bonferroni's bound): a line may be off by 3.97 errors. A row that is seen a few times at most has
no normal error; there the bound is Poisson's at the same chance. The mean size may differ by 1 %, or by its error in
a web too small for that. A sample of pages is written out, so that the sizes counted are those of real bodies.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from nephila.errors import UsageError
from nephila.lab import figures
from nephila.lab.draw import Stream, draw, key_of
from nephila.lab.fates import Fate
from nephila.lab.pages import original
from nephila.lab.tables import Counts, Estimate, Tally, ratio, tally
from nephila.lab.visible import visible_bytes
from nephila.lab.web import Web

_LINES: Final = (
    len(figures.SEED_RESPONSES)
    + len(figures.DOCUMENT_RESPONSES)
    + 2  # Table 3's means
    + len(figures.LABELS)
    + len(figures.SIZE_STEPS)
    + 1  # Table 5's mean
    + 2 * len(figures.REQUESTED)
    - 1  # nothing is found below the last depth
)
_CHANCE_OF_ONE_SIDE: Final = (1 - NormalDist().cdf(3.0)) / _LINES
ERRORS_ALLOWED: Final = NormalDist().inv_cdf(1 - _CHANCE_OF_ONE_SIDE)
MEAN_SIZE_TOLERANCE: Final = 0.01
_LENGTH_SPREAD: Final = 35.5  # standard deviations of the generator's own laws: the least error of a mean
_SIZE_SPREAD_BYTES: Final = 28_600.0
_FEW: Final = 100  # expected in all: above, a Poisson count is normal enough
_SAMPLE: Final = 300
_SAMPLE_TOLERANCE: Final = 0.04


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One line of one table."""

    table: str
    row: str
    paper: float
    ours: float
    tolerance: float
    ok: bool


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All lines; the check holds when every line does."""

    sites: int
    pages: int
    rows: tuple[CheckRow, ...]

    @property
    def ok(self) -> bool:
        return all(row.ok for row in self.rows)


def check(web: Web, sample: int = _SAMPLE) -> CheckReport:
    """Compare the web of this configuration with Tables 1-6."""
    if web.law.profile != "survey" or not web.law.faults or web.law.max_depth != len(figures.REQUESTED) - 1:
        raise UsageError(
            "Tables 1-6 describe the survey: set lab.profile = survey, lab.faults = true and lab.max_depth = 0."
        )
    counts = tally(web)
    rows = [*compare(counts), *_bodies(web, sample)]
    return CheckReport(web.number_of_sites, int(counts.requested.sum()), tuple(rows))


def compare(counts: Tally, max_depth: int = len(figures.REQUESTED) - 1) -> list[CheckRow]:
    """Tables 1-6 of these sums, whoever counted them, beside the paper's.

    Of a web known only to a smaller depth there is no Table 2 and no length of documents, which mix all depths, and
    of Table 6 there are the first lines.
    """
    whole = max_depth == len(figures.REQUESTED) - 1
    return [
        *_table1(counts),
        *(_table2(counts) if whole else ()),
        *(_table3(counts) if whole else _table3(counts)[:3]),
        *_table4(counts),
        *_table5(counts),
        *_table6(counts, max_depth),
    ]


def render(report: CheckReport, whose: str = "lab") -> str:
    """The report as text, table by table; `whose` figures stand beside the paper's."""
    lines = [f"{report.sites:,} sites, {report.pages:,} pages"]
    table = ""
    for row in report.rows:
        if row.table != table:
            table = row.table
            lines += ["", table, f"  {'':<30}{'paper':>14}{whose:>14}{'tolerance':>12}"]
        verdict = "" if row.ok else "  outside"
        lines.append(
            f"  {row.row:<30}{_number(row.paper):>14}{_number(row.ours):>14}{_number(row.tolerance):>12}{verdict}"
        )
    wrong = sum(not row.ok for row in report.rows)
    lines += ["", "all within tolerance" if not wrong else f"{wrong} of {len(report.rows)} lines outside"]
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:,.5f}" if abs(value) < 10 else f"{value:,.2f}"


def _row(table: str, row: str, paper: float, ours: float, tolerance: float) -> CheckRow:
    return CheckRow(table, row, paper, ours, tolerance, abs(ours - paper) <= tolerance)


def _share_row(table: str, row: str, paper: float, estimate: Estimate, trials: float) -> CheckRow:
    """A share: the error is at least that of the paper's own share in so many independent trials."""
    binomial = math.sqrt(paper * (1 - paper) / trials)
    tolerance = ERRORS_ALLOWED * max(estimate.error, binomial)
    if paper * trials < _FEW:
        tolerance = max(tolerance, (_most_by_chance(paper * trials) - paper * trials) / trials)
    return _row(table, row, paper, estimate.value, tolerance)


def _most_by_chance(expected: float) -> int:
    """The largest number that a Poisson count of this expectation reaches with more than the chance allowed."""
    most, chance = 0, math.exp(-expected)
    beyond = 1 - chance
    while beyond > _CHANCE_OF_ONE_SIDE:
        most += 1
        chance *= expected / most
        beyond -= chance
    return most


def _shares(table: str, printed: dict[str, int], sums: Counts) -> list[CheckRow]:
    whole = sum(printed.values())
    total = sums.sum(axis=1)
    return [
        _share_row(table, name, count / whole, ratio(sums[:, column], total), float(total.sum()))
        for column, (name, count) in enumerate(printed.items())
    ]


def _table1(counts: Tally) -> list[CheckRow]:
    return _shares("Table 1: responses of seeds", figures.SEED_RESPONSES, counts.seed_responses)


def _table2(counts: Tally) -> list[CheckRow]:
    return _shares("Table 2: responses of documents", figures.DOCUMENT_RESPONSES, counts.document_responses)


def _table3(counts: Tally) -> list[CheckRow]:
    """Means within the errors; least and most inside the paper's bounds (a smaller web need not touch them)."""
    name = "Table 3: lengths of URLs"
    hosts = counts.host_lengths[:, 0]
    least, most, mean = figures.SEED_LENGTH
    error = float(hosts.std()) / math.sqrt(len(hosts))
    documents = ratio(counts.path_lengths[:, 0], counts.path_lengths[:, 1])
    document_error = max(documents.error, _LENGTH_SPREAD / math.sqrt(float(counts.path_lengths[:, 1].sum())))
    longest = float(counts.path_lengths[:, 2].max())
    return [
        _row(name, "seed, mean", mean, float(hosts.mean()), ERRORS_ALLOWED * error + 0.005),
        CheckRow(name, "seed, at least", least, float(hosts.min()), 0.0, float(hosts.min()) >= least),
        CheckRow(name, "seed, at most", most, float(hosts.max()), 0.0, float(hosts.max()) <= most),
        _row(
            name,
            "document, mean",
            figures.DOCUMENT_LENGTH[2],
            documents.value,
            ERRORS_ALLOWED * document_error + 0.005,
        ),
        CheckRow(name, "document, at most", figures.DOCUMENT_LENGTH[1], longest, 0.0, longest <= 255),
    ]


def _table4(counts: Tally) -> list[CheckRow]:
    printed = {f"{labels} labels": count for labels, count in figures.LABELS.items()}
    return _shares("Table 4: labels of host names", printed, counts.labels)


def _table5(counts: Tally) -> list[CheckRow]:
    name = "Table 5: sizes of documents"
    printed = {f"step {step + 1} of 256 KiB": count for step, count in enumerate(figures.SIZE_STEPS)}
    mean = ratio(counts.size_bytes[:, 0], counts.size_bytes[:, 1])
    # A web of a few hundred sites cannot promise one percent.
    least_error = _SIZE_SPREAD_BYTES / math.sqrt(max(float(counts.size_bytes[:, 1].sum()), 1.0))
    tolerance = max(MEAN_SIZE_TOLERANCE * figures.MEAN_SIZE_BYTES, ERRORS_ALLOWED * max(mean.error, least_error))
    return [
        *_shares(name, printed, counts.size_steps),
        _row(name, "mean size, bytes", figures.MEAN_SIZE_BYTES, mean.value, tolerance),
    ]


def _table6(counts: Tally, max_depth: int = len(figures.REQUESTED) - 1) -> list[CheckRow]:
    """Success by depth, and pages found per page downloaded: together they are the table's two columns."""
    name = "Table 6: documents by depth"
    rows = []
    for depth in range(max_depth + 1):
        requested, downloaded = counts.requested[:, depth], counts.downloaded[:, depth]
        rows.append(
            _share_row(
                name,
                f"downloaded at depth {depth}",
                figures.success(depth),
                ratio(downloaded, requested),
                requested.sum(),
            )
        )
        if depth < max_depth:
            found = ratio(counts.requested[:, depth + 1], downloaded)
            paper = figures.offspring(depth)
            # A handful of sites tells little about its own spread: the geometric law's error is the least allowed.
            geometric = math.sqrt(paper * (1 + paper) / max(float(downloaded.sum()), 1.0))
            tolerance = ERRORS_ALLOWED * max(found.error, geometric)
            rows.append(_row(name, f"found per page of depth {depth}", paper, found.value, tolerance))
    return rows


def _bodies(web: Web, sample: int) -> list[CheckRow]:
    """Pages written out: as long as planned, as compressible and as invisible as the paper's (S1-30, S1-31)."""
    name = f"{sample} pages written out"
    key = key_of(web.law.seed, Stream.CARD, 1)
    written = planned = packed = seen = done = number = right = 0
    while done < sample and number < 50 * sample:
        site = draw(key, 2 * number) % web.number_of_sites
        card, skeleton = web.card(site), web.skeleton(site)
        page = draw(key, 2 * number + 1) % skeleton.pages
        number += 1
        if skeleton.fate[page] != Fate.OK:
            continue
        body = web.body(card, skeleton, page, web.clock_origin)
        done += 1
        size_bytes = int(skeleton.size_bytes[original(skeleton, page)])
        right += len(body) == size_bytes
        written += len(body)
        planned += size_bytes
        packed += len(zlib.compress(body, 6))
        seen += visible_bytes(body)
    return [
        _row(name, "bytes as planned", planned, written, 0.0),
        _row(name, "pages as long as planned", done, right, 0.0),
        _row(name, "compressed to", figures.COMPRESSED_SHARE, packed / max(written, 1), _SAMPLE_TOLERANCE),
        _row(name, "invisible", figures.INVISIBLE_SHARE, 1 - seen / max(written, 1), _SAMPLE_TOLERANCE),
    ]
