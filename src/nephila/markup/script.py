"""URLs in scripts (S3-11): where a script sends the browser, without finding out what triggers it.

Only whole string literals count: `location = "…"`, `location.href = "…"`, `location.replace("…")`,
`location.assign("…")` and `window.open("…")`. A literal that is only the beginning of a longer expression
(`"view?id=" + id`) is no URL. Nothing is executed and comments are not told from code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_WORDS: Final = ("location", "window.open")
_BEFORE_LITERAL: Final = re.compile(
    r"(?<![\w$-])(?<!var )(?<!let )(?<!const )"
    r"(?:location\s*+(?:(?>(?:\.\s*+href\s*+)?)=(?!=)|\.\s*+(?:replace|assign)\s*+\()|window\.open\s*+\()\s*+"
)
_LITERAL: Final = re.compile(r"\"((?>(?:[^\"\\\r\n]|\\.)*))\"|'((?>(?:[^'\\\r\n]|\\.)*))'", re.DOTALL)
_GOES_ON: Final = re.compile(r"\s*+[+.]")
_ESCAPE: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|(.))", re.DOTALL)


def urls_in(code: str) -> Iterator[str]:
    """The URLs that a piece of code goes to, as its author meant them: escapes replaced, blanks around them gone."""
    for word in _WORDS:
        at = code.find(word)
        while at >= 0:
            after = at + len(word)
            before = _BEFORE_LITERAL.match(code, at)
            literal = _LITERAL.match(code, before.end()) if before else None
            if literal:
                after = literal.end()
                url = _ESCAPE.sub(_character, literal[1] or literal[2] or "").strip()
                if url and not _GOES_ON.match(code, after):
                    yield url
            at = code.find(word, after)


def _character(escape: re.Match[str]) -> str:
    number = escape[1] or escape[2]
    if not number:
        return {"n": "\n", "t": "\t", "r": "\r", "\n": ""}.get(escape[3], escape[3])
    character = chr(int(number, 16))
    return "\ufffd" if "\ud800" <= character <= "\udfff" else character
