from pathlib import Path

import pytest

from nephila.config.check import keys
from nephila.config.layers import lay, read_file, read_settings
from nephila.config.rendering import as_toml
from nephila.config.resuming import resume
from nephila.config.sections import Config
from nephila.errors import ConfigError


def written(folder: Path, text: str) -> Path:
    path = folder / "my.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_any_file_the_defaults_hold() -> None:
    effective = lay([])
    assert effective.config == Config()
    assert set(effective.origins.values()) == {"default"}


def test_a_later_layer_wins_and_each_value_tells_where_it_came_from(tmp_path: Path) -> None:
    # given a file and a setting for the same key
    path = written(tmp_path, '[crawl]\nmax_pages = 10\nmax_depth = 3\n[politeness]\nmin_delay = "2s"\n')
    # when both are laid over the defaults
    effective = lay([read_file(path), read_settings(["crawl.max_pages=20"])])
    # then the setting wins, and the origins are told
    assert (effective.config.crawl.max_pages, effective.config.crawl.max_depth) == (20, 3)
    assert effective.config.politeness.min_delay == 2.0
    assert effective.origins["crawl.max_pages"] == "--set"
    assert effective.origins["politeness.min_delay"] == str(path)


def test_every_mistake_is_named_at_once_with_file_key_expectation_and_nearest_name(tmp_path: Path) -> None:
    path = written(tmp_path, '[crawl]\nmax_page = 1\nmode = "wide"\nmax_seconds = "soon"\n[politness]\nmin_delay = 1\n')
    with pytest.raises(ConfigError) as caught:
        lay([read_file(path)])
    lines = str(caught.value).splitlines()
    assert len(lines) == 4
    assert all(line.startswith(str(path)) for line in lines)
    assert lines[0].endswith("crawl.max_page: there is no such key; did you mean crawl.max_pages?")
    assert 'crawl.mode: expected one of "web", "sites", "parties", got \'wide\'' in lines[1]
    assert 'crawl.max_seconds: expected a duration such as "30s"' in lines[2]
    assert "did you mean politeness.min_delay?" in lines[3]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("crawl.max_pages=many", "a whole number (≥ 0)"),
        ("crawl.max_pages=-1", "a whole number (≥ 0)"),
        ("crawl.max_pages=1.5", "a whole number (≥ 0)"),
        ("crawl.max_pages=true", "a whole number (≥ 0)"),
        ("politeness.delay_factor=nan", "a number (≥ 0, ≤ 1000)"),
        ("politeness.delay_factor=99999", "a number (≥ 0, ≤ 1000)"),
        ("net.verify_tls=yes", "true or false"),
        ("clock.rate=0", "a number (> 0"),
        ("archive.rotate_size=huge", 'a size such as "2MiB"'),
        ("net.user_agent=a\nb", "a text without control characters"),
        ("net.user_agent=", ""),
        ("max_pages", "section.key=value"),
    ],
)
def test_a_badly_typed_value_is_refused_with_what_was_expected(setting: str, said: str) -> None:
    if setting == "net.user_agent=":
        assert lay([read_settings([setting])]).config.net.user_agent == ""
        return
    with pytest.raises(ConfigError) as caught:
        lay([read_settings([setting])])
    assert said in str(caught.value)
    assert setting.partition("=")[0] in str(caught.value)


def test_a_list_may_be_given_as_words_or_as_toml() -> None:
    words = lay([read_settings(["net.allow_private=127.0.0.0/8,10.0.0.0/8"])])
    toml = lay([read_settings(['net.allow_private=["127.0.0.0/8", "10.0.0.0/8"]'])])
    assert words.config.net.allow_private == toml.config.net.allow_private == ("127.0.0.0/8", "10.0.0.0/8")


def test_the_paper_profile_gives_S1_18s_figures_unless_they_are_given() -> None:
    paper = lay([read_settings(["politeness.profile=paper"])])
    assert (paper.config.politeness.min_delay, paper.config.politeness.delay_factor) == (30.0, 10.0)
    own = lay([read_settings(["politeness.profile=paper", "politeness.min_delay=5s"])])
    assert own.config.politeness.min_delay == 5.0


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"[crawl\n", "is not valid TOML"), (b"\xff\xfe\x00", "cannot be read"), (b"crawl = 3\n", "there is no such key")],
)
def test_a_file_that_is_no_configuration_is_refused_with_its_name(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "my.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        lay([read_file(path)])
    assert said in str(caught.value)
    assert "my.toml" in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such configuration file"):
        read_file(tmp_path / "absent.toml")


def test_what_is_printed_is_read_back_as_the_same_configuration(tmp_path: Path) -> None:
    settings = ["crawl.max_pages=7", "crawl.max_seconds=90m", "archive.rotate_size=10MiB", 'net.contact=a "b" \\ 검색']
    effective = lay([read_settings(settings)])
    again = lay([read_file(written(tmp_path, as_toml(effective)))])
    assert again.config == effective.config


def test_a_resume_keeps_what_the_folder_says_and_takes_changeable_keys(tmp_path: Path) -> None:
    kept = read_file(written(tmp_path, as_toml(lay([read_settings(["crawl.max_pages=7", "crawl.mode=sites"])]))))
    resumed = resume(kept, [read_settings(["crawl.max_pages=9"])])
    assert resumed.effective.config.crawl.mode == "sites"
    assert resumed.effective.config.crawl.max_pages == 9
    assert [(change.name, change.before, change.after) for change in resumed.changes] == [("crawl.max_pages", "7", "9")]


def test_a_resume_refuses_to_change_a_fixed_key_by_name(tmp_path: Path) -> None:
    kept = read_file(written(tmp_path, '[crawl]\nmode = "sites"\n'))
    with pytest.raises(ConfigError, match=r"crawl\.mode: this crawl was started with \"sites\""):
        resume(kept, [read_settings(["crawl.mode=web"])])


def test_saying_again_what_the_folder_says_is_no_change(tmp_path: Path) -> None:
    kept = read_file(written(tmp_path, '[crawl]\nmode = "sites"\n'))
    assert resume(kept, [read_settings(["crawl.mode=sites"])]).changes == ()


def test_every_key_has_a_meaning_of_one_line() -> None:
    assert all(key.meaning and "\n" not in key.meaning for key in keys().values())
