"""The bodies of pages: exactly as long as the skeleton planned, written from the page's numbers and its version.

A body is head, links and filling. The filling is sliced from the language's pool (`words`), the links are spelled by
`spelling`; a page whose links would not fit is written in the shortest form that holds them all.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from nephila.lab.card import TONGUES, Card
from nephila.lab.draw import draw
from nephila.lab.links import Link
from nephila.lab.mixing import GOLDEN, MASK
from nephila.lab.paths import MakePath, path_of
from nephila.lab.skeleton import Skeleton
from nephila.lab.spelling import (
    CANONICAL,
    FRAMES,
    NEXT,
    REFRESH,
    Where,
    attribute_of,
    in_body,
    shortest,
)
from nephila.lab.words import Pool, pool_of

_DOCTYPE: Final = (
    b'<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">\n<html>\n<head>\n',
    b"<html>\n<head>\n",
    b"<!doctype html>\n<HTML>\n<HEAD>\n",
    b"<html>\n<head>\n",
)
_CHARSETS: Final = {
    tongue.label: (
        f'<meta http-equiv="Content-Type" content="text/html; charset={tongue.label}">\n'.encode("ascii"),
        f'<META charset="{tongue.label}">\n'.encode("ascii"),
    )
    for tongue, _ in TONGUES
}
_END: Final = b"</body>\n</html>\n"
_FRAMES_END: Final = b"</noframes>\n</frameset>\n</html>\n"
_ROOM_OF_A_VERSION: Final = 60
_BASE: Final = 8  # of 256 pages: about 3 % have a base element
_NOFOLLOW: Final = 2  # of 256, by meta element
_NOFOLLOW_HEADER: Final = 3  # of 256, up to here by header
_NOINDEX: Final = 7  # of 256, up to here noindex alone


class Look(NamedTuple):
    """What a page's own draw decides about it, apart from links. One is made per page, so no dataclass."""

    word: int
    follow: bool  # links may be followed
    robots_meta: str
    robots_header: str
    has_base: bool


def original(skeleton: Skeleton, page: int) -> int:
    """The page whose body is shown: a copy shows the page before it (S0-14)."""
    return page - 1 if skeleton.copy.item(page) else page


def look_of(card: Card, skeleton: Skeleton, page: int) -> Look:
    """The look of an original page."""
    word = draw(card.look_key, page)
    part = word & 0xFF
    meta = header = ""
    if page:
        if part < _NOFOLLOW:
            meta = "noindex,nofollow" if word & 0x100 else "NOFOLLOW"
        elif part < _NOFOLLOW_HEADER:
            header = "nofollow"
        elif part < _NOINDEX:
            meta = "noindex"
    has_base = bool(page) and word >> 8 & 0xFF < _BASE and not _reads_anywhere(card, skeleton, page)
    return Look(word, not page or part >= _NOFOLLOW_HEADER, meta, header, has_base)


def write_page(
    card: Card,
    skeleton: Skeleton,
    page: int,
    links: list[Link],
    look: Look,
    version: int,
    make_path: MakePath = path_of,
    generation: int = 0,
) -> bytes:
    """The body of an original page at a version."""
    size_bytes = skeleton.size_bytes.item(page)
    pool = pool_of(card.tongue.language, card.tongue.codec)
    framed = bool(links) and links[0].letter == "f" and all(link.letter == "f" for link in links)
    where = _where(card, skeleton, page, look, make_path, generation)
    head, body = _head(card, page, look, pool), []
    if look.has_base:
        head.append(f'<base href="{card.origin}{where.directory}">\n'.encode("ascii"))
    refreshes = has_anchors = False
    words = pool.words
    count = len(words)
    for link in links:
        word = link.word
        spelling = (word * GOLDEN & MASK) >> 40
        letter = link.letter
        if letter == "a":
            has_anchors = True
            body.append(in_body(link, where, words[(word >> 16) % count], spelling))
        elif framed:
            anchor = words[(word >> 16) % count]
            body.append(FRAMES[spelling >> 12 & 1] % (attribute_of(link, where, spelling), anchor))
        elif link.canonical:
            head.append(CANONICAL % f"{link.origin}{link.path}".replace("&", "&amp;").encode("ascii"))
        elif letter == "h" and spelling >> 20 == 0 and not refreshes:
            head.append(REFRESH[spelling >> 12 & 1] % attribute_of(link, where, spelling))
            refreshes = True
        elif letter == "h" and spelling >> 20 == 1:
            head.append(NEXT % attribute_of(link, where, spelling))
        else:
            body.append(in_body(link, where, words[(word >> 16) % count], spelling))
    if framed:
        head.append(b"</head>\n<frameset cols='20%,*'>\n")
        body.append(b"<noframes>\n")
    else:
        head.append(_opening(card, page, look, pool, has_anchors))
    end = _FRAMES_END if framed else _END
    front, middle = b"".join(head), b"".join(body)
    room = size_bytes - len(front) - len(middle) - len(end)
    if room < (_ROOM_OF_A_VERSION if version else 0):
        return _write_short(card, page, links, look, size_bytes, framed, pool, version)
    word = draw(look.word, version)
    if framed:
        return b"".join((front, middle, *pool.filling(word, room, version), end))
    above, below = room >> 1, room - (room >> 1)
    return b"".join((front, *pool.filling(word, above), middle, *pool.filling(word >> 20, below, version), end))


def _write_short(
    card: Card, page: int, links: list[Link], look: Look, size_bytes: int, framed: bool, pool: Pool, version: int
) -> bytes:
    meta = f"<meta charset={card.tongue.label}>" if card.says_charset_in_meta else ""
    robots = f"<meta name=robots content='{look.robots_meta}'>" if look.robots_meta else ""
    front = f"<html><head>{meta}<title>{page}</title>{robots}</head>".encode("ascii")
    end = b"</html>"
    if framed:
        front += b"<frameset>"
        middle = b"".join(shortest(link).replace(b"<iframe", b"<frame").replace(b"</iframe>", b"") for link in links)
        end = b"</frameset></html>"
    else:
        front += b"<body>"
        middle = b"".join(shortest(link) for link in links)
    room = size_bytes - len(front) - len(middle) - len(end)
    word = draw(look.word, version) if version else look.word
    return b"".join((front, middle, *pool.filling(word, room, version), end))


def _head(card: Card, page: int, look: Look, pool: Pool) -> list[bytes]:
    word = look.word
    words = pool.words
    count = len(words)
    parts = [_DOCTYPE[word >> 16 & 3]]
    if card.says_charset_in_meta:
        full, short = _CHARSETS[card.tongue.label]
        parts.append(full if word >> 18 & 3 or page == 0 else short)
    title = b" ".join((words[(word >> 20) % count], words[(word >> 28) % count], words[(word >> 36) % count]))
    parts.append(b"<title>%b %d-%d</title>\n" % (title, card.site, page))
    if word >> 44 & 7:
        parts.append(
            b'<meta name="description" content="%b %b %b">\n'
            % (words[(word >> 24) % count], title, words[(word >> 40) % count])
        )
    if look.robots_meta:
        parts.append(f'<meta name="robots" content="{look.robots_meta}">\n'.encode("ascii"))
    return parts


def _opening(card: Card, page: int, look: Look, pool: Pool, has_anchors: bool) -> bytes:
    """The end of the head and the first lines of the body, with things that look like links and are none (S3-9)."""
    word = look.word
    host = card.host.encode("ascii")
    parts = [b'<link rel="stylesheet" href="/style.css">\n</head>\n<body bgcolor="#ffffff">\n<h1>%b</h1>\n' % host]
    if word >> 48 & 3 == 0:
        year, month, day = 1999 + (word >> 50) % 5, 1 + (word >> 54) % 12, 1 + (word >> 58) % 28
        parts.append(b"<p class=date>%d-%02d-%02d</p>\n" % (year, month, day))
    if word >> 44 & 15 == 3:
        parts.append(b"<p>http://%b/plain/text%d.html</p>\n" % (host, page))
    if word >> 52 & 15 == 5:
        parts.append(b'<!-- <a href="/old/comment%d.html">old</a> -->\n' % page)
    if has_anchors and word >> 56 & 15 == 7:
        parts.append(b'<a href="mailto:webmaster@%b">%b</a>\n' % (host, pool.words[0]))
    return b"".join(parts)


def _reads_anywhere(card: Card, skeleton: Skeleton, page: int) -> bool:
    """Pages that are served under several paths must not hold relative references."""
    return card.paths.folds_case or (page + 1 < skeleton.pages and skeleton.copy.item(page + 1))


def _where(card: Card, skeleton: Skeleton, page: int, look: Look, make_path: MakePath, generation: int) -> Where:
    codec = card.tongue.codec
    if _reads_anywhere(card, skeleton, page):
        return Where("", "", codec)
    if look.has_base:
        return Where("/" + card.paths.directory(look.word >> 32), "", codec)
    file = make_path(card.paths, page, generation).partition("?")[0]
    return Where(file[: file.rfind("/") + 1], file + "?", codec)
