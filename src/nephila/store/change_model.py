"""`DIR/study/change_model.json`: how often pages change, by what is known of a page at its first visit.

The change study writes it, refresh reads it. A page's changes are taken as a Poisson process whose rate, in changes per
day, is itself drawn from a Gamma distribution with `shape` and `rate_days` (mean shape / rate_days): as if `shape`
changes had been seen in `rate_days` days before the page was ever visited. A page that changed x times in d days then
has the Gamma distribution (shape + x, rate_days + d), so the prior fades as the page's own history grows (2.1).

Groups are kept from fine to coarse, and `prior_for` answers with the finest that has pages enough behind it: suffix,
depth and link kinds; link kinds and depth; link kinds and suffix; suffix and depth; one of the three; all pages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import msgspec

from nephila.errors import DamagedError, NephilaError
from nephila.store.durable import make_directory, replace_file
from nephila.store.folder import CrawlFolder

NAME: Final = "change_model.json"
FORMAT: Final = 1
LEAST_PAGES: Final = 30
"""A group with fewer pages says less about a page than the coarser group that holds it."""

DEPTHS_TOLD_APART: Final = 9
"""Deeper pages count as of this depth (S1-34 stopped there)."""


@dataclass(frozen=True, slots=True)
class PageFeatures:
    """What is known of a page at its first visit.

    `suffix` is the host's public suffix ("co.kr", "com"), `link_kinds` the three letters of S1-46 ("ha0").
    """

    suffix: str
    depth: int
    link_kinds: str


@dataclass(frozen=True, slots=True)
class RateGroup:
    """The Gamma distribution of change rates in one group of pages; None stands for any value."""

    suffix: str | None
    depth: int | None
    link_kinds: str | None
    shape: float
    rate_days: float
    pages: int

    @property
    def mean_per_day(self) -> float:
        return self.shape / self.rate_days


_Names = tuple[str | None, int | None, str | None]


def _fallbacks(features: PageFeatures) -> tuple[_Names, ...]:
    """The groups that a page belongs to, finest first; of two equally fine ones that with the stronger feature."""
    suffix, depth, kinds = features.suffix, min(features.depth, DEPTHS_TOLD_APART), features.link_kinds
    return (
        (suffix, depth, kinds),
        (None, depth, kinds),
        (suffix, None, kinds),
        (suffix, depth, None),
        (None, None, kinds),
        (suffix, None, None),
        (None, depth, None),
        (None, None, None),
    )


LEVELS: Final = tuple(tuple(part is not None for part in names) for names in _fallbacks(PageFeatures("com", 0, "000")))
"""Which of (suffix, depth, link_kinds) each kind of group tells apart, finest first; a study fits all of them."""


@dataclass(frozen=True, slots=True)
class ChangeModel:
    """What one study learnt. `measure` says what counted as a change: bytes, text or simhash."""

    groups: tuple[RateGroup, ...]
    measure: str = "bytes"
    studied_days: float = 0.0
    format: int = FORMAT

    def group_for(self, features: PageFeatures) -> RateGroup:
        """The finest group of a page that has pages enough behind it; the coarsest there is if none has."""
        groups = {(group.suffix, group.depth, group.link_kinds): group for group in self.groups}
        found = [groups[names] for names in _fallbacks(features) if names in groups]
        if not found:
            raise NephilaError(
                "The change model has no group for all pages; run `nephila study` again to write it anew."
            )
        return next((group for group in found if group.pages >= LEAST_PAGES), found[-1])

    def prior_for(self, features: PageFeatures) -> tuple[float, float]:
        """(shape, rate_days) of the Gamma distribution that a page's change rate per day is drawn from."""
        group = self.group_for(features)
        return group.shape, group.rate_days


# S1's Tables 9, 10 and 13 as CHECKLIST 4.6 fits them: (shape, scale per day, pages). Home pages by suffix, others by
# link kinds; all pages by the same fit to Table 13's sums: 59.74 % of pages changed, every 6.03 days by S1-41.
_S1_BY_SUFFIX: Final = {
    "kr": (0.0897, 5.570, 523),
    "com": (0.1062, 8.224, 320),
    "net": (0.1506, 0.9354, 70),
    "org": (0.1885, 4.659, 14),
    "ac.kr": (0.1583, 0.4364, 37),
    "co.kr": (0.0893, 11.64, 379),
    "go.kr": (0.1260, 0.6439, 18),
    "or.kr": (0.0692, 1.434, 63),
    "pe.kr": (0.3785, 0.0423, 15),
}
_S1_BY_KINDS: Final = {
    "000": (0.0179, 0.0835, 12_016),
    "00f": (0.0742, 0.0192, 2_104),
    "0a0": (0.0825, 418.8, 35_478),
    "h00": (0.3192, 0.3656, 4_969),
    "h0f": (0.7774, 0.0194, 134),
    "ha0": (0.3603, 1.861, 88_882),
}
_S1_ALL: Final = (0.19675, 5.3130, 143_598)
S1_STUDY: Final = ChangeModel(
    tuple(RateGroup(suffix, 0, None, shape, 1 / scale, n) for suffix, (shape, scale, n) in _S1_BY_SUFFIX.items())
    + tuple(RateGroup(None, None, kinds, shape, 1 / scale, n) for kinds, (shape, scale, n) in _S1_BY_KINDS.items())
    + (RateGroup(None, None, None, _S1_ALL[0], 1 / _S1_ALL[1], _S1_ALL[2]),),
    studied_days=19.0,
)
"""What is assumed where no study has been made: the Korean web of 2003."""


def write_change_model(folder: CrawlFolder, groups: Iterable[RateGroup], measure: str, studied_days: float) -> None:
    """Replace the model whole."""
    model = ChangeModel(tuple(groups), measure, studied_days)
    make_directory(folder.study)
    encoded = msgspec.json.format(msgspec.json.encode(model), indent=1)
    replace_file(folder.study / NAME, encoded + b"\n")


def read_change_model(folder: CrawlFolder) -> ChangeModel | None:
    """The model of the folder's own study; None where there was none."""
    path = folder.study / NAME
    try:
        model = msgspec.json.decode(path.read_bytes(), type=ChangeModel)
    except FileNotFoundError:
        return None
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise DamagedError(f"{path} cannot be read ({problem}); delete it and run `nephila study` again.") from problem
    if model.format > FORMAT:
        raise NephilaError(f"{path} was made by a newer Nephila; upgrade Nephila to read it.")
    if not any((group.suffix, group.depth, group.link_kinds) == (None, None, None) for group in model.groups):
        raise DamagedError(f"{path} has no group for all pages; delete it and run `nephila study` again.")
    return model
