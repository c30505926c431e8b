"""The rows that go into the archive and the places they were put."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, Protocol

Truncated = Literal["", "length", "time", "disconnect"]

_PROFILES: Final = "http://netpreserve.org/warc/1.1/revisit/"


class RevisitProfile(StrEnum):
    """Why there is no body: it came and is known already, or the server said that nothing changed."""

    IDENTICAL_PAYLOAD = _PROFILES + "identical-payload-digest"
    NOT_MODIFIED = _PROFILES + "server-not-modified"


@dataclass(frozen=True, slots=True)
class Revisit:
    """The earlier response that holds the body; `file` and `offset` lead there without an index."""

    profile: RevisitProfile
    url: str
    fetched_at: float
    file: str = ""
    offset: int = -1


class Outlink(Protocol):
    """A link of a page; any row with these three will do."""

    @property
    def url(self) -> str: ...

    @property
    def kind(self) -> str:
        """a, f or h (S1-46)."""

    @property
    def anchor(self) -> str: ...


@dataclass(frozen=True, slots=True)
class StoredLink:
    """An outlink as it is read back."""

    url: str
    kind: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer.

    `header` is the response's header block as received, its empty line included. `body` is what followed, with the
    transfer coding undone and the content coding kept; None in a revisit. `payload_sha1` is the SHA-1 of that body
    where it is known already (a revisit for an identical payload must give it).
    """

    url: str
    fetched_at: float
    request: bytes
    header: bytes
    body: bytes | None
    address: str = ""
    payload_sha1: bytes | None = None
    revisit: Revisit | None = None
    truncated: Truncated = ""
    role: str = "page"
    fields: tuple[tuple[str, str], ...] = ()
    outlinks: Sequence[Outlink] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """Where the response or revisit record of an exchange lies: a file's name, and the bytes of its gzip member."""

    file: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """The end of the archive of a slot: everything before it is whole. File names sort in the order of writing."""

    file: str
    offset: int


@dataclass(frozen=True, slots=True)
class Software:
    """Who wrote the archive, for the warcinfo record at the head of each file."""

    software: str
    user_agent: str = ""
    contact: str = ""
    robots: str = "obey"
