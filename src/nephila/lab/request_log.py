"""The witness's pen: one append-only file per server process, one line per request, buffered for at most 0.2 s.

Written by the server alone and independent of any crawler. `witness` reads it. Times are taken when the first byte
of a request is read and just before the last bytes of its answer are handed to the kernel; both are CLOCK_MONOTONIC,
which all processes of a machine share, so that rows of different processes can be compared.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

FLUSH_EVERY_S: Final = 0.2
_FULL: Final = 2000

REQUEST_COLUMNS: Final = (
    "started_ns",
    "ended_ns",
    "started_at",
    "ended_at",
    "simulated_at",
    "simulated_end_at",
    "address",
    "host",
    "port",
    "method",
    "target",
    "status",
    "manner",
    "connection",
)
QUERY_COLUMNS: Final = ("asked_ns", "asked_at", "simulated_at", "transport", "name", "kind", "code")

_ESCAPES: Final = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0"})


def requests_path(folder: Path, process: int) -> Path:
    return folder / f"requests-{process:02d}.tsv"


def queries_path(folder: Path) -> Path:
    return folder / "queries.tsv"


def one_field(text: str) -> str:
    """Text that a client chose, made to fit into one field of one line."""
    return text if text.isprintable() and "\\" not in text else text.translate(_ESCAPES)


class LineLog:
    """Lines of tab-separated fields, kept until `flush`; nothing is written twice, nothing in halves."""

    def __init__(self, path: Path, columns: tuple[str, ...]) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._lines: list[str] = []
        if os.fstat(self._file).st_size == 0:
            self.add("\t".join(columns) + "\n")
        self.flush()

    def add(self, line: str) -> None:
        self._lines.append(line)
        if len(self._lines) >= _FULL:
            self.flush()

    def flush(self) -> None:
        if self._lines:
            rest = memoryview("".join(self._lines).encode())
            self._lines.clear()
            while rest:
                rest = rest[os.write(self._file, rest) :]

    def close(self) -> None:
        self.flush()
        os.close(self._file)
