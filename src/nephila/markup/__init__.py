"""The life of a body in this room: it arrives as bytes, `charset.choose` says how to read them, and `scan` passes over
them once and gives back a `Scan`: links with their kind and anchor text, base, title, robots rules, refresh.

The pass is done by the compiled tokenizer (`_scan.c`) where it was built, else by its twin in Python (`tokens.py`);
NEPHILA_PURE=1 forces the twin. Both see bytes only, never a tree, so that no page can cost more than its length.
"""

from __future__ import annotations

import os

from nephila.markup import tokens
from nephila.markup.charset import Charset, choose
from nephila.markup.findings import Link, Origin
from nephila.markup.scan import Limits, Refresh, Scan, Tokeniser, document_base, scan_with

__all__ = ["COMPILED", "Charset", "Limits", "Link", "Origin", "Refresh", "Scan", "choose", "document_base", "scan"]


def _tokeniser() -> tuple[Tokeniser, bool]:
    if os.environ.get("NEPHILA_PURE") != "1":
        try:
            from nephila.markup import _scan  # type: ignore[attr-defined]
        except ImportError:
            pass
        else:
            return _scan.tokenise, True
    return tokens.tokenise, False


_tokenise, COMPILED = _tokeniser()
_LIMITS = Limits()


def scan(body: bytes, encoding: str = "utf-8", limits: Limits = _LIMITS) -> Scan:
    """What a page says about itself and its links, in one pass; `encoding` is a codec that `choose` named."""
    return scan_with(_tokenise, body, encoding, limits)
