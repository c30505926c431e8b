"""`DIR/control/`: what people ask of a crawl while it runs. `serve` writes it, `crawl` reads it.

    control/paused     exists: nothing new is requested
    control/blocked    one site per line (scheme + host + port): it is asked for nothing

Each file is replaced whole, so that a reader sees the old content or the new one. A hand may write them too; a line
that is no site is passed over, because a crawl must not end over a slip of the pen.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from nephila.store.durable import make_directory, remove_file, replace_file
from nephila.store.folder import CrawlFolder

PAUSED: Final = "paused"
BLOCKED: Final = "blocked"
_MAX_BYTES: Final = 2**24


@dataclass(frozen=True, slots=True)
class Control:
    """What is asked for now."""

    paused: bool = False
    blocked: frozenset[str] = frozenset()


NOTHING_ASKED: Final = Control()


def read_control(folder: CrawlFolder) -> Control:
    """What the folder asks for at this moment; nothing where there is nothing."""
    paused = (folder.control / PAUSED).exists()
    try:
        with (folder.control / BLOCKED).open("rb") as file:
            text = file.read(_MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return Control(paused)
    lines = (line.strip() for line in text.splitlines())
    return Control(paused, frozenset(line.rstrip("/") for line in lines if line.startswith(("http://", "https://"))))


def write_paused(folder: CrawlFolder, *, on: bool) -> None:
    """Ask a crawl to rest, or to go on."""
    if on:
        make_directory(folder.control)
        replace_file(folder.control / PAUSED, b"Remove this file, or use the web pages, and the crawl goes on.\n")
    else:
        with suppress(FileNotFoundError):
            if (folder.control / PAUSED).exists():
                remove_file(folder.control / PAUSED)


def write_blocked(folder: CrawlFolder, sites: Iterable[str]) -> None:
    """Ask a crawl to leave these sites alone, and only these."""
    make_directory(folder.control)
    replace_file(folder.control / BLOCKED, "".join(f"{site}\n" for site in sorted(sites)).encode())
