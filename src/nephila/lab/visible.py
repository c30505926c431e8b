"""How much of a page a reader sees: its bytes without comments, scripts, styles and tags."""

from __future__ import annotations

import re
from typing import Final

_HIDDEN: Final = re.compile(rb"(?is)<!--.*?-->|<(script|style|title)\b.*?</\1\s*>|<[^>]*>")
_BLANKS: Final = re.compile(rb"\s+")


def visible_bytes(body: bytes) -> int:
    """Good enough for a share over many of the lab's own pages; no parser for the web's."""
    return len(_BLANKS.sub(b" ", _HIDDEN.sub(b"", body)))
