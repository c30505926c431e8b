"""How polite a crawl was, by the log of the server that was crawled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from nephila.config.sections import Lab
from nephila.lab.serve import LabServer
from nephila.lab.static import StaticSite
from nephila.lab.web import Web
from nephila.lab.witness import Requests, gaps, overlaps, waits

from .webs import (
    QUICK,
    assert_complete,
    crawl,
    expected,
    in_lab,
    is_alive,
    running,
    settings_of,
    wait_until,
    write_seeds,
)

MIN_DELAY_S = 0.05
FINE_S = 0.0005  # a timer's grain


def assert_one_at_a_time(requests: Requests) -> None:
    assert set(overlaps(requests, "address").values()) == {1}
    assert set(overlaps(requests, "site").values()) == {1}


def assert_left_alone(requests: Requests, delay_s: float) -> None:
    for per in ("address", "site"):
        smallest = gaps(requests, per)  # type: ignore[arg-type]
        assert smallest
        assert min(smallest.values()) >= delay_s - FINE_S, smallest


@pytest.mark.slow
def test_no_rule_of_politeness_is_broken_by_the_servers_own_log(tmp_path: Path) -> None:
    # given a web with faults, aliases, virtual hosts that share an address, and robots.txt files
    with LabServer(Lab(sites=30, max_depth=1, seed=3), processes=2) as lab:
        assert lab.lab is not None
        web = Web(lab.lab)
        polite = {"politeness.min_delay": MIN_DELAY_S, "politeness.delay_factor": 2.0}
        # when two agents crawl it, one of whom is interrupted and goes on
        folder = tmp_path / "crawl"
        seeds = lab.write_seeds(tmp_path / "seeds.txt")
        with running(folder, "-i", seeds, "--agents", 2, *settings_of(QUICK, polite, in_lab(lab))) as started:
            started.until_pages(30)
            started.interrupt()
            assert started.ended().code == 130
        ran = crawl(folder)
        assert ran.code == 0, ran.err
        assert_complete(expected(lab), folder)
        requests = lab.witnessed()
    # then nobody was asked twice at once, or before the delay was over
    assert_one_at_a_time(requests)
    assert_left_alone(requests, MIN_DELAY_S)
    # and after a slow answer the delay was twice its duration (S1-18)
    found = waits(requests, "site")
    l_time_s = (requests.ended_ns - requests.started_ns)[found.previous] * 1e-9
    assert np.all(found.gap_s >= 2.0 * l_time_s - FINE_S)
    # and no path was asked that robots.txt closes, nor anything of a site before its robots.txt
    first: dict[str, str] = {}
    for request in requests.rows():
        site = web.cards.site_of(request.host)
        rules = None if site is None else web.card(site).robots
        assert rules is None or request.target == "/robots.txt" or not rules.closes(request.target), request
        first.setdefault(f"{request.host}:{request.port}", request.target)
    assert set(first.values()) == {"/robots.txt"}


@pytest.fixture
def small_sites(tmp_path: Path) -> list[StaticSite]:
    """Two virtual hosts on one address and a third site on its own, which asks for a longer delay."""
    sites = []
    for host, address in (("one.test", "127.9.0.1"), ("two.test", "127.9.0.1"), ("slow.test", "127.9.0.2")):
        folder = tmp_path / host
        folder.mkdir()
        (folder / "index.html").write_text(
            f'<a href="a.html">{host}</a><a href="b.html">b</a><a href="closed/c.html">c</a>'
        )
        (folder / "a.html").write_text(f"a of {host}")
        (folder / "b.html").write_text(f"b of {host}")
        (folder / "closed").mkdir()
        (folder / "closed" / "c.html").write_text("never")
        delay = "\nCrawl-delay: 0.4" if host == "slow.test" else ""
        (folder / "robots.txt").write_text(f"User-agent: *\nDisallow: /closed/{delay}\n")
        sites.append(StaticSite(host, address, str(folder)))
    return sites


@pytest.fixture
def small_lab(small_sites: list[StaticSite]) -> Iterator[LabServer]:
    with LabServer(None, static=small_sites, processes=1) as server:
        yield server


def test_a_crawl_delay_is_obeyed_from_robots_txt_on(small_lab: LabServer, tmp_path: Path) -> None:
    seeds = small_lab.write_seeds(tmp_path / "seeds.txt")
    ran = crawl(tmp_path / "crawl", "-i", seeds, "--agents", 1, *settings_of(QUICK, in_lab(small_lab)))
    assert ran.code == 0, ran.err
    requests = small_lab.witnessed()
    assert ran.report["outcomes"] == {"blocked_robots": 3, "ok": 9}
    assert gaps(requests, "site")[f"slow.test:{small_lab.port}"] >= 0.4 - FINE_S
    assert not any("closed" in request.target for request in requests.rows())
    assert_one_at_a_time(requests)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["interrupted", "killed"])
def test_no_delay_is_broken_across_a_restart(small_lab: LabServer, tmp_path: Path, how: str) -> None:
    # given a delay that is longer than a start takes
    delay_s = 1.6
    slow = {"politeness.min_delay": delay_s, "archive.group_delay": 0.01}
    folder = tmp_path / "crawl"
    seeds = small_lab.write_seeds(tmp_path / "seeds.txt")
    # when the crawl is ended just after an answer and begun again at once
    with running(folder, "-i", seeds, "--agents", 2, *settings_of(QUICK, slow, in_lab(small_lab))) as started:
        wait_until(lambda: len(small_lab.witnessed()) >= 5, 30.0, "the first pages")
        if how == "killed":
            agents = started.kill_all()
        else:
            agents = started.agents()
            started.interrupt()
            assert started.ended().code == 130
        assert not any(map(is_alive, agents))
    ran = crawl(folder)
    assert ran.code == 0, ran.err
    # then no site and no address was asked too soon
    requests = small_lab.witnessed()
    assert_one_at_a_time(requests)
    assert_left_alone(requests, delay_s)
    assert ran.report["outcomes"] == {"blocked_robots": 3, "ok": 9}


@pytest.mark.slow
def test_one_look_up_per_site_and_what_agents_say_per_page(tmp_path: Path) -> None:
    """S1-19; S0 and CHECKLIST 2.3: overlap 0, coverage 1, messages per page are told."""
    with LabServer(Lab(sites=40, max_depth=2, seed=2), processes=1) as lab:
        true = expected(lab)
        folder = tmp_path / "crawl"
        seeds = lab.write_seeds(tmp_path / "seeds.txt")
        ran = crawl(folder, "-i", seeds, "--agents", 3, *settings_of(QUICK, in_lab(lab)))
        assert ran.code == 0, ran.err
        queries, requests = lab.queries(), lab.witnessed()
        slow = {name for name in queries.name if lab.sites().resolve(name).kind == "slow"}
    # one query per name; where the name server fails, or is slow in answering, it is asked once more
    asked = Counter(queries.name)
    failing = {name for name, code in zip(queries.name, queries.code, strict=True) if code == "SERVFAIL"}
    again = {name for name in asked if asked[name] > 1} - failing - slow
    assert len(again) < len(asked) / 20  # a busy machine may keep an answer a quarter of a second, seldom
    assert len(asked) > 30
    # coverage 1 and overlap 0: each page of the truth was asked for, and by one agent once
    assert_complete(true, folder)
    targets = [f"http://{row.host}:{row.port}{row.target}" for row in requests.rows()]
    counted = {url: targets.count(url) for url in true.requested()}
    compared = {url for url, count in counted.items() if count > 1}  # samples that tell aliases from virtual hosts
    assert set(counted.values()) <= {1, 2}
    assert len(compared) < len(counted) / 50
    # and the traffic between agents is told
    assert 0 < ran.report["messages_per_page"] < 3
    assert ran.report["message_bytes_per_page"] > 0
    assert 0 < ran.report["links_per_page"] < 5


def test_sites_of_ones_own_may_be_asked_several_things_at_once(small_lab: LabServer, tmp_path: Path) -> None:
    seeds = write_seeds(tmp_path / "seeds.txt", [f"http://one.test:{small_lab.port}/"])
    more = {"politeness.connections_per_site": 4}
    ran = crawl(tmp_path / "crawl", "-i", seeds, "--agents", 1, *settings_of(QUICK, more, in_lab(small_lab)))
    assert ran.code == 0, ran.err
    assert "only for sites that are yours" in ran.err
    assert ran.report["outcomes"] == {"blocked_robots": 1, "ok": 3}
    assert len(small_lab.witnessed()) == 4
