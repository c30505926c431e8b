"""The web as found: which questions are asked, chapter by chapter."""

from __future__ import annotations

from nephila.stats.question import Question
from nephila.stats.web import answers, contents, linking, names, paper, places, ranking

Chapters = tuple[tuple[str, tuple[Question, ...]], ...]
LINKS = "Links"


def chapters(top: int, *, by_address: bool = False, ranked: bool = False) -> Chapters:
    """Every chapter with its questions; lists show their `top` most frequent entries.

    Countries are told by address where there are ranges, and ranks where there are some.
    """
    where = (*places.QUESTIONS, *((places.BY_ADDRESS,) if by_address else ()))
    return (
        ("At a glance", paper.SUMMARY),
        ("The survey's tables", paper.QUESTIONS),
        ("Answers", answers.questions(top)),
        ("Contents", contents.questions(top)),
        ("Sites and domains", (*names.questions(top), *where)),
        (LINKS, linking.QUESTIONS),
        *((("Ranks", ranking.questions(top)),) if ranked else ()),
    )
