"""F: spaces of URLs without end: calendars, session ids, growing paths, facets, mazes, names without end (F1-F17)."""

from __future__ import annotations

import random
from hashlib import blake2b
from typing import Final

from nephila.lab.hostile.scripts import Act, Asked, answer, at, missing, page
from nephila.lab.wire import Script, Wait

REAL_PAGES: Final = 50
_SYLLABLES: Final = tuple(a + b for a in "bdfgklmnprstvz" for b in "aeiou")
_REAL_LINKS: Final = tuple(f"/real/{number}" for number in range(REAL_PAGES))


def words(seed: str, count: int) -> str:
    """Text that is a function of its seed and unlike that of any other."""
    draw = random.Random(seed)
    return " ".join("".join(draw.choices(_SYLLABLES, k=3)) for _ in range(count))


def _beside_real_pages(trap: Act, *doors: str) -> Act:
    """A site of fifty real pages with a trap behind these links."""

    def act(asked: Asked) -> Script:
        if asked.target == "/":
            return answer(page(*_REAL_LINKS, *doors, text=words("home", 40)))
        if asked.target in _REAL_LINKS:
            return answer(page("/", *doors, text=words(asked.target, 80)))
        return trap(asked)

    return act


def _calendar(asked: Asked) -> Script:
    """/cal/2026/11 and /cal/2026/11/5, for ever in both directions."""
    parts = asked.target.split("/")
    if parts[1] != "cal" or not all(part.isdecimal() for part in parts[2:]) or len(parts) not in (4, 5):
        return missing()
    year, month = int(parts[2]), int(parts[3])
    if len(parts) == 5:
        return answer(page(f"/cal/{year}/{month}", text=f"Nothing is planned for {parts[4]} / {month} / {year}."))
    before, after = (
        (year, month - 1) if month > 1 else (year - 1, 12),
        (year, month + 1) if month < 12 else (year + 1, 1),
    )
    links = [f"/cal/{before[0]}/{before[1]}", f"/cal/{after[0]}/{after[1]}"]
    days = [f"/cal/{year}/{month}/{day}" for day in range(1, 29)]
    return answer(page(*links, *days, text=f"Events of month {month} of {year}: none"))


def _sessions(parameter: str) -> Act:
    """Every link carries a session id that nobody has had before."""

    def act(asked: Asked) -> Script:
        path = asked.target.partition("?")[0].partition(";")[0]
        place = path.removeprefix("/p")
        if path != "/" and not (path.startswith("/p") and place.isdecimal() and int(place) < 20):
            return missing()
        draw = random.Random(f"{asked.target} {asked.times} {asked.seen}")
        links = (f"/p{number}{parameter.replace('@', f'{draw.getrandbits(64):016X}')}" for number in range(20))
        return answer(page(*links, text=words(path, 60)))

    return act


def _repeating(asked: Asked) -> Script:
    if asked.target.removeprefix("/").replace("a/b/", ""):
        return missing()
    return answer(page(asked.target + "a/b/", text=words(asked.target, 30)))


def _growing(asked: Asked) -> Script:
    if not asked.target.endswith(("/index.html", "/page.html")):
        return missing()
    return answer(page("more/index.html", "less/page.html", text=words(asked.target, 30)))


def _facets(asked: Asked) -> Script:
    """Twenty switches in the query, each page with a link to every other state of one of them."""
    path, _, query = asked.target.partition("?")
    if path != "/shop":
        return missing()
    chosen = {part.partition("=")[0] for part in query.split("&") if part}
    links = []
    for number in range(20):
        state = sorted(chosen ^ {f"f{number}"}, key=lambda name: int(name[1:]))
        links.append("/shop?" + "&".join(f"{name}=1" for name in state))
    draw = random.Random(asked.target)
    goods = draw.sample([words(f"goods {number}", 4) for number in range(40)], 20)
    return answer(page(*links, text="</p><p>".join(goods)))


_FILTERS: Final = tuple(f"{name}={value}" for name in ("colour", "size", "make", "price", "use") for value in "abc")


def _filters(asked: Asked) -> Script:
    """Filters without numbers, in whatever order they were chosen."""
    path, _, query = asked.target.partition("?")
    if path != "/goods":
        return missing()
    chosen = [part for part in query.split("&") if part]
    names = {part.partition("=")[0] for part in chosen}
    more = [part for part in _FILTERS if part.partition("=")[0] not in names]
    return answer(page(*("/goods?" + "&".join([*chosen, part]) for part in more), text=words("goods", 60)))


def _stamps(asked: Asked) -> Script:
    """Three pages that link to each other with the time of day and where one came from."""
    path = asked.target.partition("?")[0]
    if path not in ("/x", "/y", "/z"):
        return missing()
    draw = random.Random(f"{asked.target} {asked.seen}")
    links = (f"{to}?t={1_760_000_000 + draw.getrandbits(20)}&ref={draw.getrandbits(40):010x}" for to in "xyz")
    return answer(page(*(f"/{link}" for link in links), text=words(path, 60)))


_SORRY: Final = (
    "We are sorry, but the page that you have asked for cannot be found on our server any more. It may have been "
    "moved, or it never was. Perhaps one of these pages is what you are looking for?"
)


def _soft_404(asked: Asked) -> Script:
    """Whatever is asked for, it is sorry with a 200, and has links to more of it."""
    links = (f"/{words(f'{asked.target} {number}', 1)}/{words(f'{asked.target} {number} b', 1)}" for number in range(8))
    return answer(page(*links, title=words(asked.target, 2), text=_SORRY))


def _mark(path: str) -> str:
    return words(blake2b(path.encode(), digest_size=8).hexdigest(), 1)


def _maze(asked: Asked) -> Script:
    """Babble behind every link, a second late; what is no link of the maze is not there (Nepenthes)."""
    _, _, last = asked.target.rstrip("/").rpartition("/")
    if asked.target != "/" and last.partition("-")[2] != _mark(last.partition("-")[0]):
        return missing()
    names = [words(f"{asked.target} {number}", 1) for number in range(8)]
    links = [f"/{words(name, 1)}/{name}-{_mark(name)}" for name in names]
    return (Wait(1.0), *answer(page(*links, text=words(asked.target, 100))))


def _wildcard(asked: Asked) -> Script:
    draw = random.Random(asked.label + asked.target)
    links = (f"http://{draw.getrandbits(40):x}.f9-wildcard.test:{asked.port}/" for _ in range(100))
    return answer(page(*links, text=words(asked.label + asked.target, 50)))


def _mirrors(asked: Asked) -> Script:
    links = (f"http://m{number}.f10-mirrors.test:{asked.port}/" for number in range(200))
    return answer(page(*links, "/a", "/b", "/c", text="the same everywhere" + asked.target))


def _many_links(asked: Asked) -> Script:
    if asked.target == "/":
        return answer(page("/long", "/million", text="links"))
    if asked.target == "/long":
        return answer(page("/" + "x" * 200_000, "/short", text="one link of its length"))
    if asked.target == "/million":
        return answer("<html>" + "".join(f"<a href=/n{number}>n</a>" for number in range(11_000)))
    return answer(page(text=asked.target))


NASTY: Final = (
    "\\\\control.test\\x", "/ta\tb", "/nul\0x", "/%2e%2e/%2e%2e/etc/passwd", "http:/x", "http:///x", "//", "///",
    "[", "]",
    "http://[", "http://[::", "http://]/", "http://a b.test/", "http://" + "ü" * 10_000 + ".test/",
    "http://x.test:99999/",
    "http://x.test:port/", "http://:80/", "http://.test/", "http://..test/", "http://-.test/", "http://x_y.test:1/",
    "?", "#",
    "?#", "http:", "https:", "https://", "%", "%zz", "/%", "/%0", "/%00", "/%0d%0aHost:%20evil", "/\r\nX-Evil: 1",
    "/ space",
    "  /blank  ", "\x01/control", "/\u202e", "/\ud7ff", "/\U0001f577", "http://xn--/", "http://xn--a.test/",
    "http://1.2.3.4.5/",
    "http://256.256.256.256/", "http://0x.test/", "http://%41.test/", "http://%00.test/", "ht\ntp://x/",
    "HTTP://CONTROL.TEST/",
    "http://user@", "http://@/", "http://a@b@c.test/", "//user:pw@/x", "/" + "../" * 500, "/" + "./" * 500, ";",
    "/;;;", "/a//b///c",
    "javascript:void(0)", "/{{7*7}}", "/<script>", "/'", '/"',
)  # fmt: skip


def _nasty(asked: Asked) -> Script:
    return (
        answer(page(*NASTY)) if asked.target == "/" else answer(page(text=f"reached {asked.target!r}".replace("<", "")))
    )


def _sitemaps(asked: Asked) -> Script:
    if asked.target == "/":
        return answer(page("/a"))
    inner = f"<sitemap><loc>http://f13-sitemaps.test:{asked.port}{asked.target}x</loc></sitemap>"
    return answer(f"<sitemapindex>{inner}</sitemapindex>", kind="application/xml")


def sitemaps_in_robots(asked: Asked) -> Script:
    own = f"http://f13-sitemaps.test:{asked.port}"
    return answer(f"Sitemap: {own}/robots.txt\nSitemap: {own}/sitemap.xml\n", kind="text/plain")


def _one_page(asked: Asked) -> Script:
    own = f"f14-spellings.test:{asked.port}"
    spelled = (
        f"http://{own}/one",
        f"http://F14-Spellings.TEST.:{asked.port}/one",
        "/one#part",
        "/./one",
        "/x/../one",
        "/one?",
    )
    return answer(page(*spelled)) if asked.target == "/" else answer(page(text="one"))


def _bases(asked: Asked) -> Script:
    if asked.target == "/":
        return answer(page("/other", "/script"))
    if asked.target == "/other":
        return answer(page("based", head=f'<base href="http://control.test:{asked.port}/base/">'))
    return (
        answer(page("/plain", head='<base href="javascript:alert(1)//">')) if asked.target == "/script" else missing()
    )


CALENDAR: Final = _beside_real_pages(_calendar, "/cal/2026/11")
SESSIONS: Final[Act] = _sessions("?sid=@")
SESSIONS_IN_THE_PATH: Final[Act] = _sessions(";jsessionid=@")
REPEATING: Final = _beside_real_pages(_repeating, "/a/b/")
GROWING: Final = _beside_real_pages(_growing, "/more/index.html")
FACETS: Final = _beside_real_pages(_facets, "/shop?f0=1")
FILTERS: Final = _beside_real_pages(_filters, "/goods")
STAMPS: Final = _beside_real_pages(_stamps, "/x")
SOFT_404: Final[Act] = _soft_404
MAZE: Final[Act] = _maze
WILDCARD: Final[Act] = _wildcard
MIRRORS: Final[Act] = _mirrors
MANY_LINKS: Final[Act] = _many_links
NASTY_LINKS: Final[Act] = _nasty
SITEMAPS: Final[Act] = _sitemaps
ONE_PAGE: Final[Act] = _one_page
BASES: Final[Act] = _bases
CONTROL: Final[Act] = at({})
