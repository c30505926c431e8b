"""How sure a figure is: sites are drawn again, with replacement, and the figure is made anew each time.

Pages of one site are not independent, sites are nearly so; therefore whole sites are drawn. `Grouped` asks a question
once as it is shown, and once by site, so that the sums of the first can be made from any draw of sites.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DRAWS: Final = 300
_SEED: Final = 20030317
_AT_ONCE: Final = 40_000_000  # numbers drawn at a time


@dataclass(frozen=True, slots=True)
class Grouped:
    """Sums by group over one table; `group` is an expression, '' for one group of all."""

    source: str
    group: str
    sums: tuple[tuple[str, str], ...]  # name, expression
    where: str = "true"

    def sql(self, *, by_site: bool = False) -> str:
        """The question; by site only for the errors."""
        group = self.group or "'all'"
        columns = [f"{group} AS name", *(["site"] if by_site else [])]
        columns += [f"{expression} AS {name}" for name, expression in self.sums]
        keys = "name, site" if by_site else "name"
        lines = ",\n       ".join(columns)
        return f"SELECT {lines}\nFROM {self.source}\nWHERE {self.where}\nGROUP BY {keys} ORDER BY {keys}"

    def ask(self, duck: Any) -> Answer:
        """The sums, whole and by site."""
        rows = duck.execute(self.sql()).fetchall()
        names = [row[0] for row in rows]
        whole = np.array([[float(value or 0) for value in row[1:]] for row in rows]).reshape(len(rows), len(self.sums))
        found = duck.execute(self.sql(by_site=True)).fetchnumpy()
        sites, site_index = np.unique(found["site"].astype(str), return_inverse=True)
        places = {name: place for place, name in enumerate(names)}
        group_index = np.array([places[_plain(name)] for name in found["name"]], dtype=np.int64)
        by_site = np.zeros((len(sites), len(names), len(self.sums)))
        for column, (name, _) in enumerate(self.sums):
            values = np.ma.filled(found[name].astype(float), 0.0) if len(sites) else np.zeros(0)
            by_site[site_index, group_index, column] = np.nan_to_num(values)
        return Answer(tuple(names), tuple(name for name, _ in self.sums), whole, by_site)


@dataclass(frozen=True, slots=True)
class Ratio:
    """A quotient of two sums with its standard error; `under` is what stands below."""

    value: float | None
    error: float | None
    under: float


@dataclass(frozen=True, slots=True)
class Answer:
    """Sums by group (first axis) and name (last axis), whole and by site."""

    names: tuple[Any, ...]
    sums: tuple[str, ...]
    whole: Floats
    by_site: Floats

    def sum(self, name: str) -> Floats:
        return self.whole[:, self.sums.index(name)]

    def ratio(self, over: str, under: str, *, of_all: bool = False) -> list[Ratio]:
        """over / under of each group, `of_all`: the group's `over` in parts of all groups' `under`."""
        top, bottom = self.sums.index(over), self.sums.index(under)
        below = self.whole[:, bottom]
        below = np.full_like(below, below.sum()) if of_all else below
        errors = _errors(self.by_site[:, :, top], self.by_site[:, :, bottom], of_all)
        return [
            Ratio(float(a / b), float(e), float(b)) if b else Ratio(None, None, 0.0)
            for a, b, e in zip(self.whole[:, top], below, errors, strict=True)
        ]


def drawn(by_site: Floats, draws: int = DRAWS) -> Floats:
    """The sums over sites drawn again, `draws` times (first axis); by_site has its sites on the first axis."""
    sites = len(by_site)
    flat = by_site.reshape(sites, -1)
    generator = np.random.default_rng(_SEED)
    made = []
    step = max(1, _AT_ONCE // max(sites, 1))
    for first in range(0, draws, step):
        count = min(step, draws - first)
        weights = generator.multinomial(sites, np.full(sites, 1 / sites), size=count) if sites else np.zeros((count, 0))
        made.append(weights @ flat)
    return np.concatenate(made).reshape(draws, *by_site.shape[1:])


def _errors(over: Floats, under: Floats, of_all: bool) -> Floats:
    if not len(over):
        return np.zeros(over.shape[1])
    sums = drawn(np.stack([over, under], axis=-1))
    below = sums[:, :, 1].sum(axis=1, keepdims=True) if of_all else sums[:, :, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(below > 0, sums[:, :, 0] / below, np.nan)
    spread: Floats = np.array([np.nanstd(column) if np.isfinite(column).any() else 0.0 for column in values.T])
    return spread


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
