"""A cap on bytes per second: how long to wait before reading on, as a function of what came and when.

One throttle per agent; the crawl's own cap is divided among the agents. It looks ahead by a burst: short answers come
whole, and whoever asks next waits until what came is paid for.
"""

from __future__ import annotations

from typing import Final

BURST_S: Final = 0.1


class Throttle:
    """Bytes are paid for at `rate_bytes_s`; times are real monotonic seconds."""

    __slots__ = ("_paid_until", "_rate_bytes_s")

    def __init__(self, rate_bytes_s: int) -> None:
        self._rate_bytes_s = max(1, rate_bytes_s)
        self._paid_until = 0.0

    def took(self, count_bytes: int, now: float) -> float:
        """So many bytes came: the seconds to wait before more are read."""
        self._paid_until = max(self._paid_until, now) + count_bytes / self._rate_bytes_s
        return self.wait_s(now)

    def wait_s(self, now: float) -> float:
        """How long to wait before anything new is asked for."""
        return max(0.0, self._paid_until - now - BURST_S)


def share_of(crawl_bytes_s: int | None, agent_bytes_s: int | None, agents: int) -> int | None:
    """What one of so many agents may receive per second; None where nothing bounds it."""
    caps = [
        cap
        for cap in (None if crawl_bytes_s is None else max(1, crawl_bytes_s // agents), agent_bytes_s)
        if cap is not None
    ]
    return min(caps, default=None)
