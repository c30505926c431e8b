"""Which charset a body is in: byte order mark, HTTP header, meta element, valid UTF-8, detection, in this order.

Labels mean what they mean on the web (WHATWG): euc-kr is CP949, shift_jis is CP932, latin1 is windows-1252. The answer
is a Python codec that exists, so decoding with "replace" never raises.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final

from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5


@dataclass(frozen=True, slots=True)
class Charset:
    """`encoding` is the Python codec to decode with, `declared` the label somebody wrote (None: nobody did)."""

    encoding: str
    declared: str | None


_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UNMARKED_UTF16: Final = {b"<\0": "utf-16-le", b"\0<": "utf-16-be"}
# Where a label's meaning on the web is wider than the Python codec of that name, and labels that pages use although
# WHATWG does not list them. iso-2022-kr is no longer read by browsers; old Korean pages are in it all the same.
_MEANINGS: Final = {
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
}
_UNLISTED: Final = {
    "iso-2022-kr": "iso2022_kr",
    "csiso2022kr": "iso2022_kr",
    "cp949": "cp949",
    "ms949": "cp949",
    "uhc": "cp949",
    "x-windows-949": "cp949",
    "cp932": "cp932",
    "cp936": "gb18030",
    "hz-gb-2312": "hz",
    "utf-32": "utf-32",
    "x-user-defined": "cp1252",
    "iso-8859-8-i": "iso8859-8",
    "x-mac-cyrillic": "mac_cyrillic",
    "x-mac-ukrainian": "mac_cyrillic",
    "macintosh": "mac_roman",
    "mac": "mac_roman",
    "x-mac-roman": "mac_roman",
    "csmacintosh": "mac_roman",
}
_EXTENDS_ASCII_NOT: Final = re.compile(r"utf[-_]?(?:16|32)|iso[-_]?2022|hz", re.IGNORECASE)
_HEADER: Final = re.compile(r"(?:[;\s]|^)charset[ \t]*+=[ \t]*+[\"']?+([^\"';,\s]++)", re.IGNORECASE)
_XML_DECLARATION: Final = re.compile(rb"<\?xml[^>]*?encoding[ \t\n\r]*+=[ \t\n\r]*+[\"']([A-Za-z0-9._:-]++)[\"']")
_PRESCAN_BYTES: Final = 1024
_DETECTION_BYTES: Final = 64 * 1024
_META_STEP: Final = re.compile(rb"<!--|<meta(?=[ \t\n\f\r/])|</?[A-Za-z]|<[!/?]", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(
    rb"[ \t\n\f\r/]*+(?:(>)|([^ \t\n\f\r/>][^ \t\n\f\r/>=]*+)"
    rb"(?>(?:[ \t\n\f\r]*+=[ \t\n\f\r]*+(?>(?:\"([^\"]*+)\"|'([^']*+)'|([^ \t\n\f\r\"'>][^ \t\n\f\r>]*+))?))?))"
)
_IN_CONTENT: Final = re.compile(
    rb"charset[ \t\n\f\r]*+=[ \t\n\f\r]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^ \t\n\f\r;\"']++))", re.IGNORECASE
)


def extends_ascii(encoding: str) -> bool:
    """Whether markup can be found in the bytes as they are."""
    return _EXTENDS_ASCII_NOT.match(encoding) is None


def codec_for(label: str) -> str | None:
    """The Python codec that a label means on the web, or None for a label nobody knows."""
    label = label.strip().lower()
    codec = _UNLISTED.get(label)
    if codec is None and label.isascii() and "\0" not in label:
        codec = map_encoding_to_html5(label, False)
    if codec is None:
        return None
    codec = _MEANINGS.get(codec, codec)
    try:
        codecs.lookup(codec)
    except LookupError:
        return None
    return codec


def choose(body: bytes, content_type: str | None) -> Charset:
    """The charset of a body that came with this Content-Type header."""
    in_header = declared_in_header(content_type or "")
    codec = codec_for(in_header) if in_header else None
    declared = in_header
    if codec is None:
        in_meta = declared_in_meta(body[:_PRESCAN_BYTES])
        if in_meta:
            declared, codec = in_meta, _codec_for_meta(in_meta)
    for mark, marked in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return Charset(marked, declared)
    if codec is not None:
        return Charset(codec, declared)
    if body[:2] in _UNMARKED_UTF16:
        return Charset(_UNMARKED_UTF16[body[:2]], declared)
    if _is_utf8(body):
        return Charset(_escaped_charset(body), declared)
    late = declared_in_meta(body[:_DETECTION_BYTES])  # old pages begin with long scripts
    if late and (codec := _codec_for_meta(late)):
        return Charset(codec, late)
    return Charset(_detect(body), declared)


def declared_in_header(content_type: str) -> str | None:
    """The label in a Content-Type header."""
    label = _HEADER.search(content_type)
    return label[1] if label else None


def declared_in_meta(start: bytes) -> str | None:
    """The label in a meta element, or in an XML declaration, at the start of a body (WHATWG "prescan")."""
    at = 0
    while step := _META_STEP.search(start, at):
        at = step.end()
        if step[0] == b"<!--":
            end = start.find(b"-->", at - 2)
            at = len(start) if end < 0 else end + 3
        elif step[0][-1:].isalpha():
            is_meta = len(step[0]) == 5
            label, at = _read_tag(start, at if is_meta else _name_end(start, at))
            if is_meta and label is not None:
                return label
        else:
            at = start.find(b">", at) + 1 or len(start)
    declaration = _XML_DECLARATION.match(start)
    return declaration[1].decode("ascii") if declaration else None


def _name_end(start: bytes, at: int) -> int:
    while at < len(start) and start[at] not in b" \t\n\f\r/>":
        at += 1
    return at


def _read_tag(start: bytes, at: int) -> tuple[str | None, int]:
    """The charset that a tag's attributes declare, if it were a meta element, and where the tag ends."""
    attributes: dict[bytes, bytes] = {}
    while attribute := _ATTRIBUTE.match(start, at):
        at = attribute.end()
        if attribute[1]:
            break
        attributes.setdefault(attribute[2].lower(), attribute[3] or attribute[4] or attribute[5] or b"")
    else:
        return None, len(start)
    label: bytes | None = attributes.get(b"charset")
    if label is None and attributes.get(b"http-equiv", b"").lower() == b"content-type":
        match = _IN_CONTENT.search(attributes.get(b"content", b""))
        label = (match[1] or match[2] or match[3]) if match else None
    if label is None or codec_for(label.decode("latin-1")) is None:
        return None, at
    return label.decode("latin-1").strip(), at


def _codec_for_meta(label: str) -> str | None:
    """A label that could be read as ASCII is wrong when it names UTF-16 (WHATWG)."""
    codec = codec_for(label)
    return "utf-8" if codec and codec.startswith(("utf-16", "utf-32")) else codec


def _is_utf8(body: bytes) -> bool:
    """Valid, with a last character that a limit cut in two forgiven."""
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(body)
    except UnicodeDecodeError:
        return False
    return True


def _escaped_charset(body: bytes) -> str:
    """Bytes that are valid UTF-8 may also switch between charsets by escape sequences."""
    if b"\x1b$" not in body:
        return "utf-8"
    return "iso2022_kr" if b"\x1b$)C" in body else "iso2022_jp"


def guess(body: bytes) -> str:
    """The charset of a body by its bytes alone, whatever it declares."""
    return _escaped_charset(body) if _is_utf8(body) else _detect(body)


def _detect(body: bytes) -> str:
    """What the bytes look like. Asked for web labels, the detector turns CP949, which it knows, into utf-8;
    so it is asked for its own names."""
    found = detect_encoding(body[:_DETECTION_BYTES], html5_compatible=False)
    if not found:
        return "cp1252"
    try:
        return codec_for(found) or codecs.lookup(found).name
    except LookupError:
        return "cp1252"
