"""What is costly to count is counted once and remembered: the longer the counting took, the longer it holds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

COST_FACTOR = 20.0
"""What takes a second to count holds for twenty, so that looking costs a crawl at most a twentieth of a core."""


class Remembered(Generic[T]):
    """A function of nothing whose answer holds for a while; one thread counts, the others wait for it."""

    def __init__(self, count: Callable[[], T], at_least_s: float, now: Callable[[], float] = time.monotonic) -> None:
        self._count = count
        self._at_least_s = at_least_s
        self._now = now
        self._lock = threading.Lock()
        self._until = float("-inf")
        self._value: list[T] = []

    def __call__(self) -> T:
        with self._lock:
            begun = self._now()
            if not self._value or begun >= self._until:
                self._value = [self._count()]
                ended = self._now()
                self._until = ended + max(self._at_least_s, COST_FACTOR * (ended - begun))
            return self._value[0]
