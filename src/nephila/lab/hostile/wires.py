"""H: what happens below HTTP: reset, cut and dark connections (H10-H13); names and TLS are in `names` and `serving`."""

from __future__ import annotations

from typing import Final

from nephila.lab.hostile.scripts import EMPTY, RESET, Act, Asked, answer, missing, page
from nephila.lab.wire import Script

_TEN: Final = tuple(f"/{number}" for number in range(10))


def _pages(asked: Asked, paths: tuple[str, ...]) -> Script:
    if asked.target == "/":
        return answer(page(*paths))
    return answer(page(text=f"page {asked.target}")) if asked.target in paths else missing()


def plain(asked: Asked) -> Script:
    return _pages(asked, ())


def cut_when_reused(asked: Asked) -> Script:
    """Every second request finds its connection closed; on a fresh one it is answered."""
    return EMPTY if asked.seen % 2 else _pages(asked, _TEN)


def busy_at_first(asked: Asked) -> Script:
    return answer("busy", status="503 Busy") if not asked.times else _pages(asked, _TEN[:2])


def failing(asked: Asked) -> Script:
    return RESET if asked.target in _TEN else _pages(asked, _TEN)


def dark_for_a_while(asked: Asked) -> Script:
    return RESET if 4 <= asked.seen < 6 else _pages(asked, _TEN)


def dark_for_long(asked: Asked) -> Script:
    """Dark until every page has used up its tries; robots.txt, home and a page were had before."""
    return RESET if 3 <= asked.seen < 9 else _pages(asked, _TEN[:4])


def errors_for_long(asked: Asked) -> Script:
    """The same behind a server that says so: 502 for a while."""
    return answer("no gateway", status="502 Bad Gateway") if 3 <= asked.seen < 9 else _pages(asked, _TEN[:4])


CUT_WHEN_REUSED: Final[Act] = cut_when_reused
BUSY_AT_FIRST: Final[Act] = busy_at_first
FAILING: Final[Act] = failing
DARK_FOR_A_WHILE: Final[Act] = dark_for_a_while
DARK_FOR_LONG: Final[Act] = lambda asked: errors_for_long(asked) if asked.label else dark_for_long(asked)  # noqa: E731
PLAIN: Final[Act] = plain
