"""Word lists are written as lines of text; this reads them."""

from __future__ import annotations


def listed(text: str) -> tuple[str, ...]:
    """The words of a text, in order."""
    return tuple(text.split())
