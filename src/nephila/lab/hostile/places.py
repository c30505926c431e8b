"""Where hostile sites live: addresses and names that follow from the row alone."""

from __future__ import annotations

from typing import Final

RANGE: Final = "127.192.0.0/12"
"""All hostile sites and the control site are in it; nothing else of the lab is. Allow it, and nothing more."""

CANARY_ADDRESS: Final = "127.66.6.6"
CANARY_HOST: Final = "canary.test"
CONTROL_HOST: Final = "control.test"
CONTROL_ADDRESS: Final = "127.200.9.1"
OUT_OF_SCOPE_HOST: Final = "out-of-scope.test"

_GROUPS: Final = "ABCDEFGH"


def address_of(row: str, place: int = 0) -> str:
    """The address of a row's site; `place` 1 to 7 for further ones of the same row."""
    return f"127.{200 + place}.{_GROUPS.index(row[0]) + 1}.{int(row[1:])}"


def spellings_of(address: str, port: int) -> tuple[str, ...]:
    """Thirty and more ways to write an IPv4 address into a URL (N4, D8-D10)."""
    a, b, c, d = map(int, address.split("."))
    number = a << 24 | b << 16 | c << 8 | d
    high, low = number >> 16, number & 0xFFFF
    mapped = f"{high:x}:{low:x}"
    hosts = (
        address, f"{address}.", str(number), hex(number), hex(number).upper(), f"0{number:o}", f"{a}.{b}.{low}",
        f"{a}.{number & 0xFFFFFF}", f"0x{a:x}.{b}.{c}.{d}", f"0{a:o}.{b}.{c}.{d}", f"0{a:o}.0{b:o}.0{c:o}.0{d:o}",
        f"0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}", f"00{a:o}.{b}.{c}.{d}", f"{a}%2e{b}%2e{c}%2e{d}", f"{a}。{b}。{c}。{d}",
        f"{a}．{b}．{c}．{d}", "".join(chr(0xFF10 + int(x)) if x.isdigit() else x for x in address),
        f"[::ffff:{address}]", f"[::ffff:{mapped}]", f"[0:0:0:0:0:ffff:{mapped}]", f"[::{mapped}]",
        f"[::ffff:0:{mapped}]", f"[2002:{mapped}::1]", f"[64:ff9b::{mapped}]", f"[64:ff9b:1::{mapped}]",
        f"[2001:0:0:0:0:0:{0xFFFF ^ high:x}:{0xFFFF ^ low:x}]", f"user:secret-canary@{address}",
        f"{address}:{port}@{address}",
        f"{CANARY_HOST}", f"{CANARY_HOST.upper()}.", f"x.{CANARY_HOST}",
    )  # fmt: skip
    return tuple(f"http://{host}:{port}/spelled-{number}" for number, host in enumerate(hosts))
