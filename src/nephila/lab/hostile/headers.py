"""B: headers that are too large, folded, poisoned, or that ask for what nobody does (B1-B14)."""

from __future__ import annotations

from itertools import chain
from typing import Final

from nephila.lab.hostile.scripts import OK, Act, Asked, answer, for_ever, home, index_of, moved, page, says
from nephila.lab.wire import End, Script

_EMPTY_BODY: Final = b"Content-Length: 0\r\n\r\n"


def _one_long_line(_: Asked) -> Script:
    return for_ever(OK + b"X-Long: ", b"x" * 4096)


def _many_lines(_: Asked) -> Script:
    return chain((OK,), (b"A: b\r\n" * 1_000,) * 10, (_EMPTY_BODY, End.KEEP))


def _cookies(count: int, size: int) -> Script:
    lines = (f"Set-Cookie: c{number}={'x' * size}; Path=/" for number in range(count))
    return answer(page(text="cookies"), *lines)


def _refresh(value: str) -> Script:
    return answer(page(text="it reloads"), f"Refresh: {value}")


ONE_LONG_LINE: Final = home(_one_long_line)
MANY_LINES: Final = home(_many_lines)
COOKIES: Final[Act] = index_of({"/few": _cookies(40, 20), "/many": _cookies(1_000, 4_096)})
FOLDED: Final = home(says(OK + b"X-Folded: b\r\n c: d\r\n" + _EMPTY_BODY, then=End.KEEP))
POISONED: Final[Act] = index_of(
    {"/nul": says(OK + b"A: b\0c\r\n" + _EMPTY_BODY, then=End.KEEP),
     "/cr": says(OK + b"A: b\rc\r\n" + _EMPTY_BODY, then=End.KEEP),
     "/escape": says(OK + b"Server: \x1b[2J\x1b]52;c;aGk=\x07\r\n" + _EMPTY_BODY, then=End.KEEP),
     "/c1": says(OK + b"Server: \xc2\x9b2J \xe2\x80\xae\r\n" + _EMPTY_BODY, then=End.KEEP)},
)  # fmt: skip
SECOND_REQUEST: Final[Act] = index_of(
    {"/encoded": moved("/x%0d%0aX-Evil:%201"),
     "/raw": says(b"HTTP/1.1 302 Found\r\nLocation: /y\r\nX-Evil: 1\r\n" + _EMPTY_BODY, then=End.KEEP),
     "/blank": moved("/z HTTP/1.1"), "/y": page(text="y")},
)  # fmt: skip
TYPES: Final[Act] = index_of(
    {"/long": answer("x", kind="text/html" + "; x=y" * 8_000),
     "/charset": answer(page(text="sniffed"), kind="text/html;charset=../../etc/passwd"),
     "/odd": answer(page(text="odd"), kind='text/html; charset="utf-8; x')},
)  # fmt: skip
NAMES_TO_CALL: Final[Act] = index_of(
    {"/policy": answer(page(text="policy"), "Referrer-Policy: os.system"),
     "/coding": answer("x", "Content-Encoding: __import__")},
)  # fmt: skip
RETRY_AFTER: Final[Act] = index_of(
    {"/abc": answer("busy", "Retry-After: abc", status="503 Busy"),
     "/long": answer("busy", "Retry-After: 1000000000000", status="503 Busy"),
     "/later": page(text="not today")},
)  # fmt: skip
REFRESH: Final[Act] = index_of(
    {"/self": _refresh("0;url=/self"), "/there": _refresh("0; url=/back"), "/back": _refresh("0; url=/there"),
     "/link": answer(page(text="next"), "Link: </link>; rel=next"), "/away": _refresh("5; url=/arrived"),
     "/late": _refresh("1000000000; url=/linked")},
)  # fmt: skip
FILE_NAME: Final = home(
    answer(page(text="a download"), 'Content-Disposition: attachment; filename="../../../x-nephila-canary"')
)
FOREIGN_COOKIES: Final = home(
    answer(page("/next"), "Set-Cookie: a=1; Domain=test", "Set-Cookie: b=2; Domain=control.test; Path=/")
)
DATES: Final[Act] = index_of(
    {"/1601": answer(page(text="old"), "Last-Modified: Mon, 01 Jan 1601 00:00:00 GMT", "Date: garbage"),
     "/9999": answer(page(text="new"), "Last-Modified: Fri, 31 Dec 9999 23:59:59 GMT"),
     "/garbage": answer(page(text="none"), "Last-Modified: \u1234 soon", "Date: 0")},
)  # fmt: skip
TAGS: Final[Act] = index_of(
    {"/long": answer(page(text="tag"), 'ETag: "' + "t" * 65_536 + '"'),
     "/constant": lambda asked: answer(page(text=f"version {asked.times}"), 'ETag: "always"')},
)  # fmt: skip
