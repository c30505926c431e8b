"""Words to index: runs of Korean, Japanese and Chinese characters become overlapping pairs, the rest words.

Those languages write words together, so a word inside a longer one is found by its pairs (DEPENDENCIES 5.2). Every
index of this project takes the same words, separated by blanks.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Final

_TOGETHER: Final = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN: Final = re.compile(f"([{_TOGETHER}]+)|([^\\W_{_TOGETHER}]+)")  # LG전자 is two words: 전자 must be found


def index_words(text: str) -> str:
    """The words of a text in their order, in lower case and compatibility form."""
    words: list[str] = []
    for run in _RUN.finditer(unicodedata.normalize("NFKC", text).lower()):
        together, word = run.groups()
        if word is not None:
            words.append(word)
        elif len(together) == 1:
            words.append(together)
        else:
            words.extend(map("".join, pairwise(together)))
    return " ".join(words)
