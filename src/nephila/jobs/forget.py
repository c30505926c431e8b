"""`nephila forget`: pages and sites leave a crawl folder, from state, archive, tables, ranks, index and report.

First the rule is logged, so that from then on nothing lets the page in again. Then the rows leave the state and the
bytes leave the archive. Then every room that had made something of the page makes it anew: tables, ranks, index and
report, as far as the folder has them. What was set aside by a repair is deleted, because nobody can say what is in it.
Each step may be killed and is done again by the same command; a folder that is being crawled is refused.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nephila.config.sections import Config
from nephila.convert.run import run as convert
from nephila.crawl.forgetting import Taken, erase_in_slot, forget_in_slot
from nephila.crawl.forgetting_list import allow_again, forget_in_list
from nephila.crawl.forgotten import Forgotten, compile_rules, normal_rule
from nephila.crawl.import_run import forget_notes
from nephila.crawl.mending import reopen_sites
from nephila.crawl.replay import write_cdxj
from nephila.crawl.setup import strip_rules
from nephila.engine import Engine
from nephila.errors import UsageError
from nephila.rank.run import run as rank
from nephila.search.index import run as index
from nephila.stats.report.make import make_report
from nephila.store.durable import crash_point, replace_file
from nephila.store.folder import CrawlFolder
from nephila.store.forgotten import ForgottenLine, rules_in_force, stamp, write_line
from nephila.store.search_log import forget_shown
from nephila.urls import split

_SET_ASIDE: Final = re.compile(r"\.damaged-\d+|\.uncommitted$|\.warc\.gz\.aside$|\.db\.version-\d+$")
"""What repair, a start after a kill, or a migration has put beside its successor."""

Tell = Callable[[str], None]
"""Which step is next."""


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What left the folder; counts are zero where it had left before."""

    rules: tuple[str, ...]
    pages: int  # that had been requested
    known: int  # URLs that were only known
    visits: int
    archive_bytes: int
    moved: int  # records of other pages with the same content, written anew
    twins: tuple[str, ...]  # those pages: they stay
    made_anew: tuple[str, ...]  # tables, ranks, index, report
    deleted: tuple[str, ...]  # files that a repair had set aside
    seconds: float


def normal_rules(config: Config, rules: Sequence[str]) -> tuple[str, ...]:
    """The rules in their one spelling; a wrong one is refused before anything is touched."""
    strip = strip_rules(config)
    return tuple(dict.fromkeys(normal_rule(rule, strip) for rule in rules))


def forget(
    path: Path, config: Config, rules: Sequence[str], engine: Engine, tell: Tell = lambda step: None
) -> ForgetReport:
    """Take what the rules name out of a folder, and keep it out."""
    started, now = time.monotonic(), time.time()
    folder = CrawlFolder.open(path)
    wanted = compile_rules(rules)
    with folder.lock("forget"):
        for rule in rules:
            write_line(folder, ForgottenLine(stamp(now), "forget", rule))
        crash_point("forget.logged")
        taken, erased = Taken(), 0
        for one in (folder, *_batches(folder)):
            tell("state")
            gone, bytes_ = _take_out(one, config, wanted, ", ".join(rules), now, tell)
            taken, erased = taken + gone, erased + bytes_
        deleted = _delete_set_aside(folder)
        made = _make_anew(folder, config, wanted, engine, tell)
        for one in _batches(folder):
            made += tuple(f"{one.path.name}/{name}" for name in _make_anew(one, config, wanted, engine, tell))
        for rule in rules:
            write_line(
                folder,
                ForgottenLine(
                    stamp(time.time()), "forgot", rule, *((taken.pages, taken.known, taken.visits, erased)
                                                          if len(rules) == 1 else ())
                ),
            )  # fmt: skip
    return ForgetReport(
        tuple(rules), taken.pages, taken.known, taken.visits, erased, taken.moved, taken.twins, made, deleted,
        round(time.monotonic() - started, 3),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class AllowReport:
    rules: tuple[str, ...]
    pages: int  # that wait to be asked for again


def allow(path: Path, rules: Sequence[str]) -> AllowReport:
    """Lift rules: what they kept out may be found, asked for and imported again."""
    folder = CrawlFolder.open(path)
    with folder.lock("forget"):
        in_force = rules_in_force(folder)
        unknown = [rule for rule in rules if rule not in in_force]
        if unknown:
            known = ", ".join(in_force) or "none"
            raise UsageError(f"{unknown[0]} is no rule that is in force in {path}; those are: {known}.")
        pages = allow_again(folder, compile_rules(rules))
        reopen_sites(folder)
        forget_notes(folder)
        for rule in rules:  # last: killed before, the same command finds the rule still in force
            write_line(folder, ForgottenLine(stamp(time.time()), "allow_again", rule))
    return AllowReport(tuple(rules), pages)


def _take_out(
    folder: CrawlFolder, config: Config, wanted: Forgotten, reason: str, now: float, tell: Tell
) -> tuple[Taken, int]:
    taken, erased = Taken(known=forget_in_list(folder, wanted, reason)), 0
    for slot in folder.slots():
        if folder.agent_database(slot).exists():
            taken += forget_in_slot(folder, slot, config, wanted, reason, now)
            tell("archive")
            erased += erase_in_slot(folder, slot)
    forget_shown(folder, lambda url: _names(wanted, url))
    if folder.cdxj.exists():
        write_cdxj(folder)
    if folder.seeds_out.exists():
        lines = folder.seeds_out.read_text(errors="replace").splitlines(keepends=True)
        kept = [line for line in lines if not _names(wanted, line.strip())]
        replace_file(folder.seeds_out, "".join(kept).encode())
    return taken, erased


def _names(wanted: Forgotten, url: str) -> bool:
    return url.startswith(("http://", "https://")) and wanted.rule_for(*split(url)) is not None


def _batches(folder: CrawlFolder) -> list[CrawlFolder]:
    """A study's batches are crawl folders of their own."""
    if not folder.batches.is_dir():
        return []
    return [CrawlFolder(path) for path in sorted(folder.batches.iterdir()) if CrawlFolder.is_crawl(path)]


def _delete_set_aside(folder: CrawlFolder) -> tuple[str, ...]:
    found = [
        path for path in folder.path.rglob("*")
        if path.is_file() and _SET_ASIDE.search(path.name)
    ]  # fmt: skip
    for path in found:
        path.unlink()
    return tuple(str(path.relative_to(folder.path)) for path in found)


def _empty(directory: Path) -> None:
    """Everything in it goes; that it is there says, after a kill, that it is to be filled again."""
    for path in directory.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _make_anew(folder: CrawlFolder, config: Config, wanted: Forgotten, engine: Engine, tell: Tell) -> tuple[str, ...]:
    """Every room that the folder has something of; a room that was never run is not begun here."""
    made: list[str] = []
    has_tables = (folder.tables / "manifest.json").exists()
    shutil.rmtree(folder.state / "convert" / "extracts", ignore_errors=True)  # texts of a conversion that was killed
    shutil.rmtree(folder.state / "convert" / "scratch", ignore_errors=True)
    if has_tables:
        tell("tables")
        convert(config.convert, config.links, folder, engine)
        made.append("tables")
    if has_tables and (folder.rank / "ranks.parquet").exists():
        tell("ranks")
        rank(config.rank, folder, engine)
        made.append("ranks")
    if has_tables and folder.index.is_dir():
        tell("index")
        # What is struck out of an index stays in its files until they are merged: it is made anew as a whole.
        _empty(folder.index)
        crash_point("forget.index_gone")
        index(config.search, folder, engine)
        made.append("index")
    if has_tables and folder.report.is_dir():
        tell("report")
        _empty(folder.report)
        make_report(config.stats, folder, engine, time.time())
        made.append("report")
    return tuple(made)
