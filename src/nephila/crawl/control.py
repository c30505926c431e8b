"""What people ask for in `DIR/control/`, and what agents must be told because of it."""

from __future__ import annotations

from typing import Final

from nephila.crawl.messages import Block, Pause
from nephila.store.control import Control

LOOK_EVERY_S: Final = 0.5

BLOCKED_BY_HAND: Final = "control/blocked"
"""The reason of URLs whose site a person has blocked; they wait for the first run without the block."""


def news(told: Control, asked: Control) -> tuple[Pause | Block, ...]:
    """What an agent that was told the one must hear to know the other."""
    pause = (Pause(asked.paused),) if asked.paused != told.paused else ()
    block = (Block(tuple(sorted(asked.blocked))),) if asked.blocked != told.blocked else ()
    return (*block, *pause)
