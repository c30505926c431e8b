"""The hostile sites as the lab's server and name server ask for them, and the control site beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from nephila.lab.answer import Answer, Manner
from nephila.lab.hostile.names import HostileNames, OddName
from nephila.lab.hostile.places import CANARY_ADDRESS, CONTROL_ADDRESS, CONTROL_HOST, address_of
from nephila.lab.hostile.row import SECURE_PORT, Row
from nephila.lab.hostile.scripts import Asked, missing, page
from nephila.lab.hostile.spaces import words
from nephila.lab.hostile.table import TABLE
from nephila.lab.wire import Scripted, plain

CONTROL_PAGES: Final = 50
_ROWS: Final = {row.site_name: row for row in TABLE}
_NEVER_ASKED: Final = frozenset({"none", "closed"})


class HostileSites:
    """All rows of the table. Keeps count of what was asked, because some rows answer differently the second time."""

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self._names = HostileNames({name: (row.row, row.labels) for name, row in _ROWS.items()})
        self._asked: Counter[tuple[str, str]] = Counter()
        self._seen: Counter[str] = Counter()

    def answer(self, host: str, port: int, target: str, address: str, now: float) -> Answer | Scripted:
        if address == CANARY_ADDRESS:
            return plain(200, "nobody may ask this")
        if host == CONTROL_HOST:
            return control_page(target)
        label, row = row_of(host)
        if row is None:
            return plain(404, "No such site in this lab.")
        secure = row.listener == "both" and port == self._port + SECURE_PORT
        own = f"{host}:{port}"
        asked = Asked(target, label, port - SECURE_PORT * secure, self._asked[own, target], self._seen[own], secure)
        self._asked[own, target] += 1
        self._seen[own] += 1
        act = row.act if target != "/robots.txt" else row.robots
        return Scripted(missing() if act is None else act(asked))

    def resolve(self, name: str) -> OddName | None:
        return self._names.resolve(name)

    def seeds(self, port: int) -> Iterator[str]:
        yield f"http://{CONTROL_HOST}:{port}/"
        for row in TABLE:
            for label in row.seeds:
                yield row.url(port, label)

    def hosts(self) -> Iterator[tuple[str, str]]:
        """Names with one plain address; the others need the name server."""
        yield CONTROL_ADDRESS, CONTROL_HOST
        for row in TABLE:
            for label in ("", *row.labels):
                found = self._names.resolve(row.host(label)) if row.listener != "none" else None
                if found is not None and found.kind == "address" and len(found.addresses) == 1:
                    yield found.addresses[0], row.host(label)


def row_of(host: str) -> tuple[str, Row | None]:
    """The row that a host belongs to, and the label before its name."""
    label, _, own = host.removesuffix(".test").rpartition(".")
    return label, _ROWS.get(own)


def control_page(target: str) -> Answer:
    """One of fifty clean pages; each links to the next few."""
    number = 0 if target == "/" else int(target[1:]) if target[1:].isdecimal() else CONTROL_PAGES
    if number >= CONTROL_PAGES:
        return plain(404)
    links = (f"/{(number + step) % CONTROL_PAGES}" for step in (1, 2, 3) if (number + step) % CONTROL_PAGES)
    body = page(*links, title=f"control {number}", text=words(f"control {number}", 200))
    return Answer(Manner.WHOLE, 200, (("Content-Type", "text/html; charset=utf-8"),), body.encode())


def listeners() -> Iterator[tuple[str, str]]:
    """Every address to listen on, and how: the rows' own, and the canary's."""
    yield CANARY_ADDRESS, "canary"
    for row in TABLE:
        if row.listener not in _NEVER_ASKED:
            for place in range(len(row.labels) + 1):
                yield address_of(row.row, place), row.listener
