"""Where a page's rank comes from: what each page that links to it gives, what teleport gives, what dangling pages give.

The parts are those of the formula in `pagerank.py`, and sum to the rank itself as far as the ranks are converged.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from nephila.errors import DamagedError, UsageError
from nephila.rank.arrays import Ranks
from nephila.rank.link_file import LinkFile
from nephila.rank.parquet_columns import read_columns
from nephila.rank.report import RankReport
from nephila.rank.sheet import Naming

SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Contribution:
    """A page that links here: it gives `damping` times its rank, divided by the number of its links."""

    page_id: int
    name: str
    rank: float
    out_links: int
    gives: float
    share: float


@dataclass(frozen=True, slots=True)
class WhyReport:
    """The parts of a rank. `others` is what the pages give that are not listed."""

    page_id: int
    name: str
    rank: float
    place: int
    pages: int
    in_links: int
    times_mean: float
    from_links: float
    others: float
    from_elsewhere: float
    contributions: tuple[Contribution, ...]


def why(room: Path, word: str, naming: Naming, most: int = SHOWN) -> WhyReport:
    """Explain the rank of the page named `word`: its id, its URL or its word in the edge list."""
    report = _report(room / "report.json")
    file = LinkFile.open(room / "pages.links")
    page = naming.find([word]).get(word)
    rows = np.flatnonzero(file.ids == page) if page is not None else np.zeros(0, np.int64)
    if page is None or not len(rows):
        raise UsageError(
            f"{word!r} is not among the ranked pages of {room}; of a crawl these are HTML pages with code 200."
        )
    ranks = _ranks(room / "ranks.parquet", file)
    row = int(rows[0])
    sources = file.links.of(row).astype(np.int64)
    gives = report.damping * ranks[sources] / file.links.degrees[sources]
    order = np.lexsort((file.ids[sources], -gives))[:most]
    rank, total = float(ranks[row]), float(gives.sum())
    names = naming.pages([int(file.ids[sources[place]]) for place in order])
    listed = tuple(
        Contribution(
            int(file.ids[sources[place]]), name, float(ranks[sources[place]]), int(file.links.degrees[sources[place]]),
            float(gives[place]), float(gives[place]) / rank if rank else 0.0,
        )
        for place, name in zip(order, names, strict=True)
    )  # fmt: skip
    return WhyReport(
        page_id=page,
        name=naming.pages([page])[0],
        rank=rank,
        place=1 + int((ranks > rank).sum()),
        pages=len(ranks),
        in_links=len(sources),
        times_mean=rank * len(ranks),
        from_links=total,
        others=total - sum(one.gives for one in listed),
        from_elsewhere=rank - total,
        contributions=listed,
    )


def _report(path: Path) -> RankReport:
    try:
        return msgspec.json.decode(path.read_bytes(), type=RankReport)
    except FileNotFoundError:
        raise UsageError(f"There are no ranks in {path.parent} yet; run `nephila rank` first.") from None
    except msgspec.MsgspecError as problem:
        raise DamagedError(f"{path} cannot be read ({problem}); run `nephila rank` again.") from None


def _ranks(path: Path, file: LinkFile) -> Ranks:
    """The ranks in the order of the rows."""
    ids, ranks = (column.to_numpy(zero_copy_only=False) for column in read_columns(path, ("page_id", "rank")))
    order = np.argsort(file.ids, kind="stable")
    if len(ids) != len(order) or (ids != file.ids[order]).any():
        raise DamagedError(f"{path} and {file.path} are not of the same ranking; run `nephila rank` again.")
    found = np.empty(len(ids))
    found[order] = ranks
    return found
