"""Whether the disk has room for what is under way; a crawl rests before it has none, and goes on by itself (F4)."""

from __future__ import annotations

from contextlib import suppress

from nephila.errors import DiskFullError
from nephila.store.folder import CrawlFolder
from nephila.store.space import Reserve, free_bytes, may_go_on, must_pause


class DiskRoom:
    """One crawl's view of its disk. It holds the reserve, which whoever cannot commit gives free."""

    def __init__(self, folder: CrawlFolder, in_flight_bytes: int) -> None:
        self._folder = folder
        self._reserve = Reserve(folder.reserve)
        self._in_flight_bytes = in_flight_bytes
        self.is_short = False

    def look(self) -> bool:
        """Whether nothing new may be requested now; takes the reserve again as soon as there is room for it."""
        free = free_bytes(self._folder.path)
        if not self._reserve.is_held:
            free -= self._reserve.size_bytes
        short = not may_go_on(free, self._in_flight_bytes) if self.is_short else must_pause(free, self._in_flight_bytes)
        if not short and not self._reserve.is_held:
            short = True
            with suppress(DiskFullError):  # somebody else was quicker
                self._reserve.hold()
                short = False
        self.is_short = short
        return short

    def spend_reserve(self) -> None:
        """The last commits need the room now."""
        self._reserve.release()
