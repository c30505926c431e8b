"""`DIR/logs/`: one file per run of a command that changes the folder, readable, bounded, and harmless to look at.

    logs/20261116T084300Z-crawl-4711.log
    2026-11-16T08:43:00.123Z INFO    crawl: run 1 begins: 3 seeds given, 2 agents

One event is one line, whatever a URL or a server's word in it contains: line ends and characters that act on a
terminal are written out. A file is begun anew at `MOST_BYTES` with one before it kept, and the newest `MOST_RUNS` runs
stay. A folder that is not made yet gets its log when it is.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

from nephila.errors import NephilaError
from nephila.inert import inert
from nephila.store.folder import CrawlFolder

LEVELS: Final = ("debug", "info", "warning", "error")
MOST_BYTES: Final = 8 * 2**20
MOST_RUNS: Final = 50
_HELD_BACK: Final = 1_000
_LINE_ENDS: Final = {"\r": "\\r", "\n": "\\n", "\t": "\\t"}
_NAME: Final = re.compile(r"\d{8}T\d{6}Z-[a-z]+-\d+\.log(?:\.\d+)?")


class OneLine(logging.Formatter):
    """An event as one line; a traceback follows as lines of its own, each marked."""

    def format(self, record: logging.LogRecord) -> str:
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        name = record.name.removeprefix("nephila.")
        line = f"{at}.{int(record.msecs):03}Z {record.levelname:<7} {name}: {_harmless(record.getMessage())}"
        if record.exc_info:
            trace = self.formatException(record.exc_info).splitlines()
            line += "".join(f"\n    | {_harmless(each)}" for each in trace)
        return line


def _harmless(text: str) -> str:
    for end, written in _LINE_ENDS.items():
        text = text.replace(end, written)
    return inert(text)


class RunLog(logging.Handler):
    """Writes to the folder's log as soon as there is a folder; in the process that opened it alone."""

    def __init__(self, directory: Path, command: str, level: str) -> None:
        super().__init__(level.upper())
        self._folder = CrawlFolder(directory)
        self._name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{command}-{os.getpid()}.log"
        self._owner = os.getpid()
        self._file: RotatingFileHandler | None = None
        self._held: list[logging.LogRecord] = []
        self.setFormatter(OneLine())

    def emit(self, record: logging.LogRecord) -> None:
        if os.getpid() != self._owner:  # a forked worker: two writers would tear the file at its rotation
            return
        if self._file is None and not self._open():
            if len(self._held) < _HELD_BACK:
                self._held.append(record)
            return
        assert self._file is not None
        self._file.emit(record)

    def _open(self) -> bool:
        try:
            CrawlFolder.open(self._folder.path)
        except NephilaError:  # none yet, or one of a newer Nephila, in which nothing may be touched
            return False
        try:
            self._folder.logs.mkdir(exist_ok=True)
            prune(self._folder, MOST_RUNS - 1)
            self._file = RotatingFileHandler(
                self._folder.logs / self._name, maxBytes=MOST_BYTES, backupCount=1, encoding="utf-8",
                errors="backslashreplace",
            )  # fmt: skip
        except OSError:
            return False  # a folder that cannot be written says so by itself
        self._file.setFormatter(self.formatter)
        for record in self._held:
            self._file.emit(record)
        self._held.clear()
        return True

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """A log that cannot be written stops nothing."""

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        super().close()


def prune(folder: CrawlFolder, most: int) -> None:
    """Only the newest runs stay."""
    found = sorted(path for path in folder.logs.iterdir() if _NAME.fullmatch(path.name))
    runs = sorted({path.name.partition(".log")[0] for path in found})
    for run in runs[: max(0, len(runs) - most)]:
        for path in found:
            if path.name.partition(".log")[0] == run:
                with suppress(OSError):
                    path.unlink()


@contextmanager
def run_log(directory: Path, command: str, level: str) -> Iterator[logging.Logger]:
    """The log of one run, from its first word to its last."""
    log = logging.getLogger("nephila")
    handler = RunLog(directory, command, level)
    before, log.propagate = (log.level, log.propagate), False
    log.setLevel(level.upper())
    log.addHandler(handler)
    try:
        yield log
    finally:
        log.removeHandler(handler)
        handler.close()
        log.level, log.propagate = before
