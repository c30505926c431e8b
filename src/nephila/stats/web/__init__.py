"""The web as found: which questions are asked, chapter by chapter."""

from __future__ import annotations

from nephila.stats.question import Question
from nephila.stats.web import answers, contents, linking, names, paper, places

PAPER = "The survey's tables"


def chapters(top: int) -> tuple[tuple[str, tuple[Question, ...]], ...]:
    """Every chapter with its questions; lists show their `top` most frequent entries."""
    return (
        ("At a glance", paper.SUMMARY),
        (PAPER, paper.QUESTIONS),
        ("Answers", answers.questions(top)),
        ("Contents", contents.questions(top)),
        ("Sites and domains", (*names.questions(top), *places.QUESTIONS)),
        ("Links", linking.QUESTIONS),
    )
