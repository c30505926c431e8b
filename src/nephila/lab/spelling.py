"""How a link is written in a page: the reference (absolute, relative, with entities) and the markup around it (4.10).

Every form means the same to an HTML5 parser and the URL standard; none is outside what S1-46, S3-10, S3-11 and
S3-14 speak of. Templates and references are bytes in the page's encoding.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import unquote

from nephila.lab.links import Link

_A: Final = (
    b'<a href="%b">%b</a>\n',
    b'<li><a href="%b">%b</a></li>\n',
    b"<A HREF='%b'>%b</A><br>\n",
    b"<a href=%b >%b</a> |\n",
    b'<a   class="m"  href = "%b"  >%b</a>\n',
    b'<a\nhref="%b"\ntarget=_top>%b</a>\n',
    b'<a href="  %b ">%b</a>\n',
    b"<p><a title='a > b' href=\"%b\">%b<br>\n",
    b'<a title="x"href="%b">%b</a>\n',
    b'<a href="%b" href="/second.html">%b</a>\n',
    b'<b><a href="%b"><font size=2>%b</b></font></a>\n',
    b'<a name=top><A onMouseOver="window.status=1" Href="%b">%b</A>\n',
)
_H_BODY: Final = (
    b'<script language="JavaScript">\n<!--\nfunction go() { location.href = "%b"; }\n//-->\n</script>%b\n',
    b"<script>window.open('%b', 'win', 'width=400');</script>%b\n",
    b'<map name="m"><area shape="rect" coords="0,0,9,9" href="%b" alt="%b"></map>\n',
    b"<span onclick=\"location.href='%b'\">%b</span>\n",
    b"<a href=\"javascript:window.open('%b')\">%b</a>\n",
    b"<AREA HREF='%b' title='%b'>\n",
    b"<script type=text/javascript>top.location.href='%b'</script>%b\n",
    b'<SCRIPT>\nlocation.replace("%b");\n</SCRIPT>%b\n',
)
_IN_SCRIPT: Final = frozenset((0, 1, 6, 7))
_ON_CLICK: Final = 3
_SCRIPT_URL: Final = 4
_F: Final = (
    b'<iframe src="%b" width=300 height=200></iframe>%b\n',
    b"<IFRAME SRC='%b' frameborder=0></IFRAME>%b\n",
)
FRAMES: Final = (b'<frame src="%b" name="%b">\n', b"<FRAME noresize SRC='%b' title='%b'>\n")
REFRESH: Final = (
    b'<meta http-equiv="refresh" content="600; URL=%b">\n',
    b"<META HTTP-EQUIV=Refresh CONTENT='900;url=%b'>\n",
)
NEXT: Final = b'<link rel="next" href="%b">\n'
CANONICAL: Final = b'<link rel="canonical" href="%b">\n'
_SHORT: Final = {"a": b"<a href=%b>a</a>", "f": b"<iframe src=%b></iframe>", "h": b"<area href=%b>"}


class Where(NamedTuple):
    """Where a page stands: what relative references in it are relative to. One is made per page, so no dataclass."""

    directory: str  # of the page or of its base element; "" where the page must read the same everywhere
    queried: str  # the page's own path up to and with "?"; "" where a base element stands in its place
    codec: str


def reference(link: Link, where: Where, spelling: int) -> str:
    """The link's URL as written, before entities; `spelling` is 24 bits drawn for this link."""
    origin, path, _, session, inside, _, _ = link
    if session:
        path = with_session(path, session)
    if not inside:
        if path == "/" and spelling & 3 == 1:
            return origin
        return (origin if spelling & 7 else origin[5:]) + path
    choice = spelling & 7
    directory, queried, _ = where
    if choice > 3 and directory:
        if queried and path.startswith(queried):
            written = path[len(queried) - 1 :]
        elif path.startswith(directory):
            rest = path[len(directory) :]
            written = "./" + rest if not rest or spelling & 0x100 else rest
        else:
            written = "../" * (directory.count("/") - 1) + path[1:] or "./"
    elif choice > 1:
        written = path
    else:
        written = (origin if choice else origin[5:]) + path
    return written + "#top" if spelling & 0xF0 == 0x50 else written


def with_session(path: str, session: str) -> str:
    """The path with a session id, as a path parameter or in the query (S0-14)."""
    front, mark, query = path.partition("?")
    if session.startswith("sid="):
        return f"{front}?{query}&{session}" if mark else f"{front}?{session}"
    return f"{front};{session}{mark}{query}"


def attribute_of(link: Link, where: Where, spelling: int) -> bytes:
    """The reference of a link as an attribute's value."""
    return in_attribute(reference(link, where, spelling), link, where, spelling)


def in_attribute(written: str, link: Link, where: Where, spelling: int) -> bytes:
    """A reference inside an attribute: & as an entity or bare, Korean words as bytes of the page or percent-encoded."""
    if "%" in written and spelling & 0x200 and link.inside and link.letter != "h":
        front, mark, query = written.partition("?")
        written = unquote(front) + mark + unquote(query, where.codec)
    if "&" in written and spelling & 0x400:
        written = written.replace("&", "&amp;")
    return written.encode() if written.isascii() else written.encode(where.codec)  # looking up a codec takes longer


def in_body(link: Link, where: Where, anchor: bytes, spelling: int) -> bytes:
    """The whole markup of one link for a page's body."""
    written = reference(link, where, spelling)
    letter = link.letter
    if letter == "a":
        if "%" not in written and "&" not in written:
            return _A[(spelling >> 12) % len(_A)] % (written.encode(), anchor)
        return _A[(spelling >> 12) % len(_A)] % (in_attribute(written, link, where, spelling), anchor)
    if letter == "f":
        return _F[spelling >> 12 & 1] % (in_attribute(written, link, where, spelling), anchor)
    form = (spelling >> 12) % len(_H_BODY)
    if form == _SCRIPT_URL and "%" in written:  # percent signs are decoded before such a script would run
        form = _ON_CLICK
    if form in _IN_SCRIPT:
        return _H_BODY[form] % (written.encode("ascii"), anchor)
    return _H_BODY[form] % (in_attribute(written, link, where, spelling), anchor)


def shortest(link: Link) -> bytes:
    """The link in as few bytes as will do, for pages that have no room to spare."""
    written = with_session(link.path, link.session) if link.session else link.path
    return _SHORT[link.letter] % (written if link.inside else link.origin + written).encode("ascii")
