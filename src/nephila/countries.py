"""Which country an address is in: files of ranges go in, an ISO code per address comes out (S1-8).

Three kinds of files, told apart by what is in them, gzip too: MaxMind's databases (`.mmdb`), the delegated files of the
regional registries (`apnic|KR|ipv4|1.11.0.0|65536|…`), and lists of CIDR blocks or "first,last" ranges, for which the
country is named beside the file: `KR=ranges.csv.gz`. IPv4 and IPv6 alike. Where ranges lie in each other the smaller
one decides; of two databases the first that knows the address.
"""

from __future__ import annotations

import gzip
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Any, Final

from nephila.errors import ConfigError

NOWHERE: Final = ""
_NAMED: Final = re.compile(r"([A-Za-z]{2})=(.+)", re.DOTALL)
_REGISTRIES: Final = frozenset({"afrinic", "apnic", "arin", "lacnic", "ripencc", "iana"})
_HELD: Final = frozenset({"allocated", "assigned"})
_FORMS: Final = (
    'write "KR=FILE" for a list of ranges or CIDR blocks, or name a MaxMind .mmdb file or a registry\'s delegated file'
)

Range = tuple[int, int, str]
"""First and last address as numbers, and the country."""


@dataclass(slots=True)
class _Ranges:
    """Ranges of one family of addresses: after `settle` none overlaps another."""

    found: list[Range] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def settle(self) -> None:
        self.found = _flattened(self.found)
        self.starts = [first for first, _, _ in self.found]

    def country(self, number: int) -> str:
        place = bisect_right(self.starts, number) - 1
        if place < 0:
            return NOWHERE
        _, last, country = self.found[place]
        return country if number <= last else NOWHERE


class Countries:
    """Files that say which address is where; they are read when the first address is asked about."""

    def __init__(self, named: Sequence[str], key: str) -> None:
        """`key` is the setting that names them; a file that is not there is refused at once."""
        self._key = key
        self._named = [_split(each, key) for each in named]
        self._ranges = {4: _Ranges(), 6: _Ranges()}
        self._databases: list[Any] = []
        self._read = False

    def of(self, address: str) -> str:
        """The ISO code of an address' country in capitals; empty where no file knows it."""
        if not self._read:
            self._read_all()
        try:
            parsed = ip_address(address.partition("%")[0])
        except ValueError:
            return NOWHERE
        if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
            parsed = parsed.ipv4_mapped
        found = self._ranges[parsed.version].country(int(parsed))
        return found or next(filter(None, (_in_database(each, parsed) for each in self._databases)), NOWHERE)

    def _read_all(self) -> None:
        for country, path in self._named:
            if path.suffix == ".mmdb":
                self._databases.append(_open_database(path, self._key))
                continue
            for version, found in _read_list(country, path, self._key):
                self._ranges[version].found.append(found)
        for ranges in self._ranges.values():
            ranges.settle()
        self._read = True


def _split(named: str, key: str) -> tuple[str, Path]:
    match = _NAMED.fullmatch(named.strip())
    country, path = (match[1].upper(), Path(match[2])) if match else (NOWHERE, Path(named.strip()))
    if not path.is_file():
        raise ConfigError(f"{key}: there is no file {str(path)!r}; {_FORMS}.")
    return country, path


def _open_database(path: Path, key: str) -> Any:
    import maxminddb

    try:
        return maxminddb.open_database(path)
    except (maxminddb.InvalidDatabaseError, OSError, ValueError) as problem:
        raise ConfigError(
            f"{key}: {path} cannot be read as a MaxMind database ({problem}); name another file."
        ) from None


def _in_database(database: Any, address: IPv4Address | IPv6Address) -> str:
    """The country an address is in, else where it is registered; a database of networks alone knows neither."""
    try:
        row = database.get(address)
    except ValueError:  # an IPv6 address in a database of IPv4 alone
        return NOWHERE
    if not isinstance(row, dict):
        return NOWHERE
    for name in ("country", "registered_country"):
        found = row.get(name)
        if isinstance(found, dict) and isinstance(found.get("iso_code"), str):
            return str(found["iso_code"]).upper()
    return NOWHERE


def _read_list(country: str, path: Path, key: str) -> Iterator[tuple[int, Range]]:
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", errors="strict") as lines:
            for number, line in enumerate(lines, 1):
                words = line.partition("#")[0].strip()
                if not words:
                    continue
                found = _of_registry(words) if "|" in words else _of_list(words, country)
                if found is None:
                    raise ConfigError(f"{key}: {path}, line {number} is no range of addresses of a country; {_FORMS}.")
                yield from found
    except (OSError, UnicodeDecodeError, EOFError) as problem:
        raise ConfigError(f"{key}: {path} cannot be read as ranges of addresses ({problem}); {_FORMS}.") from None


def _of_registry(line: str) -> list[tuple[int, Range]] | None:
    """`registry|CC|type|start|value|date|status…`; the version line and the summary lines say nothing of a range."""
    words = line.split("|")
    if words[-1] == "summary" or (len(words) > 1 and words[1].lower() in _REGISTRIES):
        return []
    if len(words) < 7 or words[0].lower() not in _REGISTRIES:
        return None
    country, kind, start, value, status = words[1].upper(), words[2], words[3], words[4], words[6]
    if kind == "asn" or status not in _HELD or len(country) != 2:
        return []
    try:
        if kind == "ipv4":
            first = int(IPv4Address(start))
            return [(4, (first, first + int(value) - 1, country))]
        first = int(IPv6Address(start))
        return [(6, (first, first + (1 << (128 - int(value))) - 1, country))]
    except ValueError:
        return None


def _of_list(line: str, country: str) -> list[tuple[int, Range]] | None:
    """A CIDR block, or `first,last`; a third column may name the country where the file's name has none."""
    words = [word.strip() for word in line.split(",")]
    try:
        if "/" in words[0]:
            block = ip_network(words[0], strict=False)
            where = country or (words[1].upper() if len(words) > 1 else NOWHERE)
            return [(block.version, (int(block[0]), int(block[-1]), where))] if len(where) == 2 else None
        first = ip_address(words[0])
        last = ip_address(words[1]) if len(words) > 1 and words[1] else first
    except ValueError:
        return None
    where = country or (words[2].upper() if len(words) > 2 else NOWHERE)
    if len(where) != 2 or first.version != last.version or int(first) > int(last):
        return None
    return [(first.version, (int(first), int(last), where))]


def _flattened(ranges: list[Range]) -> list[Range]:
    """The same without overlaps: the smaller of two ranges that lie in each other decides.

    Wide ranges first, so that a stack of open ones holds the narrowest on top; each address is then its top's.
    """
    result: list[Range] = []
    open_: list[tuple[int, str]] = []  # last address and country, narrowest on top
    at = 0

    def close_until(first: int) -> None:
        nonlocal at
        while open_ and at < first:
            last, country = open_[-1]
            if last < at:
                open_.pop()
                continue
            end = min(last, first - 1)
            result.append((at, end, country))
            at = end + 1

    for first, last, country in sorted(ranges, key=lambda each: (each[0], -each[1])):
        close_until(first)
        at = max(at, first)
        while open_ and open_[-1][0] < first:
            open_.pop()
        open_.append((last, country))
        open_.sort(key=lambda each: -each[0])
    close_until(1 << 128)
    return [each for each in result if each[0] <= each[1]]
