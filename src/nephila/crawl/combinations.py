"""Facets and filters: the same words in ever other orders, the same switches in ever other positions (U1).

A shop with eight filters has a million URLs for a hundred goods. None of them has a number or an id, and all are near
the seed; what gives them away is that URLs consist of the same parts as others, in another order, or that four and more
parameters vary at once. Whether they bring anything new is for `traps` to see.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Final

MANY_PARAMETERS: Final = 4
"""A list has a category, an order and a page."""

_ORDERS: Final = 128
"""Places of 16 bytes for orders that were seen; a newer one with the same place takes it."""

_MOST_NAMES: Final = 64
_64_BITS: Final = (1 << 63) - 1


@dataclass(slots=True)
class Combinations:
    """What was seen of the URLs of one pattern or branch: two kilobytes, and only where there is something to order."""

    _orders: array[int] | None = None  # pairs: parts, whatever their order, and the order that was seen
    _values: dict[str, str] = field(default_factory=dict)  # of each parameter, the value seen first
    _varying: set[str] = field(default_factory=set)

    def seen(self, path: str) -> bool:
        """Whether a URL combines anew what others are made of; it is known from now on."""
        way, _, query = path.partition("?")
        words = [segment for segment in way.split("/") if segment and not segment.isdecimal()]
        parameters = [part for part in query.split("&") if part]
        is_permuted = max(len(words) - 1, len(parameters)) > 1 and self._is_permuted(words, parameters)
        return self._varies(parameters) or is_permuted

    def _is_permuted(self, words: list[str], parameters: list[str]) -> bool:
        if self._orders is None:
            self._orders = array("q", bytes(16 * _ORDERS))
        parts = hash((tuple(sorted(words)), tuple(sorted(parameters)))) & _64_BITS
        order = hash((tuple(words), tuple(parameters))) & _64_BITS
        place = parts % _ORDERS * 2
        is_known = self._orders[place] == parts
        is_other = is_known and self._orders[place + 1] != order
        if not is_known:
            self._orders[place], self._orders[place + 1] = parts, order
        return is_other

    def _varies(self, parameters: list[str]) -> bool:
        is_first = not self._values
        given = dict(part.partition("=")[::2] for part in parameters)
        for name, value in given.items():
            if name not in self._values and len(self._values) < _MOST_NAMES:
                self._values[name] = value
                if not is_first:
                    self._varying.add(name)  # it was absent before
            elif self._values.get(name, value) != value:
                self._varying.add(name)
        self._varying.update(name for name in self._values if name not in given)
        return len(self._varying) >= MANY_PARAMETERS
