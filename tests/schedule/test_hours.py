"""What is learnt of a site's hours, and what is believed of hours that nobody watched (S2-5, S2-17)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from nephila.errors import DamagedError
from nephila.schedule.hours import OWN_LOAD, believe
from nephila.schedule.zones import country_of, fitted_zones, zone_hours
from nephila.store.folder import CrawlFolder
from nephila.store.hour_figures import (
    DAY_S,
    HOUR_S,
    HourFigures,
    HourNote,
    HoursFile,
    hours_path,
    pack,
    read_hours,
    unpack,
)

WEEK_S = 7 * DAY_S
NOW = 20_000 * DAY_S
"""A midnight, UTC."""


def answered(seconds: float, count: int = 10, failures: int = 0, asked_s: float = 0.0) -> HourNote:
    log = math.log(seconds)
    return HourNote(count, count * log, count * log * log, failures, asked_s)


def watched(day: list[float], count: int = 50) -> HourFigures:
    """A site that was watched through all hours of some earlier day."""
    figures = HourFigures(at=NOW)
    for hour, seconds in enumerate(day):
        figures.add(int(NOW // HOUR_S) - 48 + hour, answered(seconds, count))
    return figures


def test_figures_fade_by_half_within_a_half_life_and_survive_packing() -> None:
    # given ten answers at hour 3
    figures = HourFigures(at=NOW)
    figures.add(int(NOW // HOUR_S) + 3, answered(0.2))
    # when a week passes
    figures.fade(NOW + WEEK_S, WEEK_S)
    # then
    again = unpack(pack(figures))
    assert again.answers[3] == pytest.approx(5.0)
    assert again.log_sum[3] / again.answers[3] == pytest.approx(math.log(0.2), abs=1e-5)
    assert again.watched[3] == pytest.approx(0.5)
    assert sum(again.answers) == pytest.approx(5.0)


def test_a_clock_that_was_set_back_fades_nothing() -> None:
    figures = HourFigures(at=NOW)
    figures.add(int(NOW // HOUR_S), answered(0.2))
    figures.fade(NOW - WEEK_S, WEEK_S)
    assert figures.answers[0] == 10


def test_what_several_files_know_of_a_site_is_put_together(tmp_path: Path) -> None:
    # given an agent's file and a probe's
    folder = CrawlFolder.create(tmp_path / "crawl")
    hour = int(NOW // HOUR_S)
    for name, seconds in (("00", 0.1), ("probe", 0.4)):
        file = HoursFile(hours_path(folder, name), WEEK_S)
        file.add({("http://a.example", hour): answered(seconds), (f"http://{name}.example", hour): answered(1)}, NOW)
        file.add({("http://a.example", hour): answered(seconds)}, NOW)
        file.close()
    # when they are read
    known = read_hours(folder, NOW, WEEK_S)
    # then the site of both has the answers of both
    assert set(known) == {"http://a.example", "http://00.example", "http://probe.example"}
    both = known["http://a.example"]
    assert both.answers[0] == 40
    assert math.exp(both.log_sum[0] / both.answers[0]) == pytest.approx(0.2, rel=1e-4)
    assert read_hours(folder, NOW, WEEK_S, ["http://a.example"]).keys() == {"http://a.example"}


def test_an_hour_that_was_watched_is_believed_as_measured_and_load_is_what_it_is_slower() -> None:
    # given one site that answers in 0.1 s at night and 0.4 s by day, another always in 0.1 s
    night_and_day = [0.1] * 8 + [0.4] * 16
    known = {"http://a.example": watched(night_and_day), "http://b.example": watched([0.1] * 24)}
    # when
    belief = believe(list(known), known, NOW)
    # then
    assert belief.latency_s[0, 3] == pytest.approx(0.1, rel=0.1)
    assert belief.latency_s[0, 12] == pytest.approx(0.4, rel=0.1)
    assert belief.loads[0, 12] == pytest.approx(0.75, abs=0.04)
    assert belief.loads[0, 3] < 0.1
    assert belief.confidence[0].min() > 0.9


def test_an_hour_that_nobody_watched_follows_the_common_day_at_the_sites_own_level() -> None:
    # given five sites that are four times slower by day, and one that was watched at night alone, twice as slow as they
    known = {f"http://s{number}.example": watched([0.1] * 8 + [0.4] * 16) for number in range(5)}
    night = HourFigures(at=NOW)
    for hour in range(8):
        night.add(int(NOW // HOUR_S) - 48 + hour, answered(0.2, 50))
    known["http://night.example"] = night
    # when
    belief = believe([*known, "http://new.example"], known, NOW)
    # then it is expected to be twice as slow as they by day too; and who is new is like all
    assert belief.latency_s[5, 12] == pytest.approx(0.8, rel=0.3)
    assert belief.confidence[5, 12] == 0
    assert belief.latency_s[6, 12] > 2.5 * belief.latency_s[6, 3]


def test_failures_count_as_load() -> None:
    known = {"http://a.example": watched([0.1] * 24), "http://b.example": watched([0.1] * 24)}
    known["http://b.example"].add(int(NOW // HOUR_S) - 43, HourNote(failures=50))
    belief = believe(list(known), known, NOW)
    assert belief.loads[1, 5] > 0.4 > belief.loads[0, 5]


def test_our_own_requests_are_no_load_of_the_site() -> None:
    # S2-17: given an hour in which our requests were under way for a third of the time
    busy, quiet = watched([0.2] * 24), watched([0.2] * 24)
    quick = watched([0.1] * 24)
    busy.add(int(NOW // HOUR_S) - 48 + 23, HourNote(asked_s=HOUR_S / 3))
    belief = believe(["a", "b", "c"], {"a": busy, "b": quiet, "c": quick}, NOW)
    assert belief.loads[0, 23] == pytest.approx(belief.loads[1, 23] - OWN_LOAD / 3, abs=0.002)


def test_a_site_that_slowed_down_in_the_latest_hour_is_expected_to_go_on_so_for_a_while() -> None:
    # S2-17
    known = {"http://a.example": watched([0.1] * 24), "http://b.example": watched([0.1] * 24)}
    known["http://a.example"].add(int(NOW // HOUR_S) - 1, answered(2.0, 20))
    belief = believe(list(known), known, NOW)
    assert belief.latency_s[0, 0] > 2 * belief.latency_s[1, 0]
    assert belief.latency_s[0, 8] == pytest.approx(belief.latency_s[1, 8], rel=0.1)


def test_nothing_is_known_of_any_site() -> None:
    belief = believe(["http://a.kr", "http://b.com"], {}, NOW)
    assert np.ptp(belief.latency_s) == pytest.approx(0)
    assert believe([], {}, NOW).loads.shape == (0, 24)


def test_the_country_of_a_name_gives_its_zone() -> None:
    assert country_of("http://www.example.co.uk:8080") == "gb"
    assert country_of("http://www.example.com") == ""
    assert country_of("http://127.0.0.1") == ""
    assert zone_hours("http://www.kaist.ac.kr", NOW) == 9
    assert zone_hours("http://www.example.org", NOW) == 0


def test_a_sites_own_hours_choose_its_zone_where_they_say_enough() -> None:
    # given a common day with its trough at 4 local time, and a site whose trough is at 19 UTC (4 in Seoul)
    shape = -np.cos(2 * np.pi * (np.arange(24) - 4) / 24)
    own = -np.cos(2 * np.pi * (np.arange(24) - 19) / 24)
    few = np.zeros(24)
    few[:5] = 1
    found = fitted_zones(np.stack([own, own]), np.stack([np.ones(24), few]), shape, np.array([0, -5]))
    assert found.tolist() == [9, -5]


def test_a_damaged_file_is_told_by_its_name_and_what_to_do(tmp_path: Path) -> None:
    folder = CrawlFolder.create(tmp_path / "crawl")
    hours_path(folder, "00").write_bytes(b"")
    with pytest.raises(DamagedError, match=r"hours-00\.db cannot be read; delete it"):
        read_hours(folder, NOW, WEEK_S)
