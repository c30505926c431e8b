"""What a site does next, decided without doing it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nephila.config.sections import Crawl
from nephila.crawl.politeness import Pace
from nephila.crawl.robots_state import RobotsAnswer, RobotsState, after_robots_fetch
from nephila.crawl.seen import PackedHashes
from nephila.crawl.site import (
    ALL_TASKS,
    LEAST_TASKS,
    MAX_TASKS,
    AskHome,
    AskPage,
    AskRobots,
    Ended,
    GiveUp,
    Load,
    Refuse,
    SiteContext,
    Step,
    Wait,
    Window,
    next_step,
)
from nephila.crawl.slot_state import PageTask
from nephila.records import Outcome

NOW, UTC = 1000.0, 1_700_000_000.0


def site(robots: bytes | None = b"", **more: object) -> SiteContext:
    context = SiteContext(
        number=1, slot=0, url="http://a.test", address="127.0.0.1", given=True, seen=PackedHashes(),
        known=0, retries=2, patience_s=80.0, longest_delay_s=300.0, pace=Pace(), more_on_disk=False,
    )  # fmt: skip
    if robots is not None:
        context.robots = rules(robots)
    for name, value in more.items():
        setattr(context, name, value)
    return context


def rules(text: bytes) -> RobotsState:
    return after_robots_fetch(RobotsAnswer(Outcome.OK, 200, text), None, "nephila", Crawl(), UTC)


def task(path: str = "/x", depth: int = 1, place: int = 0, tries: int = 0) -> PageTask:
    return PageTask(depth, place, hash(path), path, 0, False, tries, Outcome.WAITING)


def step(context: SiteContext, now: float = NOW, *, obey: bool = True) -> Step:
    return next_step(context, now, UTC, obey_robots=obey)


def test_robots_txt_comes_before_every_page_unless_it_is_ignored() -> None:
    context = site(robots=None)
    context.push(task())
    assert step(context) == AskRobots()
    assert step(context, obey=False) == AskPage(task())


def test_a_closed_path_is_refused_with_the_rule_that_closes_it() -> None:
    context = site(b"User-agent: *\nDisallow: /x\n")
    context.push(task("/xy"))
    assert step(context) == Refuse(task("/xy"), Outcome.BLOCKED_ROBOTS, "Disallow: /x")


def test_robots_txt_that_cannot_be_had_is_waited_for_but_not_for_ever() -> None:
    context = site()
    context.push(task())
    answer = RobotsAnswer(Outcome.HTTP_ERROR, 503)
    context.robots = after_robots_fetch(answer, None, "nephila", Crawl(sleep_min=10.0), UTC)
    assert step(context) == Wait(NOW + 10.0)
    context.patience_s = 5.0
    assert step(context) == GiveUp(Outcome.DEFERRED_ROBOTS, "robots.txt: http_error 503")


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1000)), unique=True, min_size=1))
def test_pages_come_breadth_first_and_in_the_order_they_were_found(found: list[tuple[int, int]]) -> None:
    context = site()
    for depth, place in found:
        context.push(task(f"/{depth}-{place}", depth, place))
    asked = []
    while not isinstance(taken := step(context), Ended):
        assert isinstance(taken, AskPage)
        context.take(taken.task)
        asked.append((taken.task.depth, taken.task.place))
    assert asked == sorted(found)


def test_a_page_to_be_tried_again_waits_for_its_time_and_for_the_others() -> None:
    context = site()
    context.try_later(task("/again", tries=1), NOW + 5)
    context.push(task("/new", place=3))
    assert step(context) == AskPage(task("/new", place=3))
    context.take(context.tasks[0][2])
    assert step(context) == Wait(NOW + 5)
    assert step(context, NOW + 5) == AskPage(task("/again", tries=1))


def test_more_than_memory_holds_waits_on_disk_and_is_loaded_when_needed() -> None:
    context = site()
    for place in range(MAX_TASKS + 5):
        context.push(task(f"/{place}", place=place))
    assert len(context.tasks) == MAX_TASKS
    assert context.more_on_disk
    context.tasks.clear()
    assert step(context) == Load()
    context.load([task("/last", place=MAX_TASKS)], context.loadable)
    assert not context.more_on_disk
    assert isinstance(step(context), AskPage)


def test_what_waits_in_memory_does_not_grow_with_the_number_of_sites() -> None:
    window = Window()
    for sites, most in ((0, MAX_TASKS), (10, MAX_TASKS), (1_000, 100), (20_000, LEAST_TASKS)):
        window.fit(sites)
        assert window.tasks_per_site == most
        assert sites * most <= max(ALL_TASKS, sites * LEAST_TASKS)
    context = site(window=window)
    for place in range(30):
        context.push(task(f"/{place}", place=place))
    assert len(context.tasks) == LEAST_TASKS and context.more_on_disk


def test_what_is_in_memory_is_not_loaded_twice() -> None:
    context = site()
    context.push(task("/a"))
    context.try_later(task("/b", tries=1), NOW)
    context.load([task("/a"), task("/b"), task("/c", place=2)], context.loadable)
    assert sorted(entry[2].path for entry in context.tasks) == ["/a", "/c"]


def test_a_sleeping_site_waits_and_one_with_nothing_left_has_ended() -> None:
    context = site(asleep_until=NOW + 7)
    assert step(context) == Wait(NOW + 7)
    assert step(context, NOW + 7) == Ended()
    context = site(in_flight=1)
    assert step(context) == Wait(float("inf"))  # what is under way may bring more


def test_a_home_page_that_must_be_compared_comes_first_if_robots_txt_allows() -> None:
    context = site(wants_home=True)
    context.push(task())
    assert step(context) == AskHome()
    context = site(b"User-agent: *\nDisallow: /$\n", wants_home=True)
    context.push(task())
    assert step(context) == AskPage(task())
    assert context.home_tried


def test_two_pages_of_one_place_are_both_asked() -> None:
    context = site()
    context.push(task("/a"))
    context.push(task("/b"))
    assert len(context.tasks) == 2


def test_a_limit_forgets_only_what_was_never_requested() -> None:
    context = site()
    context.push(task("/new"))
    context.push(task("/tried", tries=1))
    context.keep_tried()
    assert [entry[2].path for entry in context.tasks] == ["/tried"]
