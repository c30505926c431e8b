"""What a user can get wrong: one clear sentence, an exit code, and nothing that was there is touched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from .odd_web import OddWeb, Site, UrlOf, page, serving
from .webs import QUICK, Ran, crawl_inline, outcomes, run, settings_of, site_rows


def two_sites(url: UrlOf) -> Mapping[str, Site]:
    return {
        "one.test": {
            "/": page("/docs/a.html", "/docs/b.pdf", "/private/c.html", url("two.test", "/"), url("three.test", "/z")),
            "/docs/a.html": page(), "/docs/b.pdf": page(), "/private/c.html": page(),
        },
        "two.test": {"/": page("/deep"), "/deep": page()},
        "three.test": {"/z": page()},
    }  # fmt: skip


@pytest.fixture(scope="module")
def web() -> Iterator[OddWeb]:
    with serving(two_sites) as served:
        yield served


def options(web: OddWeb, folder: Path, **more: object) -> list[str]:
    own = {"net.allow_private": "127.0.0.0/8", "net.hosts": web.write_hosts(folder / "hosts")}
    return settings_of(QUICK, own, {key.replace("__", "."): value for key, value in more.items()})


def assert_one_sentence(ran: Ran, code: int, *words: str) -> None:
    assert ran.code == code, ran.err
    assert "Traceback" not in ran.err
    said = ran.err.strip()
    assert said.startswith("nephila: "), said
    for word in words:
        assert word in said, said


def test_rubbish_lines_are_counted_and_the_others_collected(web: OddWeb, tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_bytes(
        b"\xef\xbb\xbf# a comment\n\nhello world\nftp://one.test/\n" + web.url("three.test", "/z").encode()
        + b"\n\xff\xfe\xff\nhttp://[::bad/\n" + f"one.test:{web.port}\r\n".encode()
    )  # fmt: skip
    ran = crawl_inline(tmp_path / "crawl", "-i", seeds, *options(web, tmp_path, crawl__max_depth=0))
    assert ran.code == 0, ran.err
    assert ran.report["refused_seeds"] == 4
    assert "4 seeds were left out" in ran.err
    assert "line 3" in ran.err
    assert {url for url, outcome in outcomes(tmp_path / "crawl").items() if outcome == "ok"} == {
        web.url("three.test", "/z"), web.url("one.test"),
    }  # fmt: skip
    # the output list holds what was given and is a list of seeds itself
    listed = (tmp_path / "crawl" / "seeds.out").read_text().split()
    assert {web.url("three.test", "/z"), web.url("one.test")} <= set(listed)


def test_a_list_without_a_url_and_a_binary_file_are_refused_and_nothing_is_made(tmp_path: Path) -> None:
    rubbish = tmp_path / "rubbish.txt"
    rubbish.write_text("hello world\n")
    assert_one_sentence(crawl_inline(tmp_path / "crawl", "-i", rubbish), 2, "none of the seeds", "hello world")
    binary = tmp_path / "binary"
    binary.write_bytes(bytes(range(256)))
    assert_one_sentence(crawl_inline(tmp_path / "crawl", "-i", binary), 2, "binary file")
    assert_one_sentence(crawl_inline(tmp_path / "crawl", "-i", tmp_path / "none.txt"), 2, "cannot be read")
    assert_one_sentence(crawl_inline(tmp_path / "crawl"), 2, "no crawl", "give seeds")
    assert not (tmp_path / "crawl").exists()


def test_a_folder_that_is_no_crawl_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    assert_one_sentence(crawl_inline(tmp_path, "http://one.test/"), 2, "left alone")
    assert [entry.name for entry in tmp_path.iterdir()] == ["precious.txt"]
    assert_one_sentence(run("status", "-C", tmp_path), 2, "not a crawl folder")
    assert_one_sentence(run("why", "http://one.test/", "-C", tmp_path / "none"), 2, "no crawl")


def test_a_fixed_key_cannot_be_changed_but_a_changeable_one_can(web: OddWeb, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    ran = crawl_inline(folder, web.url("two.test"), *options(web, tmp_path, crawl__max_pages=1))
    assert (ran.code, ran.report["pages"]) == (0, 1)
    before = (folder / "nephila.toml").read_text()
    refused = crawl_inline(folder, "--set", "crawl.mode=sites", "--set", "aliases.rule=off")
    assert_one_sentence(refused, 2, "crawl.mode", "aliases.rule", "cannot go on")
    assert (folder / "nephila.toml").read_text() == before
    ran = crawl_inline(folder, "--set", "crawl.max_pages=5")
    assert ran.report["changes"] == ["crawl.max_pages: 1 -> 5"]
    assert (ran.report["how"], ran.report["pages"]) == ("done", 2)
    assert "was 1" in (folder / "nephila.toml").read_text()


def test_private_addresses_are_refused_with_a_hint_that_then_helps(web: OddWeb, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    hosts = {"net.hosts": web.write_hosts(tmp_path / "hosts")}
    ran = run("crawl", "-C", folder, "-q", web.url("two.test"), *settings_of(QUICK, hosts))
    assert ran.code == 0
    assert "blocked_address" in ran.out
    assert "--set net.allow_private=127.0.0.0/8" in ran.out
    assert web.paths("two.test").count("/deep") <= 1
    # the same command with the hint collects it
    ran = crawl_inline(folder, "--set", "net.allow_private=127.0.0.0/8")
    assert ran.report["outcomes"] == {"ok": 2}


def test_a_contact_is_needed_before_this_machine_is_left(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("192.0.2.1 outside.test\n")
    words = settings_of(QUICK, {"net.hosts": hosts, "net.allow_private": "192.0.2.0/24"})
    assert_one_sentence(crawl_inline(tmp_path / "crawl", "http://outside.test/", *words), 2, "net.contact")


def test_mode_sites_stays_on_the_given_sites(web: OddWeb, tmp_path: Path) -> None:
    ran = crawl_inline(tmp_path / "crawl", web.url("one.test"), *options(web, tmp_path, crawl__mode="sites"))
    assert ran.code == 0, ran.err
    assert {url.split("/")[2].partition(":")[0] for url in outcomes(tmp_path / "crawl")} == {"one.test"}
    outside = dict(site_rows(tmp_path / "crawl", "SELECT url, outcome FROM outside"))
    assert outside == {web.url("two.test"): "scope_rejected", web.url("three.test", "/z"): "scope_rejected"}
    assert "crawl.mode=sites" in run("why", web.url("two.test"), "-C", tmp_path / "crawl").out


def test_scope_rules_decide_by_host_and_path_and_are_told(web: OddWeb, tmp_path: Path) -> None:
    words = options(web, tmp_path, scope__exclude_hosts="two.*", scope__exclude_paths="/private/*,*.pdf")
    ran = crawl_inline(tmp_path / "crawl", web.url("one.test"), web.url("two.test"), *words)
    assert ran.code == 0, ran.err
    found = outcomes(tmp_path / "crawl")
    assert {url for url, outcome in found.items() if outcome == "ok"} == {
        web.url("one.test"), web.url("one.test", "/docs/a.html"), web.url("three.test", "/z"),
    }  # fmt: skip
    assert (
        found[web.url("one.test", "/private/c.html")] == found[web.url("one.test", "/docs/b.pdf")] == "scope_rejected"
    )
    told = run("why", web.url("one.test", "/docs/b.pdf"), "-C", tmp_path / "crawl").out
    assert "scope_rejected: exclude_paths" in told
    # a seed that is out of scope is named, and stays in the output list (S1-5)
    assert "1 seed was left out" in ran.err
    assert web.url("two.test") in (tmp_path / "crawl" / "seeds.out").read_text().split()


def test_included_hosts_and_paths_are_all_that_is_collected(web: OddWeb, tmp_path: Path) -> None:
    words = options(web, tmp_path, scope__include_hosts="one.test", scope__include_paths="/,/docs/*")
    ran = crawl_inline(tmp_path / "crawl", web.url("one.test"), *words)
    assert ran.code == 0, ran.err
    assert {url for url, outcome in outcomes(tmp_path / "crawl").items() if outcome == "ok"} == {
        web.url("one.test", path) for path in ("/", "/docs/a.html", "/docs/b.pdf")
    }


def test_further_seeds_reopen_a_crawl_that_had_ended(web: OddWeb, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    ran = crawl_inline(folder, web.url("three.test", "/z"), *options(web, tmp_path, crawl__mode="sites"))
    assert ran.report["outcomes"] == {"ok": 1}
    ran = crawl_inline(folder, web.url("three.test", "/z"), web.url("three.test", "/none"), web.url("two.test"))
    assert ran.report["outcomes"] == {"http_error": 1, "ok": 3}
    assert ran.report["run_pages"] == 3


def test_s1_1_parties_are_collected_apart_and_no_link_between_sites_is_followed(web: OddWeb, tmp_path: Path) -> None:
    # given two seeds, of which one links to the other's site, and to a third
    folder = tmp_path / "crawl"
    seeds = (web.url("one.test"), web.url("two.test", "/deep"))
    ran = crawl_inline(folder, *seeds, *options(web, tmp_path, crawl__mode="parties"))
    # then two.test's home page, which only one.test links to, is not asked for, though its site is collected
    assert (ran.code, ran.report["pages"]) == (0, 5)
    found = outcomes(folder)
    assert found[web.url("two.test", "/deep")] == "ok" and web.url("two.test") not in found
    left = run("why", web.url("two.test"), "-C", folder)
    assert "scope_rejected" in left.out
