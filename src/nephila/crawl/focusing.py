"""Whether a page is in the topic and the languages of a crawl, judged when it has come (S4-1).

A page that is on topic and in a language that is wanted lets its links be followed. One that is not strays: its links
carry how many pages in a row were off, and beyond `scope.margin` they are left out where they stand (rules `topic` and
`language` of the scope); found again on a page that is in, they are followed. A page with too little text to tell
changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from nephila.config.sections import Config
from nephila.crawl.topics import TopicWords
from nephila.errors import ConfigError
from nephila.markup.glance import glance

MODEL: Final = "topic.npz"
_FEW_LETTERS: Final = 40


class Stance(StrEnum):
    """What a page was found to be; the two that are off are named after the rules that refuse their links."""

    ON = "on"
    TOPIC = "topic"
    LANGUAGE = "language"
    UNTOLD = ""

    @property
    def is_off(self) -> bool:
        return self in (Stance.TOPIC, Stance.LANGUAGE)


@dataclass(frozen=True, slots=True)
class Focus:
    """What pages are judged by, compiled once."""

    languages: frozenset[str]
    words: TopicWords | None
    certainty: Callable[[str], float] | None
    min_certainty: float

    def judge(self, body: bytes, content_type: str | None) -> Stance:
        """What an HTML page is."""
        seen = glance(body, content_type)
        if len(seen.text) < _FEW_LETTERS:
            return Stance.UNTOLD
        if self.languages:
            from nephila.markup.language import language_of

            language = language_of(seen.text, seen.language)
            if language is not None and language not in self.languages:
                return Stance.LANGUAGE
            if language is None and self.words is None and self.certainty is None:
                return Stance.UNTOLD
        if self.words is not None and not self.words.is_on(seen.text):
            return Stance.TOPIC
        if self.certainty is not None and self.certainty(seen.text) < self.min_certainty:
            return Stance.TOPIC
        return Stance.ON


def strayed_after(stance: Stance, strayed: int, *, is_seed: bool = False) -> int:
    """How far the links of a page have strayed, after pages that had so far; a seed is where the user begins."""
    if stance is Stance.ON or is_seed:
        return 0
    return strayed + 1 if stance.is_off else strayed


def check_focus(config: Config) -> None:
    """Raises ConfigError about topics, languages and profiles that cannot be."""
    topic = config.topic
    has_topic = topic.wanted or topic.unwanted or topic.wanted_pages
    if config.crawl.profile == "topical" and not has_topic:
        raise ConfigError(
            "crawl.profile=topical needs a topic: set topic.wanted (words), or topic.wanted_pages and "
            "topic.unwanted_pages (example pages)."
        )
    if bool(topic.wanted_pages) != bool(topic.unwanted_pages):
        raise ConfigError(
            "topic.wanted_pages and topic.unwanted_pages go together: the classifier learns what tells the two apart."
        )
    for key, places in (("wanted_pages", topic.wanted_pages), ("unwanted_pages", topic.unwanted_pages)):
        for place in places:
            if not Path(place).exists():
                raise ConfigError(f"topic.{key}: there is no file or folder {place!r}; name example pages.")
    for language in config.scope.languages:
        if not (2 <= len(language) <= 3 and language.isascii() and language.isalpha()):
            raise ConfigError(f'scope.languages: {language!r} is no language code; write two letters, such as "ko".')


def prepare_focus(config: Config, state: Path) -> None:
    """Train the classifier once and keep it with the crawl, so that every agent and every run has the same."""
    if not config.topic.wanted_pages or (state / MODEL).exists():
        return
    from nephila.crawl.classifier import example_texts, save, train

    wanted = example_texts("topic.wanted_pages", config.topic.wanted_pages)
    unwanted = example_texts("topic.unwanted_pages", config.topic.unwanted_pages)
    save(train(wanted, unwanted), state / MODEL)


def focus_of(config: Config, state: Path | None) -> Focus | None:
    """What the pages of a crawl are judged by; None where everything is wanted."""
    words = TopicWords.of(config.topic)
    certainty = None
    if config.topic.wanted_pages and state is not None:
        from nephila.crawl.classifier import load

        certainty = load(state / MODEL).certainty
    if words is None and certainty is None and not config.scope.languages:
        return None
    languages = frozenset(language.lower() for language in config.scope.languages)
    if languages:
        from nephila.markup.language import load_model

        load_model()  # half a second that should not hold the first pages up
    return Focus(languages, words, certainty, config.topic.min_certainty)
