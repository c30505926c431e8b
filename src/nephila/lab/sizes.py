"""How large pages are: S1-30's Table 5, by 4.5's recipe (a lognormal body, and the observed tail above 256 KiB)."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nephila.lab import figures
from nephila.lab.draw import Quantiles, Stream, Table, draw, draws, key_of, site_key

_MU: Final = 9.3125
_SIGMA: Final = 1.0
_TAIL_STEPS: Final = figures.SIZE_STEPS[1:]
_TAIL_SHARE: Final = sum(_TAIL_STEPS) / sum(figures.SIZE_STEPS)
_TAIL_BELOW: Final = round(_TAIL_SHARE * (1 << 32)) << 32
_TAIL_BELOW_WORD: Final = np.uint64(_TAIL_BELOW)
_TAIL: Final = Table(_TAIL_STEPS)


@lru_cache(maxsize=1)
def _body() -> Quantiles:
    """Lognormal, cut at 256 KiB."""
    normal = NormalDist()
    most = normal.cdf((math.log(figures.SIZE_STEP_BYTES) - _MU) / _SIGMA)

    def inverse(part: float) -> float:
        return math.exp(_MU + _SIGMA * normal.inv_cdf(part * most)) if part > 0 else 200.0

    return Quantiles(inverse)


def page_sizes(seed: int, site: int, pages: int) -> NDArray[np.int64]:
    """The sizes in bytes of the first pages of a site."""
    key = site_key(seed, site, Stream.SIZE)
    sizes = _body().picks(draws(key, 0, pages))
    again = draws(key_of(key, 1), 0, pages)
    large = (again < _TAIL_BELOW_WORD).nonzero()[0]
    if len(large):
        words = draws(key_of(key, 2), 0, pages)[large]
        inside = (words & np.uint64(0xFFFFFFFF)).astype(np.int64) * figures.SIZE_STEP_BYTES >> 32
        sizes[large] = (1 + _TAIL.picks(words)) * figures.SIZE_STEP_BYTES + inside
    return sizes


def page_size(seed: int, site: int, page: int) -> int:
    """The same for one page."""
    key = site_key(seed, site, Stream.SIZE)
    if draw(key_of(key, 1), page) >= _TAIL_BELOW:
        return _body().pick(draw(key, page))
    word = draw(key_of(key, 2), page)
    return (1 + _TAIL.pick(word)) * figures.SIZE_STEP_BYTES + ((word & 0xFFFFFFFF) * figures.SIZE_STEP_BYTES >> 32)
