"""S1's survey again: the lab's web collected over HTTP by the real crawler, and its Tables 1-6 beside the paper's.

`lab check` counts on the generator's own model; here nothing is taken from the model but the seed list: what is
compared was asked for, archived, converted and counted by SQL over the tables. Where our robot is not S1's, the
settings make it so, and `DIFFERENCES` says what and why; the tolerances are `lab check`'s.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from nephila.config.layers import Layer
from nephila.config.sections import Convert, Lab, Links
from nephila.convert.run import run as convert
from nephila.crawl.run import open_crawl
from nephila.crawl.run import run as crawl
from nephila.decode import decode
from nephila.engine import open_engine
from nephila.errors import NephilaError, UsageError
from nephila.jobs.survey_tally import tally_of
from nephila.lab import figures
from nephila.lab.check import CheckReport, CheckRow, compare
from nephila.lab.serve import LabServer
from nephila.lab.web import Web
from nephila.store.archive.reader import read_with_body
from nephila.store.folder import CrawlFolder, slot_name
from nephila.store.opened import OpenedCrawl

SETTINGS: Final[dict[str, object]] = {
    "crawl.mode": "parties",
    "crawl.max_redirects": 0,
    "crawl.retries": 0,
    "politeness.robots": "ignore",
    "politeness.min_delay": 0.0,
    "politeness.delay_factor": 0.0,
    "aliases.rule": "off",
    "crawl.sleep_min": 0.1,
    "net.allow_private": ["127.0.0.0/8"],
    "net.header_timeout": 5.0,
    "net.idle_timeout": 5.0,
    "archive.sync": False,
    "traps.probe_after": "none",
}
"""S1's robot, as far as S1-7 to S1-23 tell: no robots rules, no redirects, parties apart, 5 s without a byte."""

DIFFERENCES: Final = (
    "robots.txt is ignored: S1's robot knew none, and its tables count what was asked for; the web is our own",
    "links between sites are not followed (crawl.mode=parties), as in S1, where they are the next list's seeds (S1-21)",
    "redirects end at their code, as in S1-10; here each hop would be a URL of its own",
    "aliases are not looked for: S1 counts seeds by their names, and only S0 merges sites by address",
    "a page that says nofollow is not followed, which S1 knew nothing of: what it alone links to is deeper or lost",
    "no delays, because the web is our own, and no second try: S1 asked for each document once",
    "URLs of one site that differ in case alone are counted once: the lab's servers answer them alike (S3-18)",
    "the lab's ports (:8480) are not counted in Table 3: the paper's hosts had none",
)

_DEPTHS: Final = len(figures.REQUESTED)
_SAMPLE: Final = 300
_SAMPLE_TOLERANCE: Final = 0.04
_BODY_BYTES: Final = 64 * 2**20


@dataclass(frozen=True, slots=True)
class SurveyReport:
    """The crawl's cost, and every line beside the paper's."""

    folder: str
    sites: int
    pages: int
    crawl_s: float
    convert_s: float
    check: CheckReport

    @property
    def ok(self) -> bool:
        return self.check.ok


def survey(
    directory: Path, lab: Lab, engine_name: str, agents: int, tell: Callable[[str], None],
    *, max_depth: int | None = None,
) -> SurveyReport:  # fmt: skip
    """Serve the lab's web, collect it into `directory`, which must be new, convert it, compare it."""
    if CrawlFolder.is_crawl(directory):
        raise UsageError(f"{directory} holds a crawl; count it again with --again, or name a new folder with -C.")
    settings = SETTINGS if max_depth is None else {**SETTINGS, "crawl.max_depth": max_depth}
    with LabServer(replace(lab, profile="survey", faults=True, max_depth=None)) as server:
        assert server.lab is not None
        seeds = [(url, "the lab") for url in Web(server.lab).seeds()]
        tell(f"{len(seeds):,} sites are served on 127.0.0.0/8, port {server.port}; collecting")
        started = time.monotonic()
        layer = Layer("the survey", {**settings, "net.nameservers": [server.dns]})
        opened, seed_list = open_crawl(directory, [layer], seeds, agents)
        try:
            with open_engine(engine_name, agents) as engine:
                crawled = crawl(opened, seed_list, engine, agents)
        finally:
            opened.lock.release()
    if crawled.how != "done":
        raise NephilaError(f"The crawl was {crawled.how}; delete {directory} and run the same command again.")
    crawl_s = time.monotonic() - started
    tell(f"{crawled.pages:,} pages in {crawl_s:.0f} s; converting")
    with open_engine(engine_name, agents) as engine:
        converted = convert(Convert(), Links(), opened.folder, engine)
    tell(f"converted in {converted.seconds:.0f} s; counting")
    checked = check_crawl(opened.folder, max_depth)
    return SurveyReport(
        str(directory), len(seeds), crawled.pages, round(crawl_s, 1), round(converted.seconds, 1), checked
    )


def check_crawl(folder: CrawlFolder, max_depth: int | None = None) -> CheckReport:
    """Tables 1-6 of a crawl beside the paper's, with the errors that so many sites have."""
    opened = OpenedCrawl(folder.path)
    counts = tally_of(folder)
    rows = compare(counts, _DEPTHS - 1 if max_depth is None else min(max_depth, _DEPTHS - 1))
    return CheckReport(len(counts.labels), int(counts.requested.sum()), (*rows, *_bodies(opened)))


def _bodies(opened: OpenedCrawl) -> list[CheckRow]:
    """Bodies read from the archive again: as long as the table says, as compressible and invisible as the paper's."""
    sample = opened.sql(
        f"""SELECT site_id, archive_file, archive_offset, size, visible_bytes FROM pages
            WHERE state = 'OK' AND duplicate_of IS NULL AND visible_bytes IS NOT NULL
            ORDER BY hash(page_id) LIMIT {_SAMPLE}"""  # noqa: S608
    ).to_pylist()
    archive = opened.folder.archive
    written = packed = seen = right = 0
    for row in sample:
        slot = int(row["archive_file"].removeprefix("nephila-agent-").partition("-")[0])
        response = read_with_body(archive, archive / slot_name(slot) / row["archive_file"], row["archive_offset"])
        body = decode(response.body, response.codings, _BODY_BYTES).payload
        right += len(body) == row["size"]
        written += len(body)
        packed += len(zlib.compress(body, 6))
        seen += row["visible_bytes"]
    name = f"{len(sample)} pages read from the archive"
    whole = max(written, 1)
    return [
        CheckRow(name, "pages as long as the table says", len(sample), right, 0.0, right == len(sample)),
        _near(name, "compressed to", figures.COMPRESSED_SHARE, packed / whole),
        _near(name, "invisible", figures.INVISIBLE_SHARE, 1 - seen / whole),
    ]


def _near(table: str, row: str, paper: float, ours: float) -> CheckRow:
    return CheckRow(table, row, paper, ours, _SAMPLE_TOLERANCE, abs(ours - paper) <= _SAMPLE_TOLERANCE)
