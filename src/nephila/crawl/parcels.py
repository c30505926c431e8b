"""What of a group the coordinator must know, in numbered parcels that fit into a frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from nephila.crawl.group import Group
from nephila.crawl.messages import Findings

PARCEL_LINKS: Final = 5_000
"""Links in one parcel; with URLs of 2 KB each and their referrers that is a third of a frame."""


@dataclass(frozen=True, slots=True)
class Parcel:
    sequence: int
    payload: bytes


def parcels_of(slot: int, group: Group, sequence: int) -> list[Parcel]:
    """The parcels of a group, numbered from `sequence` on; the ends of sites come after their links."""
    links = [group.links[start : start + PARCEL_LINKS] for start in range(0, len(group.links), PARCEL_LINKS)]
    if not links and (group.ended or group.returned):
        links = [[]]
    parcels = []
    for number, some in enumerate(links):
        is_last = number == len(links) - 1
        ended, returned = (tuple(group.ended), tuple(group.returned)) if is_last else ((), ())
        findings = Findings(slot, sequence + number, tuple(some), ended, returned)
        parcels.append(Parcel(findings.sequence, msgspec.msgpack.encode(findings)))
    return parcels
