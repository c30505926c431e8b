"""Bad input of every kind: one clear sentence that says what to do, the right exit code, and nothing is touched."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nephila.cli import run as command_line

Given = Callable[[Path], list[str]]
"""Prepares a folder and gives the words of the command."""

SEED = "http://127.0.0.1:9/"


def text(name: str, content: str | bytes) -> Callable[[Path], Path]:
    def write(place: Path) -> Path:
        path = place / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def seeds_of(content: str | bytes) -> Given:
    return lambda place: ["crawl", "-C", str(place / "crawl"), "-i", str(text("seeds.txt", content)(place))]


def set_to(*settings: str) -> Given:
    return lambda place: ["crawl", "-C", str(place / "crawl"), SEED, *(w for s in settings for w in ("--set", s))]


def config_of(content: str | bytes) -> Given:
    return lambda place: [
        "crawl", "-C", str(place / "crawl"), SEED, "--config", str(text("my.toml", content)(place))
    ]  # fmt: skip


def words(*given: str) -> Given:
    return lambda place: [word.replace("PLACE", str(place)) for word in given]


def in_folder(make: Callable[[Path], object], *given: str) -> Given:
    def prepare(place: Path) -> list[str]:
        (place / "folder").mkdir()
        make(place / "folder")
        return [word.replace("FOLDER", str(place / "folder")) for word in given]

    return prepare


def other_things(folder: Path) -> None:
    (folder / "holiday.jpg").write_bytes(b"\xff\xd8")


def a_version(content: bytes) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / "state").mkdir()
        (folder / "state" / "version").write_bytes(content)

    return make


CASES: dict[str, tuple[Given, int, tuple[str, ...]]] = {
    # seed lists
    "a binary file as seeds": (seeds_of(bytes(range(256))), 2, ("binary file", "one URL per line")),
    "a picture as seeds": (seeds_of(b"\xff\xd8\xff\xe0" + bytes(100)), 2, ("binary file",)),
    "rubbish lines alone": (seeds_of("hello world\n{}\n"), 2, ("none of the seeds", "hello world", "give URLs")),
    "an empty seed list": (seeds_of(""), 2, ("give seeds",)),
    "comments alone": (seeds_of("# nothing\n\n# here\n"), 2, ("no line with a URL", "give URLs")),
    "schemes that are not collected": (seeds_of("ftp://a.test/\nfile:///etc/passwd\n"), 2, ("none of the seeds",)),
    "a URL too long": (seeds_of("http://a.test/" + "x" * 5000 + "\n"), 2, ("none of the seeds",)),
    "a seed list that is missing": (words("crawl", "-C", "PLACE/crawl", "-i", "PLACE/none"), 2, ("cannot be read",)),
    "a folder as seed list": (words("crawl", "-C", "PLACE/crawl", "-i", "PLACE"), 2, ("cannot be read",)),
    "no seeds at all": (words("crawl", "-C", "PLACE/crawl"), 2, ("give seeds",)),
    "control characters as a seed": (words("crawl", "-C", "PLACE/crawl", "\x1b[2J\x07"), 2, ("none of the seeds",)),
    # numbers and keys
    "a negative limit": (set_to("crawl.max_pages=-1"), 2, ("crawl.max_pages", "expected", "got")),
    "a limit that is a word": (set_to("crawl.max_pages=many"), 2, ("crawl.max_pages", "whole number")),
    "a delay below zero": (set_to("politeness.min_delay=-5"), 2, ("politeness.min_delay",)),
    "a delay that is no number": (set_to("politeness.min_delay=nan"), 2, ("politeness.min_delay",)),
    "an endless factor": (set_to("politeness.delay_factor=inf"), 2, ("politeness.delay_factor",)),
    "a number beyond all numbers": (set_to("crawl.max_page_size=99999999999999999999GB"), 2, ("crawl.max_page_size",)),
    "a page size of nothing": (set_to("crawl.max_page_size=lots"), 2, ("crawl.max_page_size",)),
    "a rate of zero": (set_to("clock.rate=0"), 2, ("clock.rate",)),
    "an unknown key": (set_to("crawl.max_page=3"), 2, ("crawl.max_page", "did you mean crawl.max_pages?")),
    "an unknown section": (set_to("craw1.max_pages=3"), 2, ("craw1.max_pages", "no such key")),
    "a setting without a value": (set_to("crawl.max_pages"), 2, ("crawl.max_pages",)),
    "an unknown choice": (set_to("crawl.mode=everything"), 2, ("crawl.mode", '"web"', '"sites"')),
    "a range that is none": (set_to("net.allow_private=everything"), 2, ("net.allow_private",)),
    "a name server that is none": (set_to("net.nameservers=over-there:99999"), 2, ("net.nameservers",)),
    "a hosts file that is missing": (set_to("net.hosts=/no/such/file"), 2, ("/no/such/file",)),
    "a contact with a line end": (set_to("net.contact=a\nb"), 2, ("net.contact",)),
    "several mistakes are told at once": (set_to("crawl.a=1", "net.b=2"), 2, ("crawl.a", "net.b")),
    # configuration files
    "a configuration that is no TOML": (config_of("crawl = [broken"), 2, ("my.toml", "TOML")),
    "a binary configuration": (config_of(bytes(range(256))), 2, ("my.toml",)),
    "a configuration with an unknown key": (config_of("[crawl]\nmax_pges = 3\n"), 2, ("max_pges", "crawl.max_pages")),
    "a configuration of the wrong shape": (config_of("crawl = 3\n"), 2, ("my.toml", "crawl")),
    "a list in place of a number": (config_of("[crawl]\nmax_pages = [1, 2]\n"), 2, ("crawl.max_pages",)),
    "a table in place of a number": (config_of("[crawl.max_pages]\nx = 1\n"), 2, ("crawl.max_pages",)),
    "a configuration that is missing": (
        words("crawl", "-C", "PLACE/crawl", SEED, "--config", "PLACE/none.toml"), 2, ("none.toml",),
    ),
    "a folder as configuration": (
        words("crawl", "-C", "PLACE/crawl", SEED, "--config", "PLACE"), 2, ("configuration",),
    ),
    # folders
    "a file in place of the folder": (
        lambda place: ["crawl", "-C", str(text("file", "x")(place)), SEED], 2, ("is a file", "-C"),
    ),
    "a folder below a file": (
        lambda place: ["crawl", "-C", str(text("file", "x")(place) / "crawl"), SEED], 1, ("Cannot",),
    ),
    "a folder that is not a crawl": (in_folder(other_things, "crawl", "-C", "FOLDER", SEED), 2, ("left alone",)),
    "a folder where nothing can be written": (words("crawl", "-C", "/proc/nephila", SEED), 1, ("Cannot write",)),
    "a folder of a newer Nephila": (in_folder(a_version(b"99\n"), "crawl", "-C", "FOLDER", SEED), 1, ("upgrade",)),
    "a version that is none": (in_folder(a_version(b"\xff\n"), "status", "-C", "FOLDER"), 5, ("nephila repair",)),
    # what others ask of a folder
    **{
        f"{command} in a folder that is missing": (words(command, "-C", "PLACE/none", *more), 2, ("no crawl",))
        for command, *more in (["status"], ["why", SEED], ["convert"], ["repair"], ["load", "x.duckdb"])
    },
    **{
        f"{command} in a folder that is no crawl": (
            in_folder(other_things, command, "-C", "FOLDER", *more), 2, ("no", "crawl"),
        )
        for command, *more in (["status"], ["why", SEED], ["convert"], ["rank"], ["repair"])
    },
    "a graph that is missing": (words("rank", "--graph", "PLACE/none.tsv", "-C", "PLACE/rank"), 2, ("none.tsv",)),
    # the command line itself
    "an unknown command": (words("crwal"), 2, ("did you mean `nephila crawl`?",)),
    "an unknown option": (words("crawl", "--fast"), 2, ("--fast",)),
    "no agents": (words("crawl", "-C", "PLACE/crawl", SEED, "--agents", "0"), 2, ("--agents",)),
    "too many agents": (words("crawl", "-C", "PLACE/crawl", SEED, "--agents", "5000"), 2, ("--agents",)),
    "an unknown engine": (words("crawl", "-C", "PLACE/crawl", SEED, "--engine", "steam"), 2, ("--engine",)),
}  # fmt: skip


def everything_below(place: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(place.rglob("*"))}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_gets_one_clear_sentence_and_nothing_is_touched(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given, expected_code, said = CASES[name]
    arguments = given(tmp_path)
    before = everything_below(tmp_path)
    code = command_line(arguments)
    err = capfd.readouterr().err
    assert code == expected_code, err
    assert "Traceback" not in err and "\x1b" not in err
    assert all(word in err for word in said), err
    assert everything_below(tmp_path) == before
    assert len(err.strip()) < 1500


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o500)
    try:
        assert command_line(["crawl", "-C", str(tmp_path / "crawl"), SEED]) == 1
    finally:
        tmp_path.chmod(0o700)
    assert "right to write" in capfd.readouterr().err
