"""The language of a text: py3langid's own door. Its model is loaded at the first question, once per process."""

from __future__ import annotations

from typing import Final

import numpy as np

SAMPLE_BYTES: Final = 192
"""In two pieces as good as 256 in one: 357 of 408 manual pages, where 1,024 bytes are right on 361."""
MIN_LETTERS: Final = 12
_SCRIPT_CHARACTERS: Final = 4000
_SCRIPT_SHARE: Final = 0.2
_DECLARED_SHARE: Final = 0.02
_SCRIPTS: Final = ((0xAC00, 0xD7A3, "ko"), (0x3041, 0x30FE, "ja"))
"""First and last letter, and the language that alone is written in them."""
_NO_LANGUAGE: Final = "zxx"
_WRITTEN_AS: Final = {"yue": "zh"}  # Cantonese has no code of two letters, and few words tell it from Chinese


def load_model() -> None:
    """Load the model now: half a second that should not count against the first page."""
    import py3langid

    py3langid.classify("")


def language_of(text: str, declared: str | None) -> str | None:
    """ISO 639-1 code; short texts are taken at their word (`declared`, the html element's lang)."""
    if (written := _by_script(text, _primary(declared))) is not None:
        return written
    sample = _sample(text)
    if sum(map(str.isalpha, sample)) < MIN_LETTERS:
        return _primary(declared)
    import py3langid

    found = str(py3langid.classify(sample)[0])
    return None if found == _NO_LANGUAGE else _WRITTEN_AS.get(found, found)


def _by_script(text: str, declared: str | None) -> str | None:
    """Hangul is Korean and Kana Japanese, also on pages full of Latin names, the more so if they are declared to be."""
    start = text[:_SCRIPT_CHARACTERS]
    if start.isascii():
        return None
    letters = np.frombuffer(start.encode("utf-32-le", "replace"), np.uint32)
    written = int(np.count_nonzero(letters > ord(" ")))
    for first, last, language in _SCRIPTS:
        share = _DECLARED_SHARE if declared == language else _SCRIPT_SHARE
        if np.count_nonzero((letters >= first) & (letters <= last)) > written * share:
            return language
    return None


def _sample(text: str) -> str:
    """Two pieces from behind the beginning, which on many pages is a menu in another language."""
    encoded = text[:8_000].encode("utf-8", "ignore")
    if len(encoded) <= SAMPLE_BYTES:
        return text
    pieces = (encoded[start : start + SAMPLE_BYTES // 2] for start in (len(encoded) // 4, len(encoded) * 2 // 3))
    return " ".join(piece.decode("utf-8", "ignore") for piece in pieces)


def _primary(declared: str | None) -> str | None:
    code = (declared or "").strip().lower().replace("_", "-").partition("-")[0]
    return code if len(code) in (2, 3) and code.isascii() and code.isalpha() else None
