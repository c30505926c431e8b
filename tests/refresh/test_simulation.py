"""The experiment on webs small enough to be counted by hand, and its result on larger ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nephila.engine import open_engine
from nephila.errors import UsageError
from nephila.refresh.experiment import Trial, run
from nephila.refresh.picture import as_page
from nephila.refresh.simulation import simulate
from nephila.refresh.webs import changing_web, draw_web, read_histories


def test_two_pages_are_counted_as_by_hand() -> None:
    # given one page that changes at 1.25 and 2.25 and one that never does, both visited once a day, for 4 days
    owner, moment = np.array([0, 0]), np.array([2.25, 1.25])
    rates = np.array([0.5, 0.0])
    web = changing_web(4.0, owner, moment, (rates, rates), np.inf, np.zeros(2, int), np.ones(2))
    # when
    measured = simulate(web, "uniform", 1.0, "equal", 0.0, 1)
    # then the first is stale from 1.25 to 2 and from 2.25 to 3, and every visit but two was in vain
    assert measured.freshness == pytest.approx((4 - 1.5 + 4) / 8)
    assert measured.age_days == pytest.approx(2 * 0.75**2 / 2 / 8)
    assert measured.useful == pytest.approx(2 / 8)
    assert measured.visits_per_page_day == 1.0


def test_uniform_visits_are_as_fresh_as_the_formula_says() -> None:
    # given pages that all change once a day, visited every two days: (1 − e^−x)/x with x = 2
    chance = np.random.default_rng(2)
    owner = np.repeat(np.arange(300), chance.poisson(60.0, 300))
    ones = np.ones(300)
    web = changing_web(60.0, owner, chance.random(len(owner)) * 60, (ones, ones), np.inf, np.zeros(300, int), ones)
    # then
    measured = simulate(web, "uniform", 0.5, "equal", 20.0, 4)
    assert measured.freshness == pytest.approx((1 - np.exp(-2)) / 2, abs=0.01)


def test_the_index_policy_is_ahead_of_uniform_groups_and_nutch_and_near_the_oracle() -> None:
    # given webs as S1 found them to change; the whole experiment is `nephila refresh simulate`
    names = ("uniform", "groups", "nutch", "proportional", "index", "oracle")
    trials = [Trial("steady", seed, 400, 63.0, (0.25, 1.0), names, 4) for seed in (1, 2)]
    # when
    with open_engine("inline", 1) as engine:
        report = run(trials, engine)
    # then
    for weighing in ("equal", "popularity"):
        for budget in (0.25, 1.0):
            by_name = {line.policy: line for line in report.lines if (line.weighing, line.budget) == (weighing, budget)}
            best = by_name["index"].objective
            assert best > max(by_name[name].objective for name in ("uniform", "groups", "nutch", "proportional"))
            assert by_name["index"].of_oracle > 0.93
    # and the worst policy has the most useful visits (2.1)
    at_quarter = {line.policy: line.useful for line in report.lines if line.budget == 0.25 and line.weighing == "equal"}
    assert max(at_quarter, key=lambda name: at_quarter[name]) == "proportional"
    assert {saving.weighing for saving in report.savings} == {"equal", "popularity"}
    page = as_page(report)
    assert page.count("<path") == 2 * len(names)


@pytest.mark.parametrize("scenario", ["drift", "daily"])
def test_the_other_scenarios_change_what_they_say(scenario: str) -> None:
    web = draw_web(2000, 84.0, scenario, 1)  # type: ignore[arg-type]
    moments = web.moments[:-1]
    if scenario == "drift":
        assert not np.array_equal(web.rate_at(41.0), web.rate_at(43.0))
        assert np.allclose(np.sort(web.true_rate), np.sort(web.later_rate))
    else:
        hour = np.mod(moments, 1) * 24
        assert 0.67 < np.mean((hour >= 5) & (hour < 17)) < 0.73
        assert np.mean(np.mod(np.floor(moments), 7) >= 5) < 0.15


def test_the_same_seed_is_the_same_web() -> None:
    first, second, other = (draw_web(100, 30.0, "steady", seed) for seed in (1, 1, 2))
    assert np.array_equal(first.moments, second.moments)
    assert not np.array_equal(first.true_rate, other.true_rate)


def test_real_histories_are_replayed(data: Path) -> None:
    # given 219 pages of Open Terms Archive
    web = read_histories(data / "change" / "ota_vlopses_us_changes.csv.gz")
    assert len(web) > 150
    assert web.days > 200
    # then at a visit every four days the index policy is ahead of the other ones
    found = {name: simulate(web, name, 0.25, "equal", web.days / 3, 2) for name in ("uniform", "nutch", "index")}
    assert found["index"].freshness > max(found["uniform"].freshness, found["nutch"].freshness)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b\n1,2\n", "no columns"),
        ("unix_time,kind,page\nsoon,first,p\n", "line 2"),
        ("unix_time,kind,page\n1,first,p\n", "fewer than two pages"),
        ("unix_time,kind,page\n1,first,p\n2,first,q\n3,change,q\n", "less than a week"),
    ],
)
def test_a_file_that_holds_no_histories_is_refused_with_a_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "changes.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=sentence):
        read_histories(path)
