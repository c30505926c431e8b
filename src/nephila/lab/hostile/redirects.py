"""D: redirects without end, to other schemes, to private addresses, across origins (D1-D21)."""

from __future__ import annotations

from typing import Final

from nephila.lab.hostile.places import CANARY_ADDRESS, CANARY_HOST, CONTROL_HOST, OUT_OF_SCOPE_HOST, spellings_of
from nephila.lab.hostile.scripts import Act, Asked, answer, at, home, missing, moved, page
from nephila.lab.wire import Script

SPECIAL: Final = (
    "169.254.169.254", "100.64.0.1", "0.0.0.0",  # noqa: S104  a target, not a listener
    "224.0.0.1", "10.0.0.1", "192.168.1.1", "172.16.0.1", "255.255.255.255",
    "[::]", "[::1]", "[fe80::1]", "[fd00::1]", "[ff02::1]", "localhost",
)  # fmt: skip
SCHEMES: Final = (
    "file:///etc/hostname", "ftp://control.test/", "gopher://control.test/", "data:text/html,<p>x",
    "javascript:alert(1)",
    "s3://bucket/key", "ws://control.test/", "view-source:http://control.test/", "mailto:a@b.test", "blob:x",
    "HTTP:\\\\\\", "about:blank",
)  # fmt: skip


def _pingpong(asked: Asked) -> Script:
    return moved(f"http://{'' if asked.label else 'b.'}d2-pingpong.test:{asked.port}/")


def chain_of(hops: int | None) -> Act:
    """Each answer leads to the next; without a number it never ends."""

    def act(asked: Asked) -> Script:
        step = int(asked.target[2:]) if asked.target.startswith("/h") and asked.target[2:].isdecimal() else 0
        return answer(page(text="arrived")) if hops is not None and step >= hops else moved(f"/h{step + 1}")

    return act


def leading_to(targets: tuple[str, ...]) -> Act:
    """A page with a link to each target, and a redirect to each."""
    return _leading(lambda _: targets)


def _leading(targets_for: object) -> Act:
    assert callable(targets_for)

    def act(asked: Asked) -> Script:
        targets: tuple[str, ...] = targets_for(asked.port)
        if asked.target == "/":
            return answer(page(*targets, *(f"/r{number}" for number in range(len(targets)))))
        number = asked.target[2:]
        if asked.target.startswith("/r") and number.isdecimal() and int(number) < len(targets):
            return moved(targets[int(number)])
        return missing()

    return act


def _to(host: str, path: str = "/", user: str = "") -> Act:
    def act(asked: Asked) -> Script:
        return moved(f"http://{user}{host}:{asked.port}{path}") if asked.target == "/" else missing()

    return act


def _origins(asked: Asked) -> Script:
    if asked.target == "/":
        there = (f"http://there.d13-origins.test:{asked.port}/seen", f"http://d13-origins.test:{asked.port + 1}/closed")
        return answer(page(*there, "/r0", "/r1"), "Set-Cookie: secret=canary-secret; Domain=test")
    if asked.target in ("/r0", "/r1"):
        where = f"http://there.d13-origins.test:{asked.port}/seen?from={asked.target[1:]}"
        return answer(b"", f"Location: {where}", "Set-Cookie: secret=canary-secret", status="302 Found")
    return answer(page(text="seen")) if asked.label else missing()


def _to_plain_http(asked: Asked) -> Script:
    """With TLS a redirect to the same host without, and a cookie that must not come along."""
    where = f"http://d14-downgrade.test:{asked.port}/plain"
    if asked.secure and asked.target == "/":
        return answer(b"", f"Location: {where}", "Set-Cookie: secret=canary-secret; Secure", status="302 Found")
    if asked.secure:
        return missing()
    return answer(page("/more", text="plain")) if asked.target in ("/plain", "/more") else missing()


def _locations(asked: Asked) -> Script:
    places: dict[str, Script] = {
        "/long": moved("/" + "x" * 2**20),
        "/empty": moved(""),
        "/none": answer(b"", status="302 Found"),
        "/relative": moved(f"//d16-locations.test:{asked.port}/there?a"),
        "/fragment": moved("/there?b#part"),
        "/letters": moved("/\u00e9t\u00e9?\u00fc"),
        "/there?a": answer(page(text="there a")),
        "/there?b": answer(page(text="there b")),
        "/%C3%A9t%C3%A9?%C3%BC": answer(page(text="letters")),
    }
    if asked.target == "/":
        return answer(page("/long", "/empty", "/none", "/relative", "/fragment", "/letters"))
    return places.get(asked.target, missing())


def _meta(content: str) -> str:
    return page(text=content, head=f'<meta http-equiv="refresh" content="{content}">')


LOOP: Final = home(moved("/"))
PINGPONG: Final[Act] = _pingpong
ENDLESS_CHAIN: Final[Act] = chain_of(None)
CHAIN_TO_THE_LIMIT: Final[Act] = chain_of(5)
TO_A_FILE: Final = home(moved("file:///etc/hostname"))
TO_OTHER_SCHEMES: Final[Act] = leading_to(SCHEMES)
TO_THE_CANARY: Final[Act] = _to(CANARY_HOST)
TO_SPECIAL_ADDRESSES: Final[Act] = _leading(lambda port: tuple(f"http://{host}:{port}/" for host in SPECIAL))
TO_SPELLINGS: Final[Act] = _leading(lambda port: spellings_of(CANARY_ADDRESS, port)[:17])
TO_TRANSLATED: Final[Act] = _leading(lambda port: spellings_of(CANARY_ADDRESS, port)[17:])
PLAIN: Final = home(answer(page("/a", "/b", text="plain")))
MANY_PLAIN: Final[Act] = at(
    {"/": page(*(f"/{number}" for number in range(100)))}, lambda asked: answer(page(text=f"plain {asked.target}"))
)
ORIGINS: Final[Act] = _origins
TO_PLAIN_HTTP: Final[Act] = _to_plain_http
WITH_USER: Final[Act] = _to(CONTROL_HOST, "/user", "user:canary-secret@")
LOCATIONS: Final[Act] = _locations
META_REFRESH: Final[Act] = at(
    {"/": page("/self", "/a", "/late"), "/self": _meta("0; url=/self"), "/a": _meta("0; url=/b"),
     "/b": _meta("0; url=/a"), "/late": _meta("1000000000; url=/linked"), "/linked": page(text="linked")}
)  # fmt: skip
TO_FORBIDDEN: Final[Act] = at({"/": page("/go"), "/go": moved("/closed/x"), "/closed/x": page(text="closed")})
OUT_OF_SCOPE: Final[Act] = _to(OUT_OF_SCOPE_HOST)
HINTS: Final[Act] = lambda asked: answer(  # noqa: E731  # one answer for every path
    page(text="hints", head=f'<link rel="dns-prefetch" href="//{CANARY_HOST}:{asked.port}">'),
    f'Alt-Svc: h2="{CANARY_ADDRESS}:{asked.port}"; ma=86400',
    f"Link: <http://{CANARY_ADDRESS}:{asked.port}/>; rel=preconnect",
)


def to_the_canary(asked: Asked) -> Script:
    """A robots.txt that leads to the canary (D20)."""
    return moved(f"http://{CANARY_ADDRESS}:{asked.port}/robots.txt")
