"""Character references (&amp; &#54620; &copy) as HTML5 reads them, in text and in attributes."""

from __future__ import annotations

import html
import re
from html.entities import html5
from typing import Final

_REFERENCE: Final = re.compile(r"&(?:#[xX][0-9A-Fa-f]+|#[0-9]+|[A-Za-z][A-Za-z0-9]*);?=?")
_LONGEST_NUMBER: Final = 12


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
    """The character of a number; a long one is no character, and turning it into an integer would cost its square."""
    if len(written) > _LONGEST_NUMBER and len(written.lstrip("&#xX0").rstrip(";=")) > _LONGEST_NUMBER:
        return "\ufffd" + ("=" if written.endswith("=") else "")
    return html.unescape(written)
