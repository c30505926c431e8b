"""What coordinator and agents say to each other: msgpack frames of a closed list of messages.

What must not be lost travels in numbered parcels, both ways, written in the sender's own transaction before it is
sent and acknowledged after the receiver's: `Orders` from the coordinator to a slot, `Findings` from a slot to the
coordinator. A parcel that comes twice is applied once. Everything else may be lost with the process that sent it.
"""

from __future__ import annotations

from typing import Final

import msgspec


class Seed(msgspec.Struct, frozen=True, array_like=True):
    """A URL to start from in a site: given by the user, found on another site, or reached by a redirect."""

    path: str
    referrer: str = ""
    hops: int = 0
    kind: str = ""
    strayed: int = 0


class NewSite(msgspec.Struct, frozen=True, array_like=True):
    """A site that a slot is to collect from now on."""

    number: int
    url: str
    address: str
    given: bool  # named by the user; decides which of two aliases is the canonical one
    seeds: tuple[Seed, ...]


class FurtherSeed(msgspec.Struct, frozen=True, array_like=True):
    """One more seed of a site that the slot has already."""

    number: int
    seed: Seed


class AskAgain(msgspec.Struct, frozen=True, array_like=True):
    """Pages of a site, by the hashes of their paths, that are to be visited again."""

    number: int
    hashes: tuple[int, ...]


class Credit(msgspec.Struct, frozen=True, array_like=True):
    """Pages that a slot may request out of a purse: `pages` for the whole crawl, or `domain:NAME`.

    One that is returned says which asking it answers; 0 is the account that a slot gives unasked when it comes up.
    """

    purse: str
    pages: int
    asking: int = 0


class Orders(msgspec.Struct, frozen=True, tag="orders"):
    slot: int
    sequence: int
    sites: tuple[NewSite, ...] = ()
    seeds: tuple[FurtherSeed, ...] = ()
    credits: tuple[Credit, ...] = ()
    let_in: bool = False  # a limit was changed: what limits had cut off waits again
    again: tuple[AskAgain, ...] = ()


class OutLink(msgspec.Struct, frozen=True, array_like=True):
    """A URL of another site, found by an agent."""

    url: str
    referrer: str
    kind: str
    hops: int = 0
    strayed: int = 0


class SiteEnded(msgspec.Struct, frozen=True, array_like=True):
    """A site has nothing left to request; true as of the coordinator's parcel `applied`."""

    number: int
    state: str
    applied: int
    alias_of: int = 0


class Findings(msgspec.Struct, frozen=True, tag="findings"):
    slot: int
    sequence: int
    links: tuple[OutLink, ...] = ()
    ended: tuple[SiteEnded, ...] = ()
    returned: tuple[Credit, ...] = ()


class FindingsApplied(msgspec.Struct, frozen=True, tag="findings_applied"):
    slot: int
    sequence: int


class OrdersApplied(msgspec.Struct, frozen=True, tag="orders_applied"):
    slot: int
    sequence: int


class Hello(msgspec.Struct, frozen=True, tag="hello"):
    """A slot is open: how far it has applied the coordinator's parcels, and its own last one."""

    slot: int
    applied: int
    sent: int = 0


class Starved(msgspec.Struct, frozen=True, tag="starved"):
    """A slot has URLs to request and no credit left in a purse."""

    slot: int
    purse: str


class GiveBack(msgspec.Struct, frozen=True, tag="give_back"):
    """Another slot starves: return what is unused of this purse."""

    slot: int
    purse: str
    asking: int


class Exhausted(msgspec.Struct, frozen=True, tag="exhausted"):
    """A purse is empty for good in this run."""

    purse: str


class Borrow(msgspec.Struct, frozen=True, tag="borrow"):
    """An agent must ask an address once that may be another's; `number` is the agent's own."""

    number: int
    address: str


class Lend(msgspec.Struct, frozen=True, tag="lend"):
    """Keep an address of yours free for one request of another agent."""

    borrower: int
    number: int
    address: str


class Lent(msgspec.Struct, frozen=True, tag="lent"):
    """The answer to both: whether the borrower may ask now."""

    borrower: int
    number: int
    address: str
    granted: bool


class GaveBack(msgspec.Struct, frozen=True, tag="gave_back"):
    """The borrowed address has answered, after so long and with this code."""

    number: int
    address: str
    l_time_s: float = 0.0
    status: int = 0


class SlowSite(msgspec.Struct, frozen=True, array_like=True):
    url: str
    last_ms: int
    waiting: int


class Progress(msgspec.Struct, frozen=True, tag="progress"):
    """Counts of one agent since it started; the coordinator adds the agents up."""

    agent: int
    requests: int
    pages: int
    received_bytes: int
    active_sites: int
    pending_sites: int
    sleeping_sites: int
    open_connections: int
    waiting_urls: int
    outcomes: dict[str, int]
    slowest: tuple[SlowSite, ...] = ()
    loop_lag_ms: float = 0.0
    loop_work_ms: float = 0.0
    memory_bytes: int = 0
    memory_growth_bytes: int = 0
    out_of_room: bool = False
    suspensions: int = 0  # sites that gave their place to another before they were complete
    surprises: int = 0  # sites that failed, or slowed down, though the plan had counted on them


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The agent cannot go on; the sentence and the exit code of its error."""

    sentence: str
    exit_code: int


class Pause(msgspec.Struct, frozen=True, tag="pause"):
    on: bool


class Block(msgspec.Struct, frozen=True, tag="block"):
    """All sites that are to be left alone from now on, by their URLs."""

    sites: tuple[str, ...]


class Serve(msgspec.Struct, frozen=True, tag="serve"):
    """The order in which a slot's sites take places from now on (`hourly`); one entry per site in each column."""

    slot: int
    hour: int
    ranks: tuple[int, ...]  # among all sites of the agent
    sites: tuple[int, ...]
    quotas_s: tuple[float, ...]
    stays: tuple[bool, ...]
    expected_s: tuple[float, ...]


class Stop(msgspec.Struct, frozen=True, tag="stop"):
    """Finish what is on the wire, commit, and end."""


class Stopped(msgspec.Struct, frozen=True, tag="stopped"):
    """All that was finished is committed; the last word of an agent."""

    agent: int


ToAgent = Orders | FindingsApplied | GiveBack | Exhausted | Lend | Lent | GaveBack | Pause | Block | Serve | Stop
ToCoordinator = Findings | OrdersApplied | Hello | Starved | Borrow | Lent | GaveBack | Progress | Failed | Stopped

_ENCODER: Final = msgspec.msgpack.Encoder()
_TO_AGENT: Final = msgspec.msgpack.Decoder(ToAgent)
_TO_COORDINATOR: Final = msgspec.msgpack.Decoder(ToCoordinator)


def encode(message: ToAgent | ToCoordinator) -> bytes:
    return _ENCODER.encode(message)


def decode_for_agent(frame: bytes) -> ToAgent:
    message: ToAgent = _TO_AGENT.decode(frame)
    return message


def decode_for_coordinator(frame: bytes) -> ToCoordinator:
    message: ToCoordinator = _TO_COORDINATOR.decode(frame)
    return message
