"""What a page is about, by words: how often wanted and unwanted ones stand in a text.

A word in Latin letters must stand alone (`art` is not in `party`); one in a script without blanks between words, as
Korean particles make of many, may stand anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nephila.config.sections import Topic


@dataclass(frozen=True, slots=True)
class TopicWords:
    """Words and phrases, compiled once; None where there are none."""

    wanted: re.Pattern[str] | None
    unwanted: re.Pattern[str] | None
    min_hits: int

    @staticmethod
    def of(topic: Topic) -> TopicWords | None:
        if not topic.wanted and not topic.unwanted:
            return None
        return TopicWords(_compiled(topic.wanted), _compiled(topic.unwanted), topic.min_hits)

    def is_on(self, text: str) -> bool:
        """Enough wanted words, and more than unwanted ones; with unwanted words alone, none of them often enough."""
        lower = text.lower()
        unwanted = _count(self.unwanted, lower)
        if self.wanted is None:
            return unwanted < self.min_hits
        wanted = _count(self.wanted, lower)
        return wanted >= self.min_hits and wanted > unwanted


def _count(pattern: re.Pattern[str] | None, text: str) -> int:
    return 0 if pattern is None else sum(1 for _ in pattern.finditer(text))


def _compiled(words: Sequence[str]) -> re.Pattern[str] | None:
    spelled = sorted({" ".join(word.lower().split()) for word in words if word.strip()}, key=len, reverse=True)
    if not spelled:
        return None
    return re.compile("|".join(_alone(word) for word in spelled))


def _alone(word: str) -> str:
    first, last = word[0], word[-1]
    before = r"(?<![a-z0-9_])" if first.isascii() and first.isalnum() else ""
    behind = r"(?![a-z0-9_])" if last.isascii() and last.isalnum() else ""
    return before + re.escape(word).replace(r"\ ", r"\s+") + behind
