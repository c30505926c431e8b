"""Places of the study's trees change hands; a URL is found from its number and answers for as long as it lives."""

from __future__ import annotations

from nephila.config.sections import Lab
from nephila.lab.change import BATCH_S, DAY_S
from nephila.lab.fates import Fate
from nephila.lab.lives import Life, is_list
from nephila.lab.paths import path_of, place_of
from nephila.lab.truth import site_rows
from nephila.lab.web import Web

ORIGIN = 1_000_000_000.0
WEB = Web(Lab(profile="study", sites=120, growth=0.3, seed=4), ORIGIN)


def _places(life: Life) -> list[tuple[int, int]]:
    return [
        (site, page)
        for site in range(120)
        for page, found in enumerate(WEB.skeleton(site).life.tolist())
        if found == life and WEB.skeleton(site).fate[page] == Fate.OK
    ][:40]


def test_every_life_occurs_and_only_lists_have_places_that_change_hands() -> None:
    assert all(len(_places(life)) == 40 for life in (Life.CHURNING, Life.PASSING, Life.BRIEF))
    for site in range(120):
        skeleton = WEB.skeleton(site)
        for page in range(skeleton.tree_pages):
            children = range(skeleton.first_child[page], skeleton.first_child[page + 1])
            if any(skeleton.life[child] for child in children):
                assert is_list(WEB.law, WEB.card(site).model, page)


def test_a_place_has_one_holder_after_another_without_a_gap() -> None:
    for life in (Life.CHURNING, Life.PASSING, Life.BRIEF):
        for site, page in _places(life)[:12]:
            card, skeleton = WEB.card(site), WEB.skeleton(site)
            now = ORIGIN
            for _ in range(6):
                holder = WEB.holders.now(card.model, skeleton, page, now)
                if holder.until is None:
                    break
                assert holder.since <= now < holder.until
                assert WEB.holders.now(card.model, skeleton, page, holder.until - 0.01) == holder
                # at its end another has come, and it goes on answering for a day, and no longer
                after = WEB.holders.now(card.model, skeleton, page, holder.until)
                assert after.generation > holder.generation and after.since == holder.until
                number = holder.generation
                assert WEB.holders.found(card.model, skeleton, page, number, holder.until + DAY_S / 2) == holder
                assert WEB.holders.found(card.model, skeleton, page, number, holder.until + DAY_S) is None
                assert WEB.holders.found(card.model, skeleton, page, after.generation, now) is None
                now = holder.until


def test_a_url_of_any_generation_is_read_from_its_path() -> None:
    style = WEB.card(3).paths
    for page in (1, 17, 204):
        for generation in (0, 1, 33, 4_321):
            path = path_of(style, page, generation)
            assert place_of(style, path, 1_000) == (page, generation)
    assert place_of(style, path_of(style, 17, 33).replace("17-33", "17-34"), 1_000) in (None, (17, 34))


def test_a_list_changes_its_bytes_when_a_url_below_it_changes_and_others_do_not() -> None:
    lists = others = 0
    for site in range(40):
        card, skeleton = WEB.card(site), WEB.skeleton(site)
        for page in range(1, min(skeleton.tree_pages, 400)):
            if skeleton.fate[page] != Fate.OK or skeleton.life[page] or skeleton.copy[page]:
                continue
            states = [
                (WEB.version(card, skeleton, page, now).number, WEB.body(card, skeleton, page, now))
                for now in (ORIGIN, ORIGIN + BATCH_S)
            ]
            below = range(skeleton.first_child[page], skeleton.first_child[page + 1])
            if any(skeleton.life[child] == Life.PASSING for child in below):
                lists += 1
                assert states[0][1] != states[1][1]
            elif not any(skeleton.life[child] for child in below):
                others += 1
                assert (states[0][0] == states[1][0]) == (states[0][1] == states[1][1])
    assert lists > 10 and others > 100


def test_the_truth_says_from_when_to_when_a_url_answers_so() -> None:
    checked = ended = 0
    for site in (0, 5, 9, 17, 33):
        card = WEB.card(site)
        now = ORIGIN + 5.3 * DAY_S
        for row in list(site_rows(WEB, site, now))[:80]:
            path = row.url.removeprefix(card.origin)
            if row.digest is None or not row.url.startswith(card.origin):
                continue
            assert row.valid_from <= now
            answer = WEB.answer(card.host, WEB.lab.port, path, card.address, now)
            for moment in [row.valid_from, *([row.valid_to - 1.0] if row.valid_to else [now + 3 * DAY_S])]:
                told = WEB.answer(card.host, WEB.lab.port, path, card.address, moment)
                assert (told.status, told.body) == (answer.status, answer.body), (row.url, moment - now)
                checked += 1
            ended += row.valid_to is not None
    assert checked > 100 and ended > 30
