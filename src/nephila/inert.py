"""Text of the web made harmless: characters that act on a terminal or a browser are written out.

Controls, and the signs that turn the direction of text and so make one address look like another (RELIABILITY C7, C9).
"""

from __future__ import annotations

import re
from typing import Final

_ACTING: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def inert(text: str) -> str:
    """The text with every character that acts written out."""
    return _ACTING.sub(lambda found: f"⟨{ord(found[0]):04x}⟩", text)


def finalize(value: object) -> object:
    """For templates: nothing for None, inert text, and what is already markup as it is."""
    if value is None:
        return ""
    return inert(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
