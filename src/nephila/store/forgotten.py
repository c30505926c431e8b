"""`DIR/control/forgotten.jsonl`: what was to be forgotten, when, by which rule, and what that removed.

One line of JSON per event, put behind the others and synced; nothing of a page's content stands in it. A rule is in
force from its `forget` until an `allow_again`: crawl, refresh, repair and import ask here before they let a URL in.
A line that a power cut has torn is no line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

import msgspec

from nephila.store.durable import AppendFile, make_directory
from nephila.store.folder import CrawlFolder

NAME: Final = "forgotten.jsonl"

Did = Literal["forget", "forgot", "allow_again"]


@dataclass(frozen=True, slots=True)
class ForgottenLine:
    """`forget` is said before anything is touched, `forgot` when it is done."""

    at: str
    did: Did
    rule: str
    pages: int | None = None  # that had been requested
    known: int | None = None  # that were only known
    visits: int | None = None
    archive_bytes: int | None = None


def read_log(folder: CrawlFolder) -> Iterator[ForgottenLine]:
    """Every line that can be read, the oldest first."""
    try:
        content = (folder.control / NAME).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return
    for line in content.splitlines():
        try:
            yield msgspec.json.decode(line, type=ForgottenLine)
        except msgspec.MsgspecError:
            continue


def rules_in_force(folder: CrawlFolder) -> tuple[str, ...]:
    """The rules that nothing may come back by."""
    rules: dict[str, None] = {}
    for line in read_log(folder):
        if line.did == "forget":
            rules[line.rule] = None
        elif line.did == "allow_again":
            rules.pop(line.rule, None)
    return tuple(rules)


def write_line(folder: CrawlFolder, line: ForgottenLine) -> None:
    """Durable when this returns."""
    make_directory(folder.control)
    file = AppendFile(folder.control / NAME)
    try:
        file.append(msgspec.json.encode(line) + b"\n")
        file.sync()
    finally:
        file.close()


def stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
