"""E: robots.txt too large, unreachable, in odd charsets, with odd rules (E1-E18). Acts here answer /robots.txt."""

from __future__ import annotations

from itertools import chain, repeat
from typing import Final

from nephila.lab.hostile.scripts import EMPTY, HANG, OK, RESET, Act, Asked, answer, missing, moved, page
from nephila.lab.wire import Script

CLOSED: Final = "User-agent: *\nDisallow: /closed/\n"
_LINKS: Final = ("/open", "/closed/x")
_PADDING: Final = "# a line of a robots.txt that says nothing\n"


def site(asked: Asked) -> Script:
    """The pages behind every robots.txt here: one open, one closed."""
    return answer(page(*_LINKS)) if asked.target == "/" else answer(page(text=f"page {asked.target}"))


def text(body: str | bytes, status: str = "200 OK") -> Script:
    return answer(body, status=status, kind="text/plain")


def _padded(to_bytes: int, so_far: str) -> str:
    return so_far + _PADDING * ((to_bytes - len(so_far)) // len(_PADDING))


def _large() -> str:
    until = _padded(498_900, "User-agent: *\nDisallow: /nothing\n") + "Disallow: /closed/\n"
    return _padded(600 * 1024, _padded(560_000, until) + "Disallow: /open\n")


_LARGE: Final = text(_large())


def large(_: Asked) -> Script:
    return _LARGE


def endless(_: Asked) -> Script:
    return chain((OK + b"\r\n" + CLOSED.encode(),), repeat(_PADDING.encode() * 1_000))


def status_of_label(asked: Asked) -> Script:
    return text(CLOSED, f"{asked.label or 500} Robots")


def silent(_: Asked) -> Script:
    return HANG


def broken_off(asked: Asked) -> Script:
    return RESET if asked.label else EMPTY


def busy_once(asked: Asked) -> Script:
    if asked.times:
        return text(CLOSED)
    return answer("later", "Retry-After: 1", status="429 Too Many Requests")


def hops(count: int, name: str) -> Act:
    """Robots rules behind so many redirects over as many hosts."""

    def act(asked: Asked) -> Script:
        step = int(asked.label or 0)
        return text(CLOSED) if step >= count else moved(f"http://{step + 1}.{name}.test:{asked.port}/robots.txt")

    return act


def then_down(asked: Asked) -> Script:
    """A good copy first, afterwards 503 (E10); within a day nobody asks again."""
    return text(CLOSED) if not asked.times else text("", "503 Down")


DAYS_PAGES: Final = 40
"""Of the site whose robots.txt changes: at a page an hour that is more than a day."""


def for_days(asked: Asked) -> Script:
    """Two rows of pages, of which first the one is closed and then the other."""
    if asked.target == "/":
        return answer(page(*(f"/{row}/{number}" for number in range(DAYS_PAGES) for row in ("a", "b"))))
    return answer(page(text=f"page {asked.target}"))


def changed_later(asked: Asked) -> Script:
    """E11: the copy that is read a day later closes what the first one left open."""
    return text(f"User-agent: *\nDisallow: /{'a' if asked.times else 'b'}/\n")


def of_authority(asked: Asked) -> Script:
    """E17: with TLS one half is closed, without it the other."""
    return text(f"User-agent: *\nDisallow: /{'open' if asked.secure else 'closed'}\n")


def both_schemes(asked: Asked) -> Script:
    links = ("/open", "/closed", f"http://e17-authorities.test:{asked.port}/")
    kind = "with TLS" if asked.secure else "without TLS"
    return (
        answer(page(*links, text=f"{kind} {asked.target}")) if asked.target in ("/", "/open", "/closed") else missing()
    )


def html_page(_: Asked) -> Script:
    return answer(page("/closed/x", text="Disallow is not said here"))


def in_charset_of_label(asked: Asked) -> Script:
    bodies = {
        "": b"\xef\xbb\xbf" + CLOSED.encode(),
        "utf16": CLOSED.encode("utf-16"),
        "nul": b"\0" + CLOSED.replace("\n", "\n\0", 1).encode(),
        "latin": b"# \xe9t\xe9\n" + CLOSED.encode(),
        "cr": CLOSED.replace("\n", "\r").encode(),
    }
    return text(bodies[asked.label])


def crawl_delay_of_label(asked: Asked) -> Script:
    return text(f"User-agent: *\nCrawl-delay: {asked.label.replace('-', '.') or '1e9'}\nDisallow: /closed/\n")


def many_stars(_: Asked) -> Script:
    return text(f"User-agent: *\nDisallow: /*{'a*' * 200}$\nDisallow: /closed/\n")


_RULES: Final = text("User-agent: *\n" + "".join(f"Disallow: /rule{number}/\n" for number in range(20_000)) + CLOSED)


def many_rules(_: Asked) -> Script:
    return _RULES


def our_group(_: Asked) -> Script:
    return text(
        "User-agent: *\nDisallow: /\n\nUser-Agent: NEPHILA\nDisallow: /closed/\n\nuser-agent: other\nDisallow: /\n\n"
        "User-agent: nephila\nAllow: /open\n"
    )


def absent(_: Asked) -> Script:
    return missing()


def long_paths(asked: Asked) -> Script:
    """Beside two hundred stars, URLs of two thousand characters."""
    return answer(page(*_LINKS, "/" + "a" * 1_900 + "b")) if asked.target == "/" else site(asked)
