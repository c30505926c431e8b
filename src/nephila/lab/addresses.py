"""Loopback addresses of the lab: each site its own 127.x.y.z; three sites of every ten share one (I0-10, 4.9)."""

from __future__ import annotations

from typing import Final

# Of ten sites in a row, those at 3, 4 and 7 are virtual hosts on one address.
_SLOTS: Final = (0, 1, 2, 3, 3, 4, 5, 3, 6, 7)
_PLACES: Final = ((0,), (1,), (2,), (3, 4, 7), (5,), (6,), (8,), (9,))
_PER_TEN: Final = len(_PLACES)


def address_of(site: int) -> str:
    """The address of a site; x from 1 on, so that 127.0.0.x stays free for the lab itself."""
    tens, place = divmod(site, 10)
    rest, last = divmod(tens * _PER_TEN + _SLOTS[place], 254)
    second, third = divmod(rest, 256)
    return f"127.{second + 1}.{third}.{last + 1}"


def sites_at(address: str, sites: int) -> tuple[int, ...]:
    """The sites on an address, none where nothing was planted."""
    parts = address.split(".")
    if len(parts) != 4 or parts[0] != "127" or not all(part.isdecimal() and len(part) < 4 for part in parts):
        return ()
    second, third, last = int(parts[1]) - 1, int(parts[2]), int(parts[3]) - 1
    if second < 0 or third > 255 or not 0 <= last < 254:
        return ()
    tens, slot = divmod((second * 256 + third) * 254 + last, _PER_TEN)
    return tuple(tens * 10 + place for place in _PLACES[slot] if tens * 10 + place < sites)


def shares_address(site: int) -> bool:
    return len(_PLACES[_SLOTS[site % 10]]) > 1
