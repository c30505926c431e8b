"""robots.txt by RFC 9309: its own examples, real files, and files written to break a parser (E1, E12..E18)."""

from __future__ import annotations

import json
import tarfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.crawl.robots import MAX_BYTES, Rules, parse, product_token, rules_for
from nephila.urls import path_of


def read(text: str | bytes, name: str = "nephila") -> Rules:
    return rules_for(parse(text.encode() if isinstance(text, str) else text), name)


def test_the_published_cases_are_answered_as_published(data: Path) -> None:
    folder = data / "robots"
    cases = json.loads((folder / "rfc9309_cases.json").read_text())
    asked = cases["example_cases"] + cases["escape_cases"]
    wrong = [
        case
        for case in asked
        if read(case["robots"] if "robots" in case else (folder / case["file"]).read_bytes(), case["agent"]).allows(
            path_of(case["url"])
        )
        != case["allowed"]
    ]
    assert len(asked) == 61
    assert wrong == []


@pytest.mark.parametrize(
    ("file", "agent", "path", "allowed"),
    [
        ("robots-with-utf8-bom.txt", "nephila", "/login.aspx", False),
        ("robots-with-utf16le-bom.txt", "nephila", "/login.aspx", False),
        ("robots-with-utf16be-bom.txt", "nephila", "/a/output/print", False),
        ("robots-with-utf16be-bom.txt", "nephila", "/a", True),
        ("directive-typos-robots.txt", "bot1", "/desallow/", False),
        ("directive-typos-robots.txt", "bot1", "/dissalow/", False),
        ("directive-typos-robots.txt", "bot2", "/useragent/", False),
        ("directive-typos-robots.txt", "bot3", "/useg-agent/", False),
        ("directive-typos-robots.txt", "bot4", "/useragent-no-colon/", False),
        ("format-errors-robots.txt", "bot1", "/whitespace-before-colon/", False),
        ("format-errors-robots.txt", "bot1", "/no-colon/", False),
        ("format-errors-robots.txt", "bot2", "/no-colon-useragent/", False),
        ("format-errors-robots.txt", "bot3", "/whitespace-before-colon", True),
        ("format-errors-robots.txt", "bot3", "/other", False),
        ("malformed-path.txt", "nephila", "/wiki/Wikipedia_talk%3Mediation_Committee/", False),
        ("merge-rules.txt", "wget", "/foo/bar", True),
        ("merge-rules.txt", "wget", "/tmp/bar", False),
        ("merge-rules.txt", "nephila", "/foo/bar", False),
        ("precedence-of-rules.txt", "wget", "/foo", True),
        ("precedence-of-rules.txt", "testy", "/foo/bar", True),
        ("precedence-of-rules.txt", "testy", "/foo/baz", False),
        ("crawl-delay-group-merging.txt", "mybot", "/private/", False),
        ("crawl-delay-group-merging.txt", "mybot", "/login/", True),
        ("crawl-delay-group-merging.txt", "yourbot", "/login/", False),
        ("extensions-group-merging.txt", "mybot", "/private/", False),
        ("extensions-group-merging.txt", "nephila", "/llms.txt", True),
        ("extensions-group-merging.txt", "nephila", "/x", False),
        ("many-user-agents.txt", "wget", "/", False),
        ("twitter.com-robots.txt", "nephila", "/a?b", False),
        ("wildcards.txt", "nephila", "/gp/cart/view.html", False),
    ],
)
def test_fixtures_of_other_parsers(data: Path, file: str, agent: str, path: str, allowed: bool) -> None:
    rules = read((data / "robots" / "crawler_commons" / file).read_bytes(), agent)
    assert rules.allows(path) is allowed


@pytest.mark.parametrize(
    ("file", "agent", "delay_s"),
    [
        ("crawl-delay-group-merging.txt", "mybot", 10.0),
        ("crawl-delay-group-merging.txt", "yourbot", None),
        ("crawl-delay-group-merging.txt", "other", 30.0),
        ("dos-line-endings.txt", "nephila", 1.0),
        ("astore.amazon.com-robots.txt", "nephila", 5.0),
        ("twitter.com-robots.txt", "slurp", 1.0),
        ("twitter.com-robots.txt", "nephila", None),
    ],
)
def test_crawl_delays_of_fixtures(data: Path, file: str, agent: str, delay_s: float | None) -> None:
    assert read((data / "robots" / "crawler_commons" / file).read_bytes(), agent).crawl_delay_s == delay_s


def test_sitemaps_are_kept_as_written_and_once(data: Path) -> None:
    folder = data / "robots" / "crawler_commons"
    assert parse((folder / "sitemap-robots.txt").read_bytes()).sitemaps == (
        "http://domain.com/sitemap.xml",
        "http://domain.com/dir/MixedCased-sitemap.xml",
    )
    assert parse((folder / "sitemap-robots-dedup.txt").read_bytes()).sitemaps == ("http://example.org/sitemap.xml",)
    assert parse((folder / "relative-sitemap-robots.txt").read_bytes()).sitemaps == ("/sitemap.xml",)


def test_all_real_files_are_read_quickly_and_completely(data: Path) -> None:
    # given: 4,230 files, of which 781 name a crawl delay and 2,212 a sitemap, some of them in error pages or comments
    delays = sitemaps = files = 0
    slowest_s = 0.0
    with tarfile.open(data / "robots" / "protego_corpus.tar.gz") as corpus:
        for member in corpus:
            held = corpus.extractfile(member) if member.isfile() else None
            if held is None or "LICENSE" in member.name:
                continue
            body = held.read()
            # when
            started = time.process_time()
            robots = parse(body)
            rules = rules_for(robots, "nephila")
            rules.allows("/some/page.html?with=query")
            slowest_s = max(slowest_s, time.process_time() - started)
            # then
            files += 1
            delays += any(group.delays_s for group in robots.groups)
            sitemaps += bool(robots.sitemaps)
    assert files == 4230
    assert delays >= 700
    assert sitemaps >= 2100
    assert slowest_s < 0.5


def test_e1_rules_before_the_cap_are_obeyed_and_the_cut_line_is_dropped() -> None:
    # given: a file of 600 KiB with rules at 499,000, at 511,000 (N10), across the cap and after it
    body = bytearray(b"User-agent: *\n" + b"#" * 600 * 1024)
    for at, line in (
        (499_000, b"\nDisallow: /early\n"),
        (511_000, b"\nDisallow: /late\n"),
        (560_000, b"\nDisallow: /x\n"),
    ):
        body[at : at + len(line)] = line
    cut = b"\nAllow: /early/but-cut\n"
    body[MAX_BYTES - 12 : MAX_BYTES - 12 + len(cut)] = cut
    # when
    rules = read(bytes(body))
    # then
    assert [rule.pattern for rule in rules.rules] == ["/early", "/late"]


def test_a_line_cut_by_the_fetcher_is_dropped() -> None:
    rules = rules_for(parse(b"User-agent: *\nDisallow: /a\nDisallow: /", cut=True), "nephila")
    assert [rule.pattern for rule in rules.rules] == ["/a"]


def test_e12_an_html_page_holds_no_rules() -> None:
    page = "<!DOCTYPE html>\n<html><head><title>404: not here</title>\n<p>allowed: all\n<a href='http://x/'>x</a>"
    assert read(page) == Rules()


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /private",
        "User-agent: *\nDisallow: /private".encode("utf-16"),
        "User-agent: *\nDisallow: /private".encode("utf-16-le"),
        "User-agent: *\nDisallow: /private".encode("utf-16-be"),
        b"User-agent: *\0\nDis\0allow: /private\0",
        b"User-agent: *\rDisallow: /private\r",
        b"# caf\xe9\nUser-agent: *\nDisallow: /caf\xe9\nDisallow: /private",
        b"User-agent:\xc2\xa0*\n\xef\xbb\xbfDisallow:\xc2\xa0/private",
        b"\r\n\r\nUSER-AGENT: *\r\nDISALLOW:/private#comment",
        b"User-agent: * # everyone\nDisallow: /private \t",
    ],
)
def test_e13_parseable_lines_are_obeyed_in_any_charset_and_with_any_line_end(body: bytes) -> None:
    rules = read(body)
    assert not rules.allows("/private/page")
    assert rules.allows("/public")


def test_a_latin_1_path_forbids_the_urls_with_its_octets() -> None:
    assert not read(b"User-agent: *\nDisallow: /caf\xe9").allows("/caf%E9/menu")
    assert read(b"User-agent: *\nDisallow: /caf\xe9").allows("/caf%C3%A9/menu")


@pytest.mark.parametrize(
    ("value", "delay_s"),
    [
        ("1e9", 1e9),  # clamped where it is used: politeness knows the longest delay
        ("-1", None),
        ("NaN", None),
        ("inf", None),
        ("0.0001", 0.0001),
        ("2,5", 2.5),
        ("ten", None),
        ("9" * 400, None),
        ("", None),
    ],
)
def test_e14_a_crawl_delay_is_a_finite_number_or_nothing(value: str, delay_s: float | None) -> None:
    assert read(f"User-agent: *\nCrawl-delay: {value}\n").crawl_delay_s == delay_s


def test_the_longest_of_several_crawl_delays_holds() -> None:
    assert read("User-agent: *\nCrawl-delay: 2\nCrawl-delay: 9\nCrawl-delay: 3").crawl_delay_s == 9


def test_a_crawl_delay_belongs_to_the_names_right_above_it() -> None:
    text = "User-agent: slow\nCrawl-delay: 20\n\nUser-agent: nephila\nCrawl-delay: 2\nDisallow: /x"
    assert read(text).crawl_delay_s == 2
    assert read(text, "slow").crawl_delay_s == 20
    assert not read(text, "slow").allows("/x")


class TestE18GroupsForOurToken:
    def test_our_group_hides_the_one_for_all(self) -> None:
        rules = read("User-agent: *\nDisallow: /\n\nUser-agent: nephila\nDisallow: /x")
        assert rules.allows("/y")
        assert not rules.allows("/x")

    def test_the_groups_that_name_us_are_merged(self) -> None:
        rules = read(
            "User-agent: nephila\nDisallow: /a\n\nUser-agent: o\nDisallow: /\nUser-agent: Nephila\nDisallow: /b"
        )
        assert [rule.pattern for rule in rules.rules] == ["/a", "/b"]

    def test_the_token_matches_without_regard_to_case_and_version(self) -> None:
        assert not read("User-agent: NEPHILA/2.0\nDisallow: /", "nephila/0.1 (+https://x/)").allows("/")

    def test_a_token_that_only_begins_like_ours_is_another_robot(self) -> None:
        assert read("User-agent: Nav\nDisallow: /", "NavCrawler").allows("/")
        assert read("User-agent: NavCrawler\nDisallow: /", "Nav").allows("/")

    def test_a_crawl_delay_between_two_names_does_not_end_the_group(self) -> None:
        assert not read("User-agent: nephila\nCrawl-delay: 3\nUser-agent: b\nDisallow: /").allows("/")

    def test_a_group_of_ours_without_rules_allows_everything(self) -> None:
        assert read("User-agent: *\nDisallow: /\nUser-agent: nephila").allows("/")

    def test_rules_before_any_name_are_nobodys(self) -> None:
        assert read("Disallow: /\nUser-agent: *\nDisallow: /x").allows("/y")

    def test_rules_under_a_name_that_is_none_are_nobodys(self) -> None:
        assert read("User-agent: nephila\nDisallow: /x\nUser-agent: ???\nDisallow: /").allows("/y")


def test_robots_txt_itself_may_always_be_asked() -> None:
    assert read("User-agent: *\nDisallow: /").allows("/robots.txt")
    assert not read("User-agent: *\nDisallow: /").allows("/robots.txt.html")


def test_an_empty_disallow_forbids_nothing() -> None:
    assert read("User-agent: *\nDisallow:").allows("/")
    assert read("").allows("/")


def test_an_allowed_index_page_does_not_allow_its_folder() -> None:
    assert not read("User-agent: *\nDisallow: /\nAllow: /index.html").allows("/")


def test_many_names_over_many_rules_cost_no_more_than_their_lines() -> None:
    # given: what would be 10,000 × 10,000 if each name got its own copy of each rule and delay
    body = b"User-agent: a%d\n" * 10_000 % tuple(range(10_000)) + b"Disallow: /x\nCrawl-delay: 1\n" * 8_000
    started = time.process_time()
    rules = rules_for(parse(body, max_bytes=10**6), "a77")
    assert time.process_time() - started < 1.0
    assert rules.crawl_delay_s == 1.0
    assert len(rules.rules) == 1


@given(st.binary(max_size=400))
def test_no_bytes_make_the_parser_raise(body: bytes) -> None:
    rules = read(b"User-agent: *\n" + body)
    assert rules.allows("/robots.txt")
    rules.allows("/a?b")


lines = st.sampled_from(
    [
        "User-agent: *",
        "User-agent: nephila",
        "User-agent: x",
        "Disallow: /",
        "Disallow:",
        "Allow: /a*b$",
        "Disallow: /%2f",
        "Crawl-delay: 3",
        "Sitemap: http://x/s",
        "Noindex: /",
        "# note",
        "",
        "Disallow /b",
        "\x00",
        "ツ: 2",
    ]
)


@given(st.lists(lines, max_size=14), st.sampled_from(["\n", "\r", "\r\n"]))
def test_no_order_of_lines_makes_another_group_ours(chosen: list[str], line_end: str) -> None:
    rules = read(line_end.join(chosen))
    if not any(line.startswith("User-agent") and line != "User-agent: x" for line in chosen):
        assert rules.rules == ()
    if "Disallow: /" not in chosen and "Disallow: /%2f" not in chosen and "Disallow /b" not in chosen:
        assert rules.allows("/anything")


def test_product_tokens() -> None:
    assert [product_token(name) for name in ("Nephila/1.0 (+x)", " MJ12bot ", "* ", "*", "???", "")] == [
        *("nephila", "mj12bot", "*", "*", "", ""),
    ]
