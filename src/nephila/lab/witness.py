"""What the lab's server saw: requests and DNS queries as columns, and how polite they were.

In come the log files that the processes wrote (`request_log`); out go columns of equal length, sorted by arrival.
Concurrency cannot be counted while serving, since requests to one address may reach different processes, so it is
computed here from the times (S1-18; "at most one request at a time to a site and to an address").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pa_csv

from nephila.lab.request_log import QUERY_COLUMNS, REQUEST_COLUMNS

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Texts = npt.NDArray[np.object_]
Per = Literal["site", "address"]
Time = Literal["real", "simulated"]

_REPEATED: Final = frozenset({"address", "host", "method", "manner", "transport", "name", "kind", "code"})
_TYPES: Final = {
    **dict.fromkeys(("started_ns", "ended_ns", "asked_ns", "port", "status", "connection"), pa.int64()),
    **dict.fromkeys(("started_at", "ended_at", "asked_at", "simulated_at", "simulated_end_at"), pa.float64()),
}


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server saw it; status 0 means that none was ever sent."""

    started_ns: int
    ended_ns: int
    started_at: float
    ended_at: float
    simulated_at: float
    simulated_end_at: float
    address: str
    host: str
    port: int
    method: str
    target: str
    status: int
    manner: str
    connection: int


@dataclass(frozen=True, slots=True)
class Requests:
    """Many requests, one array per column."""

    started_ns: Ints
    ended_ns: Ints
    started_at: Floats
    ended_at: Floats
    simulated_at: Floats
    simulated_end_at: Floats
    address: Texts
    host: Texts
    port: Ints
    method: Texts
    target: Texts
    status: Ints
    manner: Texts
    connection: Ints

    def __len__(self) -> int:
        return len(self.started_ns)

    def rows(self) -> Iterator[Request]:
        columns = [getattr(self, column.name).tolist() for column in fields(self)]
        return (Request(*row) for row in zip(*columns, strict=True))

    def where(self, chosen: npt.NDArray[np.bool_]) -> Requests:
        """The requests that `chosen` marks."""
        return Requests(*(getattr(self, column.name)[chosen] for column in fields(self)))

    @classmethod
    def of(cls, rows: list[Request]) -> Self:
        """Columns from rows."""
        return cls(*(_column(c.name, [getattr(row, c.name) for row in rows]) for c in fields(cls)))


@dataclass(frozen=True, slots=True)
class Queries:
    """DNS queries, one array per column; `kind` is A, AAAA …, `code` NOERROR, NXDOMAIN …"""

    asked_ns: Ints
    asked_at: Floats
    simulated_at: Floats
    transport: Texts
    name: Texts
    kind: Texts
    code: Texts

    def __len__(self) -> int:
        return len(self.asked_ns)


def read(folder: Path) -> Requests:
    """Everything the server processes have written so far, sorted by arrival."""
    columns = _read_columns(sorted(folder.glob("requests-*.tsv")), REQUEST_COLUMNS)
    order = np.argsort(columns["started_ns"], kind="stable")
    return Requests(**{name: values[order] for name, values in columns.items()})


def read_queries(folder: Path) -> Queries:
    """Every DNS query so far, in order."""
    return Queries(**_read_columns(sorted(folder.glob("queries.tsv")), QUERY_COLUMNS))


def _read_columns(paths: list[Path], names: tuple[str, ...]) -> dict[str, npt.NDArray[Any]]:
    tables = []
    for path in paths:
        whole = path.read_bytes()
        whole = whole[: whole.rfind(b"\n") + 1]  # a killed process may leave half a line
        if not whole:
            continue
        texts = {name: _text_type(name) for name in names if name not in _TYPES}
        tables.append(
            pa_csv.read_csv(
                pa.BufferReader(whole),
                parse_options=pa_csv.ParseOptions(delimiter="\t", quote_char=False),
                convert_options=pa_csv.ConvertOptions(
                    column_types={**_TYPES, **texts},
                    strings_can_be_null=False,
                    null_values=[],
                ),
            )
        )
    if not tables:
        return {name: _column(name, []) for name in names}
    table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    return {name: _values(table.column(name)) for name in names}


def _text_type(name: str) -> Any:
    # A text that many rows share is kept once; targets are nearly all different.
    return pa.dictionary(pa.int32(), pa.string()) if name in _REPEATED else pa.string()


def _values(column: Any) -> npt.NDArray[Any]:
    if not pa.types.is_dictionary(column.type):
        return np.asarray(column.to_numpy())
    joined = column.combine_chunks()
    if isinstance(joined, pa.ChunkedArray):
        joined = joined.chunk(0) if joined.num_chunks else pa.array([], column.type)
    words = np.array(joined.dictionary.to_pylist(), dtype=object)  # each text once, however many rows show it
    return words[joined.indices.to_numpy()] if len(words) else np.empty(0, dtype=object)


def _column(name: str, values: list[Any]) -> npt.NDArray[Any]:
    kind = _TYPES.get(name)
    if kind is None:
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column
    return np.array(values, dtype=np.int64 if kind == pa.int64() else np.float64)


@dataclass(frozen=True, slots=True)
class Waits:
    """How long a site or address was left alone before each of its requests but the first.

    `request` and `previous` are indices into the requests; `previous` is the one whose answer ended last before (or
    is still under way: then `gap_s` is negative).
    """

    key: Texts
    request: Ints
    previous: Ints
    gap_s: Floats


def overlaps(requests: Requests, per: Per = "address") -> dict[str, int]:
    """The largest number of requests under way at once, per site or per address."""
    if not len(requests):
        return {}
    names, group = _groups(requests, per)
    count = len(requests)
    when = np.concatenate([requests.started_ns, requests.ended_ns])
    change = np.concatenate([np.ones(count, np.int64), -np.ones(count, np.int64)])
    groups = np.concatenate([group, group])
    # At the same nanosecond an end comes before a start, but a request of no duration starts before it ends.
    instant = np.concatenate([np.ones(count, np.int64), np.where(requests.ended_ns > requests.started_ns, 0, 2)])
    order = np.lexsort((instant, when, groups))
    under_way = np.cumsum(change[order])  # every group sums to nothing, so the next one starts from zero
    first = np.searchsorted(groups[order], np.arange(len(names)))
    most = np.maximum.reduceat(under_way, first)
    return dict(zip(names.tolist(), most.tolist(), strict=True))


def waits(requests: Requests, per: Per = "address", time: Time = "real") -> Waits:
    """The gap before each request since the last end of an answer of the same site or address (S1-18)."""
    names, group = _groups(requests, per)
    start: npt.NDArray[Any] = requests.started_ns if time == "real" else requests.simulated_at
    end: npt.NDArray[Any] = requests.ended_ns if time == "real" else requests.simulated_end_at
    unit_s = 1e-9 if time == "real" else 1.0
    count = len(requests)
    order = np.lexsort((start, group))
    group = group[order]
    # The latest end so far within the group: running maxima of ranks, lifted by the group so that none leaks over.
    by_end = np.argsort(end, kind="stable")
    rank = np.empty(count, np.int64)
    rank[by_end] = np.arange(count)
    latest = np.maximum.accumulate(group * count + rank[order]) - group * count if count else rank
    follows = np.flatnonzero(group[1:] == group[:-1]) + 1
    request, previous = order[follows], by_end[latest[follows - 1]]
    return Waits(names[group[follows]], request, previous, (start[request] - end[previous]) * unit_s)


def gaps(requests: Requests, per: Per = "address", time: Time = "real") -> dict[str, float]:
    """The smallest gap in seconds per site or address asked more than once; negative where requests overlapped."""
    found = waits(requests, per, time)
    smallest: dict[str, float] = {}
    if len(found.key):
        first = np.flatnonzero(np.concatenate([[True], found.key[1:] != found.key[:-1]]))
        values = np.minimum.reduceat(found.gap_s, first)
        smallest = dict(zip(found.key[first].tolist(), values.tolist(), strict=True))
    return smallest


def _groups(requests: Requests, per: Per) -> tuple[Texts, Ints]:
    """The distinct sites (host:port) or addresses, and for each request the index of its own."""
    if per == "address":
        keys = requests.address
    else:
        keys = requests.host + ":" + requests.port.astype(str).astype(object) if len(requests) else requests.host
    encoded = pa.array(keys, pa.string()).dictionary_encode()
    names = np.array(encoded.dictionary.to_pylist(), dtype=object)
    return names, encoded.indices.to_numpy().astype(np.int64)
