"""What a page is about: by words, by examples, by language."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from nephila.config.sections import Config, Crawl, Scope, Topic
from nephila.crawl.classifier import example_texts, load, save, train
from nephila.crawl.focusing import Focus, Stance, check_focus, focus_of, strayed_after
from nephila.crawl.topics import TopicWords
from nephila.errors import ConfigError, DamagedError


def words(text: str, **topic: object) -> bool:
    compiled = TopicWords.of(Topic(**topic))  # type: ignore[arg-type]
    assert compiled is not None
    return compiled.is_on(text)


@pytest.mark.parametrize(
    ("text", "is_on"),
    [("Art and art", True), ("a party, an art", False), ("Art", False), ("art art war war", False),
     ("art art art war war", True), ("machine  learning and art", True)],
)  # fmt: skip
def test_enough_wanted_words_that_stand_alone_and_more_than_unwanted_ones(text: str, is_on: bool) -> None:
    assert words(text, wanted=("art", "Machine Learning"), unwanted=("war",)) is is_on


def test_korean_words_are_found_with_their_particles() -> None:
    assert words("검색은 로봇이 한다. 로봇을 쓴다.", wanted=("로봇",))


def test_with_unwanted_words_alone_everything_else_is_wanted() -> None:
    assert words("about art", unwanted=("war",))
    assert not words("war and war", unwanted=("war",))


def test_a_classifier_tells_unseen_pages_of_real_manuals_from_a_declaration(data: Path, tmp_path: Path) -> None:
    # given pages of the Korean Apache manual and the Declaration of Human Rights in many tongues, half of each unseen
    texts: dict[str, list[str]] = {}
    for name, kind in (("html/apache_manual_ko_mod.tar.gz", "manual"), ("misc/udhr_html.tar.gz", "rights")):
        place = tmp_path / kind
        with tarfile.open(data / name) as archive:
            archive.extractall(place, filter="data")
        texts[kind] = example_texts("topic.wanted_pages", [str(place)])
    classifier = train(texts["manual"][::2], texts["rights"][::2])
    # when it is kept and read again
    save(classifier, tmp_path / "topic.npz")
    classifier = load(tmp_path / "topic.npz")
    # then it knows nearly all of the other half
    right = [classifier.certainty(text) >= 0.5 for text in texts["manual"][1::2]]
    right += [classifier.certainty(text) < 0.5 for text in texts["rights"][1::2]]
    assert sum(right) / len(right) > 0.95
    assert classifier.certainty("") == 0.5


def test_a_damaged_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "topic.npz").write_bytes(b"no model")
    with pytest.raises(DamagedError, match="trains it anew"):
        load(tmp_path / "topic.npz")


def test_how_far_links_have_strayed_begins_anew_on_topic_and_stays_where_nothing_is_told() -> None:
    assert [strayed_after(stance, 2) for stance in (Stance.ON, Stance.TOPIC, Stance.LANGUAGE, Stance.UNTOLD)] == [
        0,
        3,
        3,
        2,
    ]


def test_language_comes_before_topic_and_little_text_tells_nothing() -> None:
    focus = focus_of(Config(scope=Scope(languages=("KO",)), topic=Topic(wanted=("로봇",), min_hits=1)), None)
    assert focus is not None
    korean = "이 문서는 웹 로봇이 어떻게 문서를 수집하고 색인을 만드는지를 설명하는 한국어 문서입니다."
    english = "This page explains how a robot collects pages and how an index is made of them all."
    bodies = (korean, korean.replace("로봇", "사람"), english, "<p>ok")
    assert [focus.judge(body.encode(), "text/html; charset=utf-8") for body in bodies] == [
        Stance.ON, Stance.TOPIC, Stance.LANGUAGE, Stance.UNTOLD,
    ]  # fmt: skip
    assert isinstance(focus, Focus) and focus_of(Config(), None) is None


def test_a_topical_profile_needs_a_topic() -> None:
    with pytest.raises(ConfigError, match="needs a topic"):
        check_focus(Config(crawl=Crawl(profile="topical")))
