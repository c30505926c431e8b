"""Text as the index takes it: in comes what a page or a person wrote, out goes what tantivy cuts into words.

Where a text holds Korean, Japanese or Chinese, `markup.words` writes it as overlapping pairs, the same as for every
other index of this project. All other text stays as it is: tantivy's own tokenizer cuts it at what is neither letter
nor digit, in lower case and without accents, at a fraction of the cost. So `cafe` finds `café`, and `café` finds both.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from nephila.markup.words import index_words

# Hangul, Han, Kana, also in their narrow and wide forms; other scripts go the quick way.
_TOGETHER: Final = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
)
_WRITTEN_TOGETHER: Final = re.compile(f"[{_TOGETHER}]")
_ONE_SIGN: Final = re.compile(f"[{_TOGETHER}]")


def wording(text: str) -> str:
    """What is handed to tantivy for a text in normal form (`normal`)."""
    return index_words(text) if _WRITTEN_TOGETHER.search(text) else text


def normal(text: str) -> str:
    """Compatibility form: one way to write each letter (full-width, ligatures, composed Hangul)."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def is_one_sign(word: str) -> bool:
    """A single sign of a script that is indexed in pairs: it is found inside of them."""
    return len(word) == 1 and _ONE_SIGN.match(word) is not None


class _Folding(dict[int, str]):
    """Each letter in lower case and without accents, as one character: places in a text stay where they are."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        plain = unicodedata.normalize("NFD", letter.lower())[:1] if not "\uac00" <= letter <= "\ud7a3" else letter
        self[code] = plain if plain else letter
        return self[code]


_FOLDING: Final = _Folding()


def folded(text: str) -> str:
    """A text as long as it was, for finding words in it again."""
    return text.lower() if text.isascii() else text.translate(_FOLDING)
