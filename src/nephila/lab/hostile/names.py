"""Hostile names: several addresses, private ones, changing ones, answers that are none (D7, D11, D12, H1-H5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from nephila.lab.hostile.places import CANARY_ADDRESS, CONTROL_ADDRESS, CONTROL_HOST, address_of

Kind = Literal["address", "nxdomain", "servfail", "slow", "refused", "malformed", "cname_loop"]


@dataclass(frozen=True, slots=True)
class OddName:
    """What the name server says to a hostile name; `ipv6` are its AAAA records."""

    kind: Kind
    addresses: tuple[str, ...] = ()
    delay_s: float = 0.0
    ttl_s: int = 60
    ipv6: tuple[str, ...] = ()


NOWHERE: Final = OddName("nxdomain")
SERVER_FAILURE: Final = OddName("servfail")
TEN_SECONDS: Final = 10.0
_HONEST_ANSWERS: Final = 3


def _canary(_: str, __: int) -> OddName:
    return OddName("address", (CANARY_ADDRESS,))


def _mixed(_: str, __: int) -> OddName:
    return OddName("address", (address_of("D11"), CANARY_ADDRESS))


def _changing(_: str, asked: int) -> OddName:
    """The site's own address at first (a question may be put again), the canary's ever after."""
    return OddName("address", (CANARY_ADDRESS if asked >= _HONEST_ANSWERS else address_of("D12"),), ttl_s=0)


def _broken(label: str, _: int) -> OddName:
    kinds: dict[str, Kind] = {"refused": "refused", "malformed": "malformed"}
    return OddName(kinds.get(label, "servfail"))


def _late(_: str, __: int) -> OddName:
    return OddName("slow", (address_of("H3"),), delay_s=TEN_SECONDS)


def _many(label: str, _: int) -> OddName:
    if label == "loop":
        return OddName("cname_loop")
    return OddName("address", tuple(f"127.{200 + n // 250}.8.{n % 250 + 1}" for n in range(1_000)))


def _both(_: str, __: int) -> OddName:
    return OddName("address", (address_of("H5"),), ipv6=("2001:db8::1",))


_ODD: Final = {
    "canary": _canary,
    "d11-mixed": _mixed,
    "d12-rebinding": _changing,
    "h1-nowhere": lambda _, __: NOWHERE,
    "h2-broken": _broken,
    "h3-late": _late,
    "h4-many": _many,
    "h5-both": _both,
}


class HostileNames:
    """The names of the table; keeps count of how often the changing ones were asked."""

    def __init__(self, labels: Mapping[str, tuple[str, tuple[str, ...]]]) -> None:
        self._labels = labels  # name of the site without ".test" -> its row, and the labels with addresses of their own
        self._asked: dict[str, int] = {}

    def resolve(self, name: str) -> OddName | None:
        """What is said to a name; None where it is none of ours."""
        if name == CONTROL_HOST:
            return OddName("address", (CONTROL_ADDRESS,))
        if not name.endswith(".test"):
            return None
        label, _, own = name.removesuffix(".test").rpartition(".")
        odd = _ODD.get(own)
        if odd is not None:
            asked = self._asked.get(name, 0)
            self._asked[name] = asked + 1
            return odd(label, asked)
        row, labels = self._labels.get(own, ("", ()))
        if not row:
            return None
        return OddName("address", (address_of(row, labels.index(label) + 1 if label in labels else 0),))
