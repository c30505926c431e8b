"""Sites that are down for a day or slow for some hours (S2-17)."""

from __future__ import annotations

from nephila.config.sections import Lab
from nephila.lab.answer import Manner
from nephila.lab.troubles import DAY_S, SLOWER, SLUMP_H, is_down, slowed
from nephila.lab.web import Web


def test_the_first_day_is_whole_and_then_a_share_of_the_sites_is_down_each_day() -> None:
    assert not any(is_down(3, site, 0, 1.0) for site in range(100))
    down = [sum(is_down(3, site, day, 0.1) for site in range(1000)) for day in range(1, 6)]
    assert all(60 <= count <= 140 for count in down)
    assert len({tuple(is_down(3, site, day, 0.1) for site in range(50)) for day in range(1, 6)}) > 1


def test_a_slump_lasts_six_hours_and_ends() -> None:
    site = next(site for site in range(100) if any(slowed(3, site, DAY_S + h * 3600, 0.2) > 1 for h in range(24)))
    hours = [slowed(3, site, DAY_S + hour * 3600, 0.2) for hour in range(24)]
    assert hours.count(SLOWER) == SLUMP_H and hours.count(1.0) == 24 - SLUMP_H
    assert all(slowed(3, site, hour * 3600, 0.2) == 1.0 for hour in range(24))


def test_a_site_that_is_down_answers_nobody_and_is_back_on_the_next_day() -> None:
    # given a web in which some sites are down on any day
    web = Web(Lab(sites=40, faults=False, outages=0.3, seed=5), 1000.0)
    site, day = next(
        (site, day) for site in range(40) for day in range(1, 9)
        if web.is_down(site, 1000.0 + day * DAY_S) and not web.is_down(site, 1000.0 + (day + 1) * DAY_S)
    )  # fmt: skip
    card = web.card(site)
    host = web.cards.origin(site).split("/")[2].partition(":")[0]

    def asked(target: str, now: float) -> Manner:
        return web.answer(host, web.lab.port, target, card.address, now).manner

    # then robots.txt is away with all the rest
    for target in ("/", "/robots.txt"):
        assert asked(target, 1000.0 + day * DAY_S + 60) is Manner.RESET
        assert asked(target, 1000.0 + (day + 1) * DAY_S) is Manner.WHOLE
        assert asked(target, 1000.0) is Manner.WHOLE
