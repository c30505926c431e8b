"""Pages change over simulated time as S1 observed, and only in the study."""

from __future__ import annotations

from collections import Counter

import numpy as np

from nephila.config.sections import Lab
from nephila.lab import figures
from nephila.lab.change import BATCH_S, DAY_S, changes_of_day, home_fate_at, next_change, rate_per_day, version_at
from nephila.lab.fates import Fate
from nephila.lab.lives import Life, is_list
from nephila.lab.web import Web, law_of

ORIGIN = 1_000_000_000.0
STUDY = law_of(Lab(profile="study", sites=1_424))


def test_the_survey_never_changes() -> None:
    web = Web(Lab(sites=20, max_depth=2), ORIGIN)
    card, skeleton = web.card(1), web.skeleton(1)
    later = ORIGIN + 400 * DAY_S
    assert all(web.version(card, skeleton, page, later).number == 0 for page in range(skeleton.pages))
    assert web.body(card, skeleton, 0, ORIGIN) == web.body(card, skeleton, 0, later)


def test_a_days_changes_have_their_rate_and_fall_in_the_day_mostly_at_work() -> None:
    moments = [
        (day, moment) for page in range(400) for day in range(10) for moment in changes_of_day(page * 7919, 2.5, day)
    ]
    assert abs(len(moments) / 4000 - 2.5) < 0.1
    assert all(day * DAY_S <= moment < (day + 1) * DAY_S for day, moment in moments)
    at_work = sum(5 <= moment % DAY_S / 3600 < 17 for _, moment in moments) / len(moments)
    assert abs(at_work - 0.7) < 0.02


def test_a_version_lasts_from_one_change_to_the_next() -> None:
    for page in range(60):
        now = ORIGIN
        for _ in range(5):
            version = version_at(STUDY, 3, page, 0.8, ORIGIN, now)
            change = next_change(STUDY, 3, page, 0.8, now)
            assert change is not None and version.since <= now < change
            # just before the change nothing has changed, at the change it has
            assert version_at(STUDY, 3, page, 0.8, ORIGIN, change - 0.001) == version
            after = version_at(STUDY, 3, page, 0.8, ORIGIN, change)
            assert after.number != version.number and after.since == change
            now = change + 3600


def test_a_page_that_never_changes_has_no_next_change() -> None:
    assert next_change(STUDY, 3, 1, 0.0, ORIGIN) is None


def test_a_new_version_is_a_new_body_of_the_same_length_with_the_same_links() -> None:
    web = Web(Lab(profile="study", sites=30, max_depth=3), ORIGIN)
    changed = 0
    for site in range(30):
        card, skeleton = web.card(site), web.skeleton(site)
        for page in range(min(skeleton.pages, 12)):
            if skeleton.fate[page] != Fate.OK or skeleton.copy[page]:
                continue
            first, second = (web.body(card, skeleton, page, ORIGIN + days * DAY_S) for days in (0, 19))
            if is_list(web.law, card.model, page) or skeleton.life[page] != Life.LASTING:
                continue  # these change with the URLs below them, or are other URLs by now
            versions = [web.version(card, skeleton, page, ORIGIN + days * DAY_S).number for days in (0, 19)]
            assert (first == second) == (versions[0] == versions[1])
            assert len(first) == len(second)
            changed += first != second
    assert changed > 20


def test_home_pages_change_as_often_as_table_9_says() -> None:
    # given the home pages under com and kr of a study, looked at nine times over 19 days (S1-41, S1-42)
    web = Web(Lab(profile="study", sites=4_000, faults=False), ORIGIN)
    for domain, paper in (("com", 133 / 320), ("kr", 179 / 523)):
        seen = 0
        changed = 0
        for site in range(4_000):
            host = web.cards.names.name(site)
            if not host.endswith("." + domain):
                continue
            seen += 1
            rate = rate_per_day(web.law, site, web.skeleton(0), 0, 0)
            numbers = {
                version_at(web.law, site, 0, rate, ORIGIN, ORIGIN + gap * 2.375 * DAY_S).number for gap in range(9)
            }
            changed += len(numbers) > 1
        # then the share of changed ones is the paper's
        assert abs(changed / seen - paper) < 3.5 * (paper * (1 - paper) / seen) ** 0.5 + 0.02


def test_seeds_are_up_in_as_many_batches_as_table_8_says() -> None:
    # given nine batches that span 19 days
    up = Counter()
    web = Web(Lab(profile="study", sites=1_424), ORIGIN)
    for site in range(1_424):
        model = web.cards.model(site)
        fine = web.card(site).fate is Fate.OK
        up[
            sum(fine and home_fate_at(web.law, model, ORIGIN, ORIGIN + batch * BATCH_S) is None for batch in range(9))
        ] += 1
    # then |S(i)| is the paper's, but for the 2 % of mirrors, which live and die with their models
    assert abs(np.array([up[i] for i in range(10)]) - np.array(figures.BATCHES_ALIVE)).max() < 15
