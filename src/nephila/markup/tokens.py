"""One pass over the bytes of a page: where its tags are, by the rules of the HTML5 tokenizer that decide it.

This is the pure-Python form; `_scan.c` is the compiled one. A descendant of S3-10's finite-state machine: comments,
CDATA, raw text elements, quoting, duplicate attributes and unclosed things are read as a browser reads them (with
scripting off, so that noscript holds markup). Bytes come in, in any charset that extends ASCII; what goes out are
byte strings as written, still to be decoded (`scan.py` does that, once for both forms).

Every pattern is possessive: it never goes back, so the time is linear in the page. The invariant: both forms give
equal results for every input.
"""

from __future__ import annotations

import re
from typing import Final

from nephila.markup.findings import Link, Mark, Origin, RawLink, Tokens

# Never going back over a group is written (?>(?:…)*) and not (?:…)*+: Python 3.11.0 to 3.11.4, Debian 12's among them,
# leave the place where a possessive group failed half way as if it had matched (gh-106052).

# An unclosed quote runs to the end of the page, where the ">" that _TAG asks for is missing: such a tag is dropped.
_ATTRIBUTE: Final = (
    rb"[^ \t\n\f\r/>][^ \t\n\f\r/>=]*+"
    rb"(?>(?:[ \t\n\f\r]*+=[ \t\n\f\r]*+(?>(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^ \t\n\f\r\"'>][^ \t\n\f\r>]*+)?))?)"
)
_TAG: Final = re.compile(rb"([^ \t\n\f\r/>]*+)((?>(?:[ \t\n\f\r/]++|" + _ATTRIBUTE + rb")*))>")
_ATTRIBUTES: Final = re.compile(
    rb"([^ \t\n\f\r/>][^ \t\n\f\r/>=]*+)"
    rb"(?>(?:[ \t\n\f\r]*+=[ \t\n\f\r]*+(?>(?:\"([^\"]*+)\"|'([^']*+)'|([^ \t\n\f\r\"'>][^ \t\n\f\r>]*+))?))?)"
)
_COMMENT_END: Final = re.compile(rb"--!?>")
_SCRIPT_STEP: Final = re.compile(rb"<!--|-->|<(/?)script(?=[ \t\n\f\r/>])", re.IGNORECASE)
_PRINTABLE: Final = re.compile(rb"[ -%'-~]*+")
_RUN: Final = re.compile(rb"[ \t\n\f\r\0]+")
_RAW_TEXT: Final = frozenset({b"iframe", b"style", b"textarea", b"xmp", b"noembed", b"noframes", b"title", b"script"})
_RAW_TEXT_END: Final = {name: re.compile(rb"</" + name + rb"(?=[ \t\n\f\r/>])", re.IGNORECASE) for name in _RAW_TEXT}
_INLINE: Final = frozenset(b"b i u s em tt big sub sup wbr font code mark nobr span small strong".split())
_BREAKS_OUT: Final = frozenset(
    b"b i p s u br dd dl dt em hr li ol tt ul h1 h2 h3 h4 h5 h6 big div img pre sub sup var body code head menu meta "
    b"nobr ruby span embed small table center strike strong listing blockquote desc title foreignobject".split()
)
_WANTED: Final = frozenset(b"a area frame iframe base link meta".split())
# Text and plain tags that change nothing as long as no anchor is open: most of a page, passed over in one match.
_DULL: Final = re.compile(
    rb"(?>(?:[^<]++|</?(?!(?:"
    + b"|".join(sorted(_WANTED | _RAW_TEXT | {b"template", b"svg", b"math", b"plaintext"}))
    + rb")[ \t\n\f\r/>])[A-Za-z][A-Za-z0-9]*+"
    rb"(?>(?:[ \t\n\f\r]++(?!on)[A-Za-z][A-Za-z-]*+=(?:\"[^\"]*+\"|'[^']*+'|[A-Za-z0-9#%_-]++(?=[ \t\n\f\r>])))*)"
    rb"[ ]?+/?+>)*)",
    re.IGNORECASE,
)
_ALPHA: Final = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_LINK_ELEMENTS: Final = {
    b"a": (Origin.A, b"href"),
    b"area": (Origin.AREA, b"href"),
    b"frame": (Origin.FRAME, b"src"),
    b"iframe": (Origin.IFRAME, b"src"),
}


def tokenise(body: bytes, max_links: int, max_href: int, max_anchor: int, max_title: int) -> Tokens:
    """All that a page says about its links, in one pass."""
    return _Page(body, max_links, max_href, max_anchor, max_title).read()


def _contains_code(text: bytes) -> bool:
    return b"location" in text or b"window.open" in text


def _text_or_bytes(raw: bytes) -> str | bytes:
    return raw.decode("ascii").strip(" ") if _PRINTABLE.fullmatch(raw) else raw


def _finished(href: str | bytes, origin: int, nofollow: bool, anchor: str | bytes) -> Link | RawLink:
    """A `Link`, unless there is something to decode or the href may be code (javascript:)."""
    if isinstance(href, str) and isinstance(anchor, str) and href[:1] not in ("j", "J"):
        return Link(href, Origin(origin), nofollow, anchor)
    return href, origin, nofollow, anchor


def _one_gap(run: re.Match[bytes]) -> bytes:
    """A run of blanks is one blank; NUL, which text cannot hold, marks a tag inside a word."""
    blanks = run[0]
    if blanks[0]:
        return b" "
    return b"\0 " if blanks.strip(b"\0") else b"\0"


_ENDS: Final = frozenset(bytes([sign]) for sign in range(33))


class _Page:
    """The state of the pass over one page."""

    def __init__(self, body: bytes, max_links: int, max_href: int, max_anchor: int, max_title: int) -> None:
        self.body = body
        self.max_links, self.max_href, self.max_anchor, self.max_title = max_links, max_href, max_anchor, max_title
        self.link_count = self.too_long = self.template_depth = 0
        self.links: dict[tuple[bytes, int], tuple[bool, bytes]] = {}
        self.marks: list[tuple[int, bytes, bytes]] = []
        self.scripts: list[bytes] = []
        self.handlers: list[bytes] = []
        self.title: bytes | None = None
        self.open_link: tuple[bytes, int] | None = None
        self.text = bytearray()
        self.foreign = False

    def read(self) -> Tokens:
        body, size = self.body, len(self.body)
        at: int | None = 0
        while at is not None and at < size:
            if self.open_link is None and not self.foreign:
                dull = _DULL.match(body, at)
                at = dull.end() if dull else at
            less = body.find(b"<", at)
            if self.open_link is not None:
                self.append_text(body[at : less if less >= 0 else size])
            if less < 0 or size - less < 2:
                break
            at = self.read_markup(less)
        self.close_anchor()
        links = [
            _finished(_text_or_bytes(href), origin, nofollow, _text_or_bytes(anchor))
            for (href, origin), (nofollow, anchor) in self.links.items()
        ]
        return Tokens(links, self.link_count, self.too_long, self.marks, self.scripts, self.handlers, self.title)

    def read_markup(self, less: int) -> int | None:
        """From a "<" to after what it begins; None when the page ends inside it."""
        sign = self.body[less + 1]
        if sign in _ALPHA:
            return self.read_start_tag(less + 1)
        if sign == 0x2F and self.body[less + 2 : less + 3].isalpha():
            return self.read_end_tag(less + 2)
        if sign in b"!?/":
            end = self.declaration_end(less) if sign == 0x21 else self.body.find(b">", less) + 1
            if not end:
                return None
            self.append_text(b"\0")
            return end
        self.append_text(b"<")
        return less + 1

    def read_start_tag(self, start: int) -> int | None:
        tag = _TAG.match(self.body, start)
        if tag is None:
            return None
        name, written, end = tag[1].lower(), tag[2], tag.end()
        live = self.template_depth == 0
        if live and _contains_code(written):
            self.add_handlers(written)
        self.part_words(name)
        if self.foreign and name in _BREAKS_OUT:
            self.foreign = False
            if name == b"title":  # svg's own title holds HTML but is no title of the page
                return end
        if name in _WANTED:
            if live:
                self.add_element(name, _read_attributes(written))
        elif name == b"template":
            self.template_depth += not self.foreign
        elif name in (b"svg", b"math"):
            self.foreign = self.foreign or not _is_self_closing(written)
        elif name == b"plaintext" and not self.foreign:
            return len(self.body)
        if name in _RAW_TEXT and not self.foreign:
            return self.read_raw_text(name, end, live)
        return end

    def read_end_tag(self, start: int) -> int | None:
        tag = _TAG.match(self.body, start)
        if tag is None:
            return None
        name = tag[1].lower()
        self.part_words(name)
        if name in (b"svg", b"math"):
            self.foreign = False
        if name == b"template" and self.template_depth:
            self.template_depth -= 1
        return tag.end()

    def read_raw_text(self, name: bytes, start: int, live: bool) -> int:
        end = self.script_end(start) if name == b"script" else self.raw_text_end(name, start)
        if live and name == b"title" and self.title is None:
            self.title = self.body[start : min(end, start + self.max_title)]
        if live and name == b"script" and _contains_code(self.body[start:end]):
            self.scripts.append(self.body[start:end])
        return end

    def raw_text_end(self, name: bytes, start: int) -> int:
        end = _RAW_TEXT_END[name].search(self.body, start)
        return end.start() if end else len(self.body)

    def script_end(self, start: int) -> int:
        """Where `</script` ends the element: "<!--" hides "<script>…</script>" pairs until "-->"."""
        escaped = twice = False
        while step := _SCRIPT_STEP.search(self.body, start):
            start = step.end()
            if step[0] == b"<!--":
                escaped, start = True, step.start() + 2  # its dashes may belong to "-->" too
            elif step[0] == b"-->":
                escaped = twice = False
            elif step[1] and not twice:
                return step.start()
            else:
                twice = escaped and not step[1]
        return len(self.body)

    def declaration_end(self, less: int) -> int:
        body, size = self.body, len(self.body)
        if body.startswith(b"<!--", less):
            for abrupt in (b">", b"->"):
                if body.startswith(abrupt, less + 4):
                    return less + 4 + len(abrupt)
            closed = _COMMENT_END.search(body, less + 4)
            return closed.end() if closed else size
        if self.foreign and body.startswith(b"<![CDATA[", less):
            return (body.find(b"]]>", less + 9) + 3) if body.find(b"]]>", less + 9) >= 0 else size
        return body.find(b">", less) + 1 or size

    def add_handlers(self, written: bytes) -> None:
        for attribute in _ATTRIBUTES.finditer(written):
            value = _value(attribute)
            if len(attribute[1]) > 2 and attribute[1][:2].lower() == b"on" and _contains_code(value):
                self.handlers.append(value)

    def add_element(self, name: bytes, attributes: dict[bytes, bytes]) -> None:
        rel = attributes.get(b"rel")
        if name in _LINK_ELEMENTS:
            origin, attribute = _LINK_ELEMENTS[name]
            address = attributes.get(attribute)
            follows_rel = origin in (Origin.A, Origin.AREA) and rel is not None
            if address is not None:
                self.add_link(address, origin, follows_rel and b"nofollow" in (rel or b"").lower())
        elif name == b"base":
            self.add_mark(Mark.BASE, attributes.get(b"href"), b"")
        elif name == b"link":
            if rel is not None:
                self.add_mark(Mark.LINK, attributes.get(b"href"), rel)
        else:
            if attributes.get(b"name", b"").lower() == b"robots":
                self.add_mark(Mark.ROBOTS, attributes.get(b"content"), b"")
            if attributes.get(b"http-equiv", b"").lower() == b"refresh":
                self.add_mark(Mark.REFRESH, attributes.get(b"content"), b"")

    def add_mark(self, mark: Mark, value: bytes | None, rel: bytes) -> None:
        if value is not None and len(self.marks) < self.max_links:
            self.marks.append((int(mark), value, rel))

    def add_link(self, href: bytes, origin: Origin, nofollow: bool) -> None:
        self.link_count += 1
        if len(href) > self.max_href:
            self.too_long += 1
            return
        key = (_without_fragment(href), int(origin))
        known = self.links.get(key)
        if known is not None:
            self.links[key] = (known[0] and nofollow, known[1])
        elif len(self.links) < self.max_links:
            self.links[key] = (nofollow, b"")
        else:
            return
        if origin is Origin.A and not (known and known[1]):
            self.open_link = key

    def part_words(self, name: bytes) -> None:
        """A tag ends an anchor, parts two words of it, or stands inside a word: <b>K</b>orea is one word."""
        if name == b"a":
            self.close_anchor()
        elif self.open_link is not None:
            self.append_text(b"\0" if name in _INLINE else b" ")

    def append_text(self, text: bytes) -> None:
        room = self.max_anchor - len(self.text)
        if self.open_link is not None and room > 0:
            last = bytes(self.text[-1:]) or b" "
            self.text += _RUN.sub(_one_gap, last + text)[1 : room + 1]

    def close_anchor(self) -> None:
        if self.open_link is not None:
            self.links[self.open_link] = (self.links[self.open_link][0], bytes(self.text))
            self.open_link = None
            self.text.clear()


def _without_fragment(href: bytes) -> bytes:
    """What leads to the same page is one link. Not where a "&" may mean that the "#" is none, behind a blank, which
    would then stand at the end and be lost, nor in code."""
    page, mark, _ = href.partition(b"#")
    if not mark or b"&" in page or page[-1:] in _ENDS or page.lstrip(b" \n\t\r\f")[:1] in (b"j", b"J"):
        return href
    return page


def _value(attribute: re.Match[bytes]) -> bytes:
    return attribute[2] or attribute[3] or attribute[4] or b""


def _read_attributes(written: bytes) -> dict[bytes, bytes]:
    """Lower-case names with their values; the first of equal attributes wins."""
    attributes: dict[bytes, bytes] = {}
    for attribute in _ATTRIBUTES.finditer(written):
        attributes.setdefault(attribute[1].lower(), _value(attribute))
    return attributes


def _is_self_closing(written: bytes) -> bool:
    """Whether the last "/" stands alone: at the end of an unquoted value it belongs to the value."""
    if not written.endswith(b"/"):
        return False
    last_end = 0
    for attribute in _ATTRIBUTES.finditer(written):
        last_end = attribute.end()
    return last_end < len(written)
