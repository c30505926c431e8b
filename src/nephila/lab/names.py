"""Host names of the lab: a name tells its site's number, and a number its name, without a list (4.1).

A host name has one label that ends in a code: the code begins with the first digit of the name, and no other label
holds a digit. What is read from a name is always checked by making the name again, so a stranger's name is no site.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from nephila.lab.draw import Stream, Table, draw, site_key, web_key
from nephila.lab.listed import listed

# kr 53.4 %, com 34.1 %, net 8.1 %, org 1.5 %, other 2.9 % (T9), laid over the label counts of S1-29:
# (share of all sites, number of labels, whether under kr)
_SHAPES: Final = (
    (0.0343, 2, False),
    (0.4217, 3, False),
    (0.0100, 4, False),
    (0.0136, 3, True),
    (0.5140, 4, True),
    (0.0063, 5, True),
    (0.0001, 6, True),
)
_SHAPE: Final = Table([shape[0] for shape in _SHAPES])
_KR: Final = ("co.kr", "or.kr", "ac.kr", "go.kr", "pe.kr", "re.kr", "ne.kr")
_KR_SHARES: Final = Table([73.3, 11.2, 7.2, 3.2, 2.1, 1.5, 1.5])
_WORLD: Final = ("com", "net", "org", "jp", "cn", "tv", "to")
_WORLD_SHARES: Final = Table([34.1, 8.1, 1.5, 1.0, 0.9, 0.6, 0.4])

_OUTER: Final = ("www", "www", "www", "www", "www", "www", "www", "kr", "shop", "bbs", "news", "lib")
_INNER: Final = ("cs", "math", "city", "dept", "kid", "edu", "sub", "it")
_NICKNAMES: Final = ("home", "my", "web", "old")

# Letters and code of the telling label: 4 .. 31, so that all names together have S1-28's mean of 17.38.
_LEAST_LETTERS: Final = 4
_LETTERS: Final = Table([(k + 1) * (k + 2) * 0.59333**k for k in range(28)])

_SYLLABLES: Final = listed("""
    ga na da ra ma ba sa ja cha ka ta pa ha gu nu du mu bu su ju ho mi si ji ri ni ki do so jo han kim park
    lee min seo kwon dong san hae byul nara world net cyber
""")

_SIGNS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_PAIRS: Final = tuple(first + second for first in _SIGNS for second in _SIGNS)
_CODE: Final = re.compile(r"[0-9][0-9a-z]*")


def encode_number(number: int) -> str:
    """0..9 in one sign, then longer: a digit first, then base 36; each number has exactly one code."""
    tail = 0
    size = 10
    while number >= size:
        number -= size
        tail += 1
        size *= 36
    code = ""
    while tail > 1:
        number, rest = divmod(number, 36 * 36)
        code = _PAIRS[rest] + code
        tail -= 2
    if tail:
        number, rest = divmod(number, 36)
        code = _SIGNS[rest] + code
    return _SIGNS[number] + code


def decode_number(code: str) -> int:
    """The number of a code that `_CODE` matched."""
    number = int(code[0])
    shorter = 0
    size = 10
    for sign in code[1:]:
        number = number * 36 + _SIGNS.index(sign)
        shorter += size
        size *= 36
    return number + shorter


class Names:
    """The names of the sites 0 .. sites-1 under one seed."""

    def __init__(self, seed: int, sites: int) -> None:
        self._seed = seed
        self._sites = sites
        self.name = lru_cache(maxsize=1 << 13)(self.make)
        self.number = lru_cache(maxsize=1 << 12)(self._number)

    def nickname(self, site: int) -> str:
        """The site's other name, for sites that have one (S0-9)."""
        name = self.name(site)
        labels = name.split(".")
        nick = _NICKNAMES[draw(web_key(self._seed, Stream.NAME, 1), site) >> 62]
        telling = next(i for i, label in enumerate(labels) if any(sign.isdigit() for sign in label))
        return ".".join([nick, *labels[telling:]])

    def make(self, site: int) -> str:
        """The same as `name`, which remembers."""
        key = site_key(self._seed, site, Stream.NAME)
        _, labels, korean = _SHAPES[_SHAPE.pick(draw(key, 0))]
        suffix = _KR[_KR_SHARES.pick(draw(key, 1))] if korean else _WORLD[_WORLD_SHARES.pick(draw(key, 1))]
        front = ""
        spare = labels - suffix.count(".") - 2
        if spare:
            outer = draw(key, 2)
            front = _OUTER[(outer >> 32) % len(_OUTER)] + "."
            for inner in range(spare - 1):
                front += _INNER[(outer >> (8 * inner)) % len(_INNER)] + "."
        code = encode_number(site)
        letters = _LEAST_LETTERS + _LETTERS.pick(draw(key, 3)) - len(code)
        telling = _letters(draw(key, 4), letters) + code if letters > 0 else code
        return f"{front}{telling}.{suffix}"

    def _number(self, name: str) -> int | None:
        """The site of a name or nickname (whether the site has that nickname is not asked here)."""
        found = _CODE.search(name)
        if found is None or len(found.group()) > 12:
            return None
        site = decode_number(found.group())
        if site < self._sites and (name == self.name(site) or name == self.nickname(site)):
            return site
        return None


def _letters(word: int, count: int) -> str:
    text = ""
    syllables = len(_SYLLABLES)
    while len(text) < count:
        text += _SYLLABLES[word % syllables]
        word = (word >> 5) | ((word & 31) << 59)
    return text[:count]
