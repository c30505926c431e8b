"""When a space of URLs is a trap, and when it is only large (RELIABILITY U1-U4)."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.config.sections import Traps
from nephila.crawl.combinations import Combinations
from nephila.crawl.trapped import Brought, SiteTraps
from nephila.crawl.traps import (
    GROWN,
    STALE,
    WINDOW,
    CompiledTraps,
    PatternRow,
    SeenTexts,
    after_page,
    branch_of,
    looks_endless,
    most_repeats,
    number_rows,
    pattern_of,
    shape_refusal,
    skeleton,
    sleeps,
    text_runs,
    within,
    worth,
)

TRAPS = CompiledTraps.of(Traps())
PLAIN = Brought(is_html=True, is_copy=False, is_soft_404=False, inside_pattern=True, inside_branch=True, depth=50)


def html(text: str, number: int = 0) -> bytes:
    return f"<html><title>{number}</title><body><h1>Site header of all</h1><p>{text}</p></body></html>".encode()


def words(seed: object, count: int = 12) -> str:
    draw = random.Random(str(seed))
    return " ".join("".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(count))


def fetch(site: SiteTraps, paths: list[str], text_of: object, brought: Brought = PLAIN) -> int:
    """Ask for paths until one is refused; how many were asked."""
    assert callable(text_of)
    for place, path in enumerate(paths):
        if site.refusal(path, TRAPS) is not None:
            return place
        site.learn(path, html(text_of(place), place), brought)
    return len(paths)


@pytest.mark.parametrize(
    ("path", "pattern", "branch"),
    [
        ("/", "/", "/"),
        ("/page12.html", "/page0.html", "/"),
        ("/cal/2026/11/5", "/cal/0/0/0", "/cal/"),
        ("/2026/11/5.html", "/0/0/0.html", "/0/"),
        ("/shop?colour=red&size=4", "/shop?", "/?"),
        ("/a/b?x=1", "/a/b?", "/a/"),
        ("/s/deadbeef01234567/x", "/s/0/x", "/s/"),
        ("/wiki/Spider", "/wiki/Spider", "/wiki/"),
        ("/aZ3kQ9xB2mN7cV4d/basket", "/0/basket", "/0/"),
        ("/Spider-Man-No-Way-Home-2021", "/Spider-Man-No-Way-Home-0", "/"),
    ],
)
def test_a_pattern_masks_numbers_and_a_branch_is_the_first_segment(path: str, pattern: str, branch: str) -> None:
    assert (pattern_of(path), branch_of(path)) == (pattern, branch)


def test_a_calendar_without_end_sleeps_after_its_budget() -> None:
    # given pages of one pattern that say nothing but their own date
    paths = [f"/cal/{2000 + month // 12}/{month % 12}" for month in range(5_000)]
    # when they are asked for, then the pattern sleeps soon after 200
    asked = fetch(SiteTraps(), paths, lambda place: f"Events of {place % 12} in {2000 + place // 12}: none at all")
    assert 200 <= asked <= 300


def test_a_calendar_with_names_of_months_sleeps_as_a_branch() -> None:
    months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    paths = [f"/cal/{2000 + place // 12}/{months[place % 12]}" for place in range(5_000)]
    asked = fetch(SiteTraps(), paths, lambda place: f"Events of {months[place % 12]}, nothing is planned here")
    assert 200 <= asked <= 300


def test_a_manual_of_five_thousand_pages_of_one_pattern_is_no_trap() -> None:
    paths = [f"/manual/page{number}.html" for number in range(5_000)]
    assert fetch(SiteTraps(), paths, words) == 5_000


def test_a_dictionary_of_short_entries_is_no_trap() -> None:
    paths = [f"/word?id={number}" for number in range(2_000)]
    assert fetch(SiteTraps(), paths, lambda place: words(place, 6)) == 2_000


def test_pages_that_make_other_urls_known_are_no_trap() -> None:
    # given a gallery whose pages show pictures and no words
    paths = [f"/photo{number}.html" for number in range(1_000)]
    pictures = replace(PLAIN, outside_pattern=True, outside_branch=True)
    assert fetch(SiteTraps(), paths, lambda _: "next and previous picture", pictures) == 1_000


def test_pages_that_say_nothing_and_lead_nowhere_new_are_no_trap() -> None:
    # given a thousand pages that a list names, all alike
    listed = replace(PLAIN, inside_pattern=False, inside_branch=False)
    assert fetch(SiteTraps(), [f"/item?id={n}" for n in range(1_000)], lambda _: "one more item", listed) == 1_000


def test_numbered_pages_that_link_to_each_other_near_the_seeds_are_no_trap() -> None:
    # given pages that differ in their numbers alone, as people make them to try a crawler
    near = replace(PLAIN, depth=9)
    assert fetch(SiteTraps(), [f"/p/{n}.html" for n in range(5_000)], lambda n: f"this is page {n}", near) == 5_000


@pytest.mark.parametrize(
    ("path", "is_endless"),
    [
        ("/cal/2026/11", True),
        ("/cal/2026/11/5.html", True),
        ("/shop?f0=1&f7=1", True),
        ("/events?year=2026&month=11", True),
        ("/game/_admin_map_health_public5382.html", False),
        ("/board/12/read7.html", False),
        ("/free/show.cgi?id=4&key=t_research_music", False),
        ("/item?id=17", False),
        ("/p/deadbeef01234567", True),
        ("/news?ref=d3adb33f", True),
        ("/news?t=1763280000", True),
        ("/find?state=aZ3kQ9xB2mN7cV4dRt", True),
    ],
)
def test_near_the_seeds_only_numbers_and_ids_look_endless(path: str, is_endless: bool) -> None:
    assert looks_endless(path, depth=3, varying=2) == is_endless
    assert looks_endless(path, depth=11, varying=0)


NEAR = replace(PLAIN, depth=3)
SHOWN = "our goods are a chair, a table and a lamp"


def permuted(draw: random.Random, count: int) -> Iterator[list[str]]:
    filters = [f"{name}-{value}" for name in ("colour", "size", "brand", "price") for value in ("low", "high")]
    for _ in range(count):
        yield draw.sample(filters, draw.randint(2, 5))


@pytest.mark.parametrize("form", ["/shop/{}", "/shop?{}"])
def test_filters_in_ever_other_orders_sleep_though_they_are_near_and_have_no_numbers(form: str) -> None:
    joint = "&" if "?" in form else "/"
    paths = [form.format(joint.join(chosen)) for chosen in permuted(random.Random(1), 3_000)]
    assert fetch(SiteTraps(), paths, lambda _: SHOWN, NEAR) <= 300


def test_a_shop_that_sleeps_leaves_the_pages_beside_it_awake() -> None:
    site = SiteTraps()
    fetch(site, ["/shop?" + "&".join(chosen) for chosen in permuted(random.Random(1), 400)], lambda _: SHOWN, NEAR)
    assert site.refusal("/shop?colour-low&size-high", TRAPS) is not None
    assert site.refusal("/about", TRAPS) is None
    assert site.refusal("/shop", TRAPS) is None


def test_switches_that_are_always_named_in_one_order_sleep_too() -> None:
    # given articles with eight ways to look at each
    switches = ("print", "share", "font", "lang", "comments", "mobile", "amp", "reply")
    draw = random.Random(1)
    paths = [
        f"/article/{number % 50}?" + "&".join(f"{name}=on" for name in switches if draw.random() < 0.5)
        for number in range(3_000)
    ]
    texts = [words(number) for number in range(50)]
    assert fetch(SiteTraps(), paths, lambda place: texts[place % 50], NEAR) <= 400


def test_a_catalogue_by_category_order_and_page_is_no_trap_of_combinations() -> None:
    paths = [f"/list?cat=c{cat}&by=o{by}&page=p{page}" for cat in range(10) for by in range(5) for page in range(20)]
    assert fetch(SiteTraps(), paths, lambda _: SHOWN, NEAR) == 1_000


def test_filters_that_show_something_new_each_time_are_no_trap() -> None:
    paths = ["/shop?" + "&".join(chosen) for chosen in permuted(random.Random(1), 1_000)]
    assert fetch(SiteTraps(), paths, words, NEAR) == 1_000


@given(st.lists(st.text("ab/?&=1", max_size=30).map("/{}".format), max_size=40))
def test_combinations_take_any_path(paths: list[str]) -> None:
    combinations = Combinations()
    for path in paths:
        combinations.seen(path)
    assert combinations._orders is None or len(combinations._orders) == 256


def test_pictures_and_other_files_are_no_trap() -> None:
    files = replace(PLAIN, is_html=False)
    assert fetch(SiteTraps(), [f"/img/{n}.png" for n in range(1_000)], lambda _: "", files) == 1_000


def test_copies_are_a_trap_whatever_they_say() -> None:
    copies = replace(PLAIN, is_copy=True, outside_pattern=True, outside_branch=True)
    assert fetch(SiteTraps(), [f"/p?s={n}" for n in range(1_000)], words, copies) < 300


def test_a_pattern_that_sleeps_leaves_the_rest_of_its_site_awake() -> None:
    site = SiteTraps()
    for number in range(400):
        site.learn(f"/wiki/page{number}x", html(words(number)), PLAIN)
        site.learn(f"/wiki/history?id={number}", html("nothing changed here"), PLAIN)
    assert site.refusal("/wiki/history?id=9999", TRAPS) is not None
    assert site.refusal("/wiki/another", TRAPS) is None


def test_what_was_counted_outlives_a_restart_and_a_larger_budget_wakes_the_pattern() -> None:
    # given a pattern that sleeps, and its rows as they went to disk
    site = SiteTraps()
    kept = {}
    for number in range(300):
        for row in site.learn(f"/cal/{number}", html("nothing is planned here"), PLAIN):
            kept[row.pattern] = row
    # when the site is opened again
    again = SiteTraps(kept.values())
    # then it sleeps still, says why, and wakes when the budget is raised
    reason = again.refusal("/cal/77777", TRAPS)
    assert reason is not None and reason.startswith("traps.pattern_pages: 300 pages like /cal/0 were asked")
    assert again.refusal("/cal/77777", CompiledTraps.of(Traps(pattern_pages=1_000))) is None
    assert again.refusal("/cal/77777", CompiledTraps.of(Traps(pattern_pages=None))) is None


def test_memory_of_patterns_is_bounded() -> None:
    site = SiteTraps()
    for number in range(20_000):
        site.learn(f"/{words(number, 1)}/{words(-number, 1)}", html("x"), PLAIN)
    assert len(site._counts) <= 1_001


@given(st.lists(st.booleans(), max_size=300))
def test_a_row_counts_every_page_and_remembers_the_last_window(pages: list[bool]) -> None:
    row = PatternRow()
    for is_new in pages:
        row = after_page(row, is_new=is_new, grew=True)
    assert row.asked == len(pages)
    assert row.recent.bit_count() == sum(not is_new for is_new in pages[-WINDOW:])
    assert sleeps(row, Traps(pattern_pages=0)) == (row.recent.bit_count() >= STALE and len(pages) >= GROWN)


# Shapes of paths


@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ("/a/b/a/b/", False),
        ("/a/b/a/b/a/b/", True),
        ("/x/x/x", True),
        ("/x/x/y/x/x", False),
        ("/x/y/x/x/y/x", False),
        ("/x/y/x/x/y/x/x/y", True),
        ("/01/01/01", False),
        ("/docs/01/01/01/01/index.html", False),
        ("/" + "/".join(f"s{n}" for n in range(20)), False),
        ("/" + "/".join(f"s{n}" for n in range(21)), True),
        ("/a?b=/x/x/x/x", False),
        ("/", False),
    ],
)
def test_growing_and_repeating_paths_are_refused_by_their_form(path: str, refused: bool) -> None:
    assert (shape_refusal(path, Traps()) is not None) is refused


@given(st.lists(st.sampled_from("ab1"), max_size=12))
def test_repeats_are_those_that_a_slow_search_finds(segments: list[str]) -> None:
    def slow() -> int:
        most = 1
        for start in range(len(segments)):
            for length in range(1, len(segments) - start + 1):
                unit = segments[start : start + length]
                times = 1
                while segments[start + times * length : start + (times + 1) * length] == unit:
                    times += 1
                if not all(segment.isdecimal() for segment in unit):
                    most = max(most, times)
        return most

    assert most_repeats(segments) == slow()


def test_a_hundred_thousand_paths_are_judged_within_a_second() -> None:
    paths = [f"/a/b{n % 7}/a/b{n % 5}/a/b{n % 3}/c/d/e/f" for n in range(100_000)]
    started = time.process_time()
    for path in paths:
        shape_refusal(path, Traps())
    assert time.process_time() - started < 3.0  # a second on a machine of its own


@pytest.mark.parametrize("path", ["/" + "a" * 2_000, "/" + "a/" * 1_000, "/" + "1a" * 1_000, "/" + "/" * 2_000])
def test_no_path_takes_long(path: str) -> None:
    started = time.process_time()
    for _ in range(100):
        pattern_of(path), branch_of(path), shape_refusal(path, Traps(max_segments=None))
    assert time.process_time() - started < 1.0


# Texts


@pytest.mark.parametrize(
    "piece",
    [
        b"<!-- ", b"<script", b"<script>x", b"x", b">x", b"> word", b"><", b"<style></STYLE", b">" + b"x" * 9, b"<tr",
        b"<tr>1.5 <",
    ],
)  # fmt: skip
def test_no_page_takes_long(piece: bytes) -> None:
    body = (piece * (2**18 // len(piece) + 1))[: 2**18]
    started = time.process_time()
    text_runs(body, "/some-path")
    number_rows(body)
    skeleton(body)
    assert time.process_time() - started < 1.0


def test_text_is_what_a_reader_sees_without_numbers_and_without_its_own_name() -> None:
    body = b"<p>page 7 of the spider-book</p><script>var token = 'not seen';</script><b>order 12ab now please</b>"
    assert text_runs(body, "/spider-book") == [b"page of the", b"order now please"]


def test_the_figures_of_a_table_are_told_row_by_row_without_its_dates() -> None:
    body = (
        b"<table><tr><th>hour</th></tr><tr><td>13:00</td><td>12.3</td><td>1013</td></tr><TR><td>7<td>2026<td>31</table>"
    )
    assert number_rows(body) == [b"12.3 1013"]


def test_days_of_nothing_but_figures_are_no_trap_and_days_of_an_empty_diary_are_one() -> None:
    draw = random.Random(1)
    days = [f"/day/{2000 + day // 360}/{day // 30 % 12}/{day % 30}" for day in range(3_000)]

    def weather(_: int) -> str:
        cells = "".join(f"<tr><td>{h}:00<td>{draw.uniform(-9, 30):.1f}<td>{draw.randint(960, 1040)}" for h in range(24))
        return f"<table>{cells}</table>"

    def diary(day: int) -> str:
        return (
            "<table>" + "".join(f"<tr><td>{hour}:00<td>{day % 30}<td>{2000 + day}" for hour in range(24)) + "</table>"
        )

    assert fetch(SiteTraps(), days, weather) == 3_000
    assert fetch(SiteTraps(), days, diary) <= 300


def test_text_is_new_once() -> None:
    seen = SeenTexts()
    assert seen.new_bytes([b"a first sentence", b"another one"]) == 27
    assert seen.new_bytes([b"a first sentence", b"another one"]) == 0


def test_a_filter_that_is_full_begins_anew() -> None:
    seen = SeenTexts()
    for number in range(10_000):
        seen.new_bytes([b"sentence number %d of many" % number])
    assert seen.new_bytes([b"something else altogether", b"and again", b"and a third", b"and one more"]) > 0


def test_pages_of_one_template_have_one_skeleton() -> None:
    assert skeleton(html("some words")) == skeleton(html("other words, and more of them"))
    assert skeleton(html("some words")) != skeleton(html("some <b>words</b>"))


# Soft 404


def test_a_site_is_probed_once_it_has_many_pages_and_never_said_404() -> None:
    site = SiteTraps()
    assert site.probe("/a", 9, 10) is None
    probe = site.probe("/a", 10, 10)
    assert probe is not None
    site.probed(probe, html(words(1)))
    assert site.probe("/a", 11, 10) is None
    assert site.is_soft_404("/b", html(words(2)), trusted=False)
    assert not site.is_soft_404("/b", b"<html><body><table><tr><td>a real page</table>", trusted=False)
    assert not site.is_soft_404("/", html(words(3)), trusted=False)


def test_on_a_site_that_the_user_named_only_the_same_words_are_a_soft_404() -> None:
    site = SiteTraps()
    probe = site.probe("/a", 20, 10)
    assert probe is not None
    site.probed(probe, html("we are sorry, this page was not found"))
    assert site.is_soft_404("/b", html("we are sorry, this page was not found"), trusted=True)
    assert not site.is_soft_404("/b", html(words(1)), trusted=True)
    assert site.is_soft_404("/b", html(words(1)), trusted=False)


def test_a_site_that_says_404_is_not_probed() -> None:
    site = SiteTraps()
    site.was_missing()
    assert site.probe("/a", 100, 10) is None


def test_a_site_that_was_honest_in_an_earlier_run_is_not_probed_again() -> None:
    assert SiteTraps(is_honest=True).probe("/a", 100, 10) is None


def test_an_honest_answer_to_the_probe_is_the_last_word() -> None:
    site = SiteTraps()
    probe = site.probe("/a", 10, 10)
    assert probe is not None
    site.probed(probe, None)
    assert site.probe("/a", 11, 10) is None
    assert not site.is_soft_404("/b", html("x"), trusted=False)


# Budgets


def test_a_budget_grows_with_what_a_site_is_worth() -> None:
    assert worth(given=False, seeds=1) == 1.0
    assert worth(given=True, seeds=1) == 100.0
    assert worth(given=False, seeds=1_000) > worth(given=False, seeds=10) > 1.0
    assert within(9_999, 10_000, 1.0) and not within(10_000, 10_000, 1.0)
    assert within(10**9, None, 1.0)


def test_a_person_can_let_urls_in() -> None:
    traps = CompiledTraps.of(Traps(let_in=("http://a.test/cal/*",)))
    assert traps.lets_in("http://a.test/cal/1") and not traps.lets_in("http://b.test/cal/1")
