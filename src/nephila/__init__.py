"""Nephila: gather a web, turn it into tables, rank it, keep it fresh, measure it and search it.

import nephila
crawl = nephila.open("DIR")
crawl.pages(columns=["url", "title"])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from nephila.store.opened import OpenedCrawl

VERSION = "0.1.0"


def open(path: str | Path) -> OpenedCrawl:
    """A crawl folder: its tables as Arrow, SQL over them, and the bodies of its pages."""
    from nephila.store.opened import OpenedCrawl

    return OpenedCrawl(path)
