"""Pages that agents died of, as far as one can tell: counted in a slot's database, set aside in the end (C1).

Comes: what the last agent of the slot had in hand (`in_hand`). A page that is on disk by now was not to blame, and
whatever gets there later is acquitted. At `traps.deaths` deaths the page is `trap_rejected`, with the count as its
reason; like everything that a budget refuses it is let in when a key of that section is changed. A page that no commit
has made known yet is refused when it is found again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from nephila.crawl.group import Swept, Visited
from nephila.crawl.in_hand import Noted
from nephila.records import Outcome
from nephila.urls import url_hash

_ROBOTS: Final = url_hash("/robots.txt")


class Blamed:
    """The table `deaths`; every call is made within a transaction of the slot's writer."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._keys: set[tuple[int, int]] = set(writer.execute("SELECT site, hash FROM deaths"))
        self._deadly: dict[tuple[int, int], str] = {}

    def blame(self, noted: Iterable[Noted], most_deaths: int | None, sweep: Callable[[Swept], None]) -> None:
        """One more death each. A robots.txt stands for its site: what waits of it is set aside."""
        for one in noted:
            key = (one.site, one.hash)
            page = self._writer.execute("SELECT todo FROM pages WHERE site = ? AND hash = ?", key).fetchone()
            if page is not None and not page[0]:
                continue
            sql = "INSERT INTO deaths VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET count = count + 1 RETURNING count"
            [(deaths,)] = self._writer.execute(sql, key).fetchall()
            self._keys.add(key)
            if most_deaths is None or deaths < most_deaths:
                continue
            if one.hash == _ROBOTS:
                reason = f"traps.deaths: {deaths} agents died with its robots.txt in hand"
                sweep(Swept(one.site, Outcome.TRAP_REJECTED, reason, todo=False))
            elif page is not None:
                self._set_aside(one, _reason(deaths))
        sql = "SELECT site, hash, count FROM deaths WHERE count >= ?"
        rows = self._writer.execute(sql, (most_deaths,)) if most_deaths is not None else ()
        self._deadly = {(site, key): _reason(deaths) for site, key, deaths in rows}

    def refusal(self, site: int, key: int) -> str | None:
        """Why this must not be asked for: the commit that would have made it known died with it."""
        return self._deadly.get((site, key)) if self._deadly else None

    def _set_aside(self, one: Noted, reason: str) -> None:
        """A page that is visited again keeps what is known of it."""
        key = (one.site, one.hash)
        sql = "UPDATE pages SET todo = 0, revisit = 0 WHERE site = ? AND hash = ? AND revisit = 1"
        self._writer.execute(sql, key)
        if self._writer.changes():
            return
        [(before,)] = self._writer.execute("SELECT outcome FROM pages WHERE site = ? AND hash = ?", key).fetchall()
        outcome = Outcome.TRAP_REJECTED.value
        count_outcomes(self._writer, [(str(before), -1), (outcome, 1)])
        sql = "UPDATE pages SET outcome = ?, reason = ?, todo = 0 WHERE site = ? AND hash = ?"
        self._writer.execute(sql, (outcome, reason, *key))

    def acquit(self, visited: Iterable[Visited]) -> None:
        """What is on disk has killed nobody."""
        if not self._keys:
            return
        innocent = self._keys.intersection((visit.site, visit.hash) for visit in visited)
        self._writer.executemany("DELETE FROM deaths WHERE site = ? AND hash = ?", innocent)
        self._keys -= innocent

    def acquit_all(self) -> None:
        """What was set aside is let in, with as many deaths before it as at first."""
        self._writer.execute("DELETE FROM deaths")
        self._keys.clear()
        self._deadly = {}


def _reason(deaths: int) -> str:
    return f"traps.deaths: {deaths} agents died with it in hand"


def count_outcomes(writer: Any, changes: Iterable[tuple[str, int]]) -> None:
    """The counts of outcomes of all pages, kept as these change."""
    sql = "INSERT INTO outcomes VALUES (?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count"
    writer.executemany(sql, changes)
