"""The table of hostile sites: RELIABILITY section 2 row by row, what each does and the outcome it must have.

Rows are added for every incident and never deleted. Outcomes hold for RELIABILITY's test profile (connect 1 s, headers
2 s, idle 1 s, total 5 s, 1 KiB/s after 2 s, 256 KiB on the wire, 1 MiB decoded, 32 KiB of header, 5 hops).
"""

from __future__ import annotations

from typing import Final

from nephila.lab.hostile import compression as c
from nephila.lab.hostile import content as g
from nephila.lab.hostile import framing as a
from nephila.lab.hostile import headers as b
from nephila.lab.hostile import redirects as d
from nephila.lab.hostile import robots as e
from nephila.lab.hostile import spaces as f
from nephila.lab.hostile import wires as h
from nephila.lab.hostile.row import Row

_BEHIND: Final = {"/open": "ok", "/closed/x": "blocked_robots"}
_REAL: Final = {f"/real/{number}": "ok" for number in range(f.REAL_PAGES)}

_A: Final = (
    Row("A1", "drip", "one byte a second, for ever", a.DRIP, "too_slow"),
    Row("A2", "drip-header", "one byte of header a second", a.DRIP_IN_THE_HEADER, "timeout_headers"),
    Row("A3", "hang", "accepts and says nothing", a.SILENCE, "timeout_headers"),
    Row("A4", "hang-body", "says nothing after the header", a.SILENCE_AFTER_THE_HEADER, "truncated_time"),
    Row("A5", "endless-chunks", "chunks without end", a.ENDLESS_CHUNKS, "truncated_length"),
    Row("A6", "endless", "a body without length or end", a.ENDLESS, "truncated_length"),
    Row("A7", "ten-gigabytes", "declares 10 GB and sends them", a.TEN_GIGABYTES, "truncated_length"),
    Row("A8", "short", "declares 100 bytes, sends 50", a.SHORT, "truncated_disconnect"),
    Row("A9", "long", "declares 10 bytes, sends a megabyte", a.LONG, "ok", {"/long": "ok", "/after": "ok"}),
    Row("A10", "two-lengths", "two different Content-Length", a.TWO_LENGTHS, "bad_http"),
    Row("A11", "length-in-words", "Content-Length: thousand", a.LENGTH_IN_WORDS, "bad_http ok"),
    Row("A12", "length-and-chunks", "Content-Length and chunks", a.LENGTH_AND_CHUNKS, "ok",
        {"/both": "ok", "/after": "ok"}),
    Row("A13", "bad-chunks", "a chunk size that is none, an extension without end", a.BAD_CHUNKS, "ok",
        {"/size": "bad_http", "/extension": "bad_http"}),
    Row("A14", "tiny-chunks", "200,000 chunks of one byte", a.TINY_CHUNKS, "ok truncated_length"),
    Row("A15", "reset", "resets in the middle of the body", a.RESET_IN_THE_BODY, "truncated_disconnect"),
    Row("A16", "empty-reply", "closes without a byte", a.EMPTY_REPLY, "bad_http reset"),
    Row("A17", "no-status-line", "HTTP/0.9", a.NO_STATUS_LINE, "bad_http"),
    Row("A18", "statuses", "statuses 000, 999, -1 and 200 without reason", a.STATUSES, "ok",
        {"/000": "bad_http", "/999": "http_error", "/minus": "bad_http", "/bare": "ok"}),
    Row("A19", "interim-flood", "10,000 interim answers", a.INTERIM_FLOOD, "ok",
        {"/103": "headers_too_large", "/100": "headers_too_large"}),
    Row("A20", "bodiless", "204 and 304 with a body", a.BODY_WHERE_NONE_IS, "ok",
        {"/204": "ok", "/304": "http_error", "/after": "ok"}),
    Row("A21", "endless-trailers", "trailers without end", a.ENDLESS_TRAILERS, "headers_too_large"),
    Row("A22", "upgrade", "changes the protocol unasked", a.UPGRADE, "bad_http"),
)  # fmt: skip

_B: Final = (
    Row("B1", "long-line", "one header line without end", b.ONE_LONG_LINE, "headers_too_large"),
    Row("B2", "many-lines", "10,000 header lines", b.MANY_LINES, "headers_too_large"),
    Row("B3", "cookies", "40 cookies, and 1,000 of 4 KiB", b.COOKIES, "ok",
        {"/few": "ok", "/many": "headers_too_large"}),
    Row("B4", "folded", "a header over two lines", b.FOLDED, "ok bad_http"),
    Row("B5", "poisoned", "NUL, bare CR and terminal escapes in values", b.POISONED, "ok",
        {"/nul": "bad_http", "/cr": "bad_http", "/escape": "bad_http", "/c1": "ok"}),
    Row("B6", "second-request", "a Location that would write a second request", b.SECOND_REQUEST, "ok",
        {"/encoded": "redirect", "/raw": "redirect", "/y": "ok", "/blank": "redirect http_error"}),
    Row("B7", "types", "a Content-Type of 40 KiB, a charset that is a path", b.TYPES, "ok",
        {"/long": "headers_too_large", "/charset": "ok", "/odd": "ok"}),
    Row("B8", "names-to-call", "header values that name functions", b.NAMES_TO_CALL, "ok",
        {"/policy": "ok", "/coding": "decode_error"}),
    Row("B9", "retry-after", "Retry-After of abc and of 30,000 years", b.RETRY_AFTER, "ok",
        {"/abc": "http_error deferred_host", "/long": "http_error deferred_host", "/later": "ok deferred_host"}),
    Row("B10", "refresh", "Refresh headers to itself, to and fro, away and much later", b.REFRESH, "ok",
        {"/self": "ok", "/there": "ok", "/back": "ok", "/link": "ok", "/arrived": "http_error",
        "/linked": "http_error"},
        requests=12),
    Row("B11", "file-name", "Content-Disposition with a path", b.FILE_NAME, "ok"),
    Row("B12", "foreign-cookies", "cookies for a suffix and for another domain", b.FOREIGN_COOKIES, "ok"),
    Row("B13", "dates", "dates of 1601, of 9999 and none", b.DATES, "ok",
        {"/1601": "ok", "/9999": "ok", "/garbage": "ok"}),
    Row("B14", "tags", "an ETag of 64 KiB, one that never changes", b.TAGS, "ok",
        {"/long": "headers_too_large", "/constant": "ok"}),
)  # fmt: skip

_C: Final = (
    Row("C1", "gzip-bomb", "10 MiB of gzip that are 10 GiB", c.GZIP_BOMB, "decode_limit"),
    Row("C2", "brotli-bomb", "a hundred bytes that are 64 MiB", c.BROTLI_BOMB, "decode_limit"),
    Row("C3", "zstd-bombs", "zstd blocks without end, a window of 2 GiB", c.ZSTD_BOMBS, "ok",
        {"/blocks": "decode_limit", "/window": "decode_error"}),
    Row("C4", "deflate", "deflate with and without its wrapping", c.DEFLATE, "ok", {"/raw": "ok", "/zlib": "ok"}),
    Row("C5", "stacked", "ten codings in one line", c.STACKED, "decode_error"),
    Row("C6", "stacked-lines", "ten codings in ten lines", c.STACKED_IN_LINES, "decode_error"),
    Row("C7", "empty-members", "100,000 empty gzip members", c.EMPTY_MEMBERS, "decode_limit"),
    Row("C8", "damaged", "gzip that is cut, gzip with garbage behind it", c.DAMAGED, "ok",
        {"/cut": "truncated_disconnect", "/garbage": "ok"}),
    Row("C9", "mislabelled", "plain called gzip, gzip called plain", c.MISLABELLED, "ok",
        {"/plain": "ok", "/untold": "ok"}),
    Row("C10", "bombs-elsewhere", "a bomb as body of a 302 and of a 404", c.BOMBS_ELSEWHERE, "ok",
        {"/moved": "redirect", "/error": "http_error", "/target": "ok"}),
    Row("C11", "nested", "gzip in gzip in gzip: only what is named is undone", c.NESTED, "ok",
        {"/once": "ok", "/twice": "ok"}),
    Row("C12", "robots-bomb", "robots.txt is a bomb", c.BOMB_AS_ROBOTS, "deferred_robots", robots=c.gzip_bomb),
)  # fmt: skip

_D: Final = (
    Row("D1", "loop", "leads to itself", d.LOOP, "redirect_loop", requests=2),
    Row("D2", "pingpong", "two hosts lead to each other", d.PINGPONG, "redirect", {"b/": "redirect_loop"},
        labels=("b",)),
    Row("D3", "chain", "leads on for ever", d.ENDLESS_CHAIN, "redirect",
        {"/h1": "redirect", "/h5": "redirect_limit"}, requests=7),
    Row("D4", "chain-at-limit", "five hops to a page", d.CHAIN_TO_THE_LIMIT, "redirect", {"/h4": "redirect",
        "/h5": "ok"}),
    Row("D5", "to-a-file", "leads to file:///etc/hostname", d.TO_A_FILE, "http_error", reason="blocked_scheme"),
    Row("D6", "to-schemes", "leads to ftp, data, javascript and others", d.TO_OTHER_SCHEMES, "ok",
        {f"/r{n}": "http_error" for n in range(len(d.SCHEMES))}),
    Row("D7", "to-private", "leads to a name with a private address", d.TO_THE_CANARY, "redirect"),
    Row("D8", "to-special", "leads to link-local, multicast and unspecified addresses", d.TO_SPECIAL_ADDRESSES, "ok"),
    Row("D9", "spellings", "leads to a private address in seventeen spellings", d.TO_SPELLINGS, "ok"),
    Row("D10", "translated", "leads to a private address mapped and translated", d.TO_TRANSLATED, "ok"),
    Row("D11", "mixed", "a name with a public and a private address", d.PLAIN, "blocked_address"),
    Row("D12", "rebinding", "a name that becomes private after its first answer", d.MANY_PLAIN, "ok",
        {f"/{n}": "ok" for n in range(100)}),
    Row("D13", "origins", "leads to another host and port, with cookies set", d.ORIGINS, "ok",
        {"/r0": "redirect", "there/seen": "ok"}, labels=("there",)),
    Row("D15", "user", "leads to a URL with user and password", d.WITH_USER, "redirect"),
    Row("D16", "locations", "Locations long, empty, missing, relative, with fragment and letters", d.LOCATIONS, "ok",
        {"/long": "headers_too_large", "/empty": "http_error", "/none": "http_error", "/relative": "redirect",
         "/fragment": "redirect", "/letters": "redirect", "/there?a": "ok", "/there?b": "ok"}),
    Row("D17", "meta-refresh", "pages that reload themselves and each other", d.META_REFRESH, "ok",
        {"/self": "ok", "/a": "ok", "/b": "ok", "/linked": "ok"}, requests=8),
    Row("D18", "to-forbidden", "leads to what robots.txt forbids", d.TO_FORBIDDEN, "ok",
        {"/go": "redirect", "/closed/x": "blocked_robots"}, robots=lambda _: e.text(e.CLOSED)),
    Row("D19", "out-of-scope", "leads out of scope", d.OUT_OF_SCOPE, "redirect"),
    Row("D20", "robots-private", "robots.txt leads to a private address", d.PLAIN, "deferred_robots",
        robots=d.to_the_canary),
    Row("D21", "hints", "Alt-Svc and preconnect to a private address", d.HINTS, "ok"),
)  # fmt: skip

_E: Final = (
    Row("E1", "large", "600 KiB of robots.txt, a rule at byte 499,000 and one at 560,000", e.site, "ok", _BEHIND,
        robots=e.large),
    Row("E2", "endless", "robots.txt without end", e.site, "ok", _BEHIND, robots=e.endless),
    Row("E3", "down", "robots.txt is 500, 502, 503", e.site, "deferred_robots",
        {"502/": "deferred_robots", "503/": "deferred_robots"}, robots=e.status_of_label, labels=("502", "503"),
        seeds=("", "502", "503")),
    Row("E4", "hang", "robots.txt hangs", e.site, "deferred_robots", robots=e.silent),
    Row("E5", "broken-off", "robots.txt breaks off or is reset", e.site, "deferred_robots", {"rst/": "deferred_robots"},
        robots=e.broken_off, labels=("rst",), seeds=("", "rst")),
    Row("E6", "unavailable", "robots.txt is 404, 410, 401, 403", e.site, "ok",
        {"404/": "ok", "410/": "ok", "401/": "ok", "403/closed/x": "ok"}, labels=("404", "410", "401", "403"),
        seeds=("404", "410", "401", "403", ""), robots=lambda asked: e.text("", f"{asked.label or 404} Robots")),
    Row("E7", "busy", "robots.txt is 429 once", e.site, "ok", _BEHIND, robots=e.busy_once),
    Row("E8", "five-hops", "robots.txt behind five redirects over five hosts", e.site, "ok", _BEHIND,
        robots=e.hops(5, "e8-five-hops"), labels=("1", "2", "3", "4", "5")),
    Row("E9", "six-hops", "robots.txt behind six redirects", e.site, "ok", {"/closed/x": "ok"},
        robots=e.hops(6, "e9-six-hops"), labels=("1", "2", "3", "4", "5", "6")),
    Row("E10", "then-down", "a good robots.txt, then 503", e.site, "ok", _BEHIND, robots=e.then_down),
    Row("E12", "html", "robots.txt is an HTML page", e.site, "ok", {"/closed/x": "ok"}, robots=e.html_page),
    Row("E13", "charsets", "robots.txt with BOM, in UTF-16, with NUL, in Latin-1, with CR alone", e.site, "ok",
        _BEHIND | {f"{label}/closed/x": "blocked_robots" for label in ("utf16", "nul", "latin", "cr")},
        robots=e.in_charset_of_label, labels=("utf16", "nul", "latin", "cr"), seeds=("", "utf16", "nul", "latin",
        "cr")),
    Row("E14", "delays", "Crawl-delay 1e9, -1, NaN, 0.0001", e.site, "ok", _BEHIND, robots=e.crawl_delay_of_label,
        labels=("nan", "0-0001"), seeds=("", "nan", "0-0001")),
    Row("E15", "stars", "a rule of 200 stars, a path of 1,900 letters", e.long_paths, "ok", _BEHIND,
        robots=e.many_stars),
    Row("E16", "rules", "20,000 rules", e.site, "ok", _BEHIND, robots=e.many_rules),
    Row("E18", "groups", "our group among others, in two parts", e.site, "ok", _BEHIND, robots=e.our_group),
)  # fmt: skip

_F: Final = (
    Row("F1", "calendar", "a calendar without end beside 50 pages", f.CALENDAR, "ok", _REAL, requests=352),
    Row("F2", "sessions", "a new session id in every link", f.SESSIONS, "ok", requests=23),
    Row("F3", "path-sessions", "the same in the path", f.SESSIONS_IN_THE_PATH, "ok", requests=23),
    Row("F4", "repeating", "/a/b/a/b/ for ever", f.REPEATING, "ok",
        _REAL | {"/a/b/": "ok", "/a/b/a/b/": "ok", "/a/b/a/b/a/b/": "trap_rejected"}, requests=60),
    Row("F5", "growing", "relative links that grow", f.GROWING, "ok", _REAL, requests=352),
    Row("F6", "facets", "2^20 combinations of facets beside 50 pages", f.FACETS, "ok", _REAL, requests=352),
    Row("F7", "soft-404", "answers 200 to everything, and says that it is sorry", f.SOFT_404, "ok", requests=100),
    Row("F8", "maze", "babble without end, a second late", f.MAZE, "ok"),
    Row("F9", "wildcard", "host names without end", f.WILDCARD, "ok"),
    Row("F10", "mirrors", "200 names of one site on one address", f.MIRRORS, "ok"),
    Row("F11", "many-links", "a link of 200,000 characters, 11,000 links on a page", f.MANY_LINKS, "ok",
        {"/short": "ok"}),
    Row("F12", "nasty-links", "sixty links that are hard to read", f.NASTY_LINKS, "ok"),
    Row("F13", "sitemaps", "sitemaps that list themselves", f.SITEMAPS, "ok", robots=f.sitemaps_in_robots, requests=5),
    Row("F14", "spellings", "one page spelled in six ways", f.ONE_PAGE, "ok", {"/one": "ok"}, requests=4),
    Row("F15", "bases", "base elements that lead away", f.BASES, "ok", {"/plain": "http_error"}),
)  # fmt: skip

_G: Final = (
    Row("G1", "nested", "100,000 nested elements", g.NESTED, "ok truncated_length"),
    Row("G2", "attribute", "one attribute as large as the body", g.ONE_ATTRIBUTE, "ok"),
    Row("G3", "attributes", "20,000 attributes of one element", g.MANY_ATTRIBUTES, "ok"),
    Row("G4", "misnested", "formatting elements closed by nobody", g.MISNESTED, "ok truncated_length"),
    Row("G5", "unclosed", "comment, CDATA, textarea and script without end", g.UNCLOSED, "ok"),
    Row("G6", "fifty", "fifty plain pages, for a parser that is made to crash", g.FIFTY, "ok"),
    Row("G7", "odd-titles", "NUL, lone surrogates, noncharacters, overlong UTF-8", g.ODD_TITLES, "ok",
        {"/nul": "ok", "/surrogate": "ok", "/noncharacter": "ok", "/overlong": "ok"}),
    Row("G8", "charsets", "forty wrong charset labels", g.WRONG_CHARSETS, "ok",
        {f"/{n}": "ok" for n in range(len(g.CHARSETS))}),
    Row("G9", "types", "HTML called a picture, an archive called HTML", g.WRONG_TYPES, "ok",
        {"/picture": "ok", "/zip": "ok"}, requests=4),
    Row("G10", "entities", "entities that multiply or read files", g.ENTITIES, "ok"),
    Row("G11", "scripts", "titles that a browser would run", g.SCRIPTS, "ok"),
    Row("G12", "formulas", "titles that a spreadsheet would run", g.FORMULAS, "ok"),
    Row("G13", "escapes", "titles that a terminal would obey", g.ESCAPES, "ok"),
    Row("G14", "statements", "titles that a database would run", g.STATEMENTS, "ok"),
    Row("G15", "long-title", "a title of 200 KiB", g.LONG_TITLE, "ok"),
    Row("G16", "ever-new", "another body at each visit", g.EVER_NEW, "ok"),
    Row("G17", "robots-in-pages", "noindex and nofollow in pages and headers", g.ROBOTS_IN_PAGES, "ok",
        {"/found": "ok"},
        requests=6),
)  # fmt: skip

_H: Final = (
    Row("H1", "nowhere", "no such name", h.PLAIN, "dns_nxdomain", listener="none"),
    Row("H2", "broken", "the name server fails, refuses, babbles", h.PLAIN, "dns_fail",
        {"refused/": "dns_fail", "malformed/": "dns_fail dns_timeout"}, listener="none",
        seeds=("", "refused", "malformed")),
    Row("H3", "late", "the name is answered after ten seconds", h.PLAIN, "dns_timeout", listener="none"),
    Row("H4", "many", "a thousand addresses; a name that leads to itself", h.PLAIN, "ok", {"loop/": "dns_fail"},
        seeds=("", "loop")),
    Row("H5", "both", "an IPv6 address that leads nowhere, an IPv4 address that works", h.PLAIN, "ok"),
    Row("H6", "certificate", "a certificate of its own making", h.PLAIN, "deferred_robots", listener="tls",
        reason="tls_error"),
    Row("H7", "handshake", "plain HTTP where TLS is expected", h.PLAIN, "deferred_robots", reason="tls_error"),
    Row("H8", "closed", "a closed port", h.PLAIN, "deferred_robots", listener="closed", reason="refused"),
    Row("H9", "backlog", "never accepts", h.PLAIN, "deferred_robots", listener="backlog", reason="timeout_connect"),
    Row("H10", "cut-when-reused", "cuts every second reused connection", h.CUT_WHEN_REUSED, "ok",
        {f"/{n}": "ok" for n in range(10)}, robots=h.CUT_WHEN_REUSED),
    Row("H11", "busy", "503 at first, for every page", h.BUSY_AT_FIRST, "ok", {"/0": "ok", "/1": "ok"}),
    Row("H12", "failing", "ten pages that are all reset", h.FAILING, "ok",
        {f"/{n}": "reset deferred_host" for n in range(10)}),
    Row("H13", "dark", "goes dark for two requests and comes back", h.DARK_FOR_A_WHILE, "ok",
        {f"/{n}": "ok" for n in range(10)}),
    Row("H14", "silent-tls", "a handshake that hangs", h.PLAIN, "deferred_robots", listener="silent",
        reason="timeout_connect"),
    Row("H15", "garbage-tls", "a handshake of garbage", h.PLAIN, "deferred_robots", listener="garbage",
        reason="tls_error"),
)  # fmt: skip

TABLE: Final = (*_A, *_B, *_C, *_D, *_E, *_F, *_G, *_H)
