"""A task that dies of the pages it is told to die of; worker processes import it by name."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from nephila.convert import extract as room
from nephila.convert.attributes import Attributes, attributes
from nephila.convert.extract import Extracted, Portion

DEADLY, ENDLESS = "deadly.txt", "endless.txt"


def extract(portion: Portion) -> Extracted:
    """Like the room's own, with a parser that crashes at one URL and does not end at another."""
    deadly = (portion.target.parents[1] / DEADLY).read_text().split()
    endless = (portion.target.parents[1] / ENDLESS).read_text().split()

    def parser(url: str, *rest: Any) -> Attributes:
        if url in deadly:
            os.kill(os.getpid(), signal.SIGSEGV)
        while url in endless:
            pass
        return attributes(url, *rest)

    room.attributes = parser
    return room.extract(portion)


def write_lists(state: Path, deadly: list[str], endless: list[str]) -> None:
    (state / DEADLY).write_text("\n".join(deadly))
    (state / ENDLESS).write_text("\n".join(endless))
