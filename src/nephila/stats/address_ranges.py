"""Ranges of addresses by country, from files that the configuration names: "first,last" lines of IPv4, gzip too.

A seam: whoever has a better list for a country names its file; without one no site is placed by its address.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from ipaddress import AddressValueError, IPv4Address
from pathlib import Path
from typing import Any

from nephila.errors import UsageError


def create_ranges(duck: Any, named: Sequence[str]) -> None:
    """The table `address_ranges` (first, last, country), addresses as numbers."""
    duck.execute("CREATE TABLE address_ranges (first BIGINT, last BIGINT, country TEXT)")
    for name in named:
        country, _, file = name.partition("=")
        if not file or not Path(file).is_file():
            raise UsageError(f"stats.country_ranges: {name!r} names no file; write it as KR=/path/to/ranges.csv.gz.")
        ranges = list(read_ranges(Path(file)))
        values = [[first for first, _ in ranges], [last for _, last in ranges], country.upper()]
        duck.execute("INSERT INTO address_ranges SELECT unnest(?), unnest(?), ?", values)


def read_ranges(path: Path) -> Iterator[tuple[int, int]]:
    """First and last address of every line; lines that begin with # are passed over."""
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="ascii") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip() and not line.startswith("#"):
                    first, last = _addresses(line, path, number)
                    yield int(first), int(last)
    except (OSError, UnicodeDecodeError, EOFError) as problem:
        raise UsageError(f"{path} cannot be read as ranges of addresses ({problem}); name another file.") from None


def _addresses(line: str, path: Path, number: int) -> tuple[IPv4Address, IPv4Address]:
    first, _, last = line.strip().partition(",")
    try:
        return IPv4Address(first.strip()), IPv4Address(last.split(",")[0].strip())
    except AddressValueError:
        raise UsageError(f"{path}, line {number} is no range of IPv4 addresses; a line is first,last.") from None
