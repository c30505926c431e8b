"""Character references (&amp; &#54620; &copy) as HTML5 reads them, in text and in attributes."""

from __future__ import annotations

import html
import re
from html.entities import html5
from typing import Final

_REFERENCE: Final = re.compile(r"&(?:#[xX][0-9A-Fa-f]+|#[0-9]+|[A-Za-z][A-Za-z0-9]*);?=?")
_MOST_DIGITS: Final = 7
_WINDOWS_1252: Final = {
    code: bytes([code]).decode("cp1252") for code in range(0x80, 0xA0) if code not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}


def decode_text(text: str) -> str:
    """Text with its references replaced; a name need not end in ";" (&copyright is ©right)."""
    return _REFERENCE.sub(_in_text, text) if "&" in text else text


def decode_attribute(value: str) -> str:
    """An attribute's value with its references replaced; ?a=1&copy=2 keeps its parameter, &amp;copy is &copy."""
    return _REFERENCE.sub(_in_attribute, value) if "&" in value else value


def _in_text(reference: re.Match[str]) -> str:
    written = reference[0]
    return _number(written) if written[1] == "#" else html.unescape(written)


def _in_attribute(reference: re.Match[str]) -> str:
    written = reference[0]
    if written[1] == "#":
        return _number(written)
    name = written[1:].removesuffix("=")
    if written[-1] == "=" and not name.endswith(";"):
        return written
    return html5[name] + written[1 + len(name) :] if name in html5 else written


def _number(written: str) -> str:
    """The character of a number, with what follows it; 128 to 159 mean windows-1252, as pages of old meant them."""
    rest = "=" if written.endswith("=") else ""
    digits = written[2:].rstrip(";=")
    is_hexadecimal = digits[0] in "xX"
    digits = digits.lstrip("xX").lstrip("0") or "0"
    if len(digits) > _MOST_DIGITS:  # turning a number of any length into an integer would cost its square
        return "\ufffd" + rest
    code = int(digits, 16 if is_hexadecimal else 10)
    if code == 0 or 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        return "\ufffd" + rest
    return _WINDOWS_1252.get(code, chr(code)) + rest
