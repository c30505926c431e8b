"""Fields taken from pages: where they stand, their types, and files that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from nephila.errors import ConfigError
from nephila.markup.wrappers import extract_fields, parse_number, read_wrappers
from nephila.urls import NO_RULES

PAGE = """<html><h1> A  <b>thing</b></h1><p class=price>€ 1.234,50</p><a rel=next href="../q?x=1">n</a>
<time datetime="2020-05-06T10:00:00+09:00">x</time><ul><li>one<li>two<li></ul>
<script type="application/ld+json">
[{"@graph": [{"@type": ["Thing", "Book"], "author": [{"name": "K"}, {"name": "L"}]}]},
 {"@type": "Other", "author": {"name": "M"}}]
</script><script type="application/ld+json">{broken</script>"""


def fields(tmp_path: Path, *lines: str) -> list[tuple[str, str, object]]:
    path = tmp_path / "w.toml"
    path.write_text('[w]\nmatch = ["http://a.test/*"]\n' + "\n".join(f"fields.{line}" for line in lines))
    [wrapper] = read_wrappers(str(path)).wrappers
    rows = extract_fields(wrapper, PAGE, "http://a.test/d/p", NO_RULES)
    return [(row.field, row.text, row.number if row.number is not None else row.moment) for row in rows]


def test_css_xpath_and_json_ld_find_text_numbers_dates_and_urls(tmp_path: Path) -> None:
    found = fields(
        tmp_path, 'name = "h1"', 'price = { css = ".price", type = "number" }',
        'next = { css = "a[rel=next]", attribute = "href", type = "url" }',
        'since = { xpath = "//time/@datetime", type = "date" }', 'count = { xpath = "count(//li)", type = "number" }',
        'items = { css = "li", many = true }', 'one = "li"', 'gone = "article"',
        'authors = { json_ld = "author.name", many = true, of = "Book" }',
        'all = { json_ld = "author.name", many = true }',
    )  # fmt: skip
    assert [(name, text) for name, text, _ in found] == [
        ("name", "A thing"), ("price", "€ 1.234,50"), ("next", "http://a.test/q?x=1"),
        ("since", "2020-05-06T10:00:00+09:00"), ("count", "3"), ("items", "one"), ("items", "two"), ("one", "one"),
        ("authors", "K"), ("authors", "L"), ("all", "K"), ("all", "L"), ("all", "M"),
    ]  # fmt: skip
    values = {name: value for name, _, value in found}
    assert (values["price"], values["count"]) == (1234.5, 3.0)
    assert str(values["since"]) == "2020-05-06 01:00:00+00:00"


@pytest.mark.parametrize(
    ("text", "number"),
    [("1,234.5 won", 1234.5), ("1.234,5", 1234.5), ("1,234", 1234.0), ("3,5", 3.5), ("-7", -7.0), ("12 345", 12345.0),
     ("1.2.3", 123.0), ("about", None), ("v2.", 2.0)],
)  # fmt: skip
def test_numbers_are_read_as_people_write_them(text: str, number: float | None) -> None:
    assert parse_number(text) == number


def test_the_first_pattern_that_covers_the_whole_url_decides(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_text(
        '[a]\nmatch = ["http://a.test/x/*.html"]\nfields.f = "p"\n[b]\nmatch = ["*a.test/*"]\nfields.f = "p"\n'
    )
    wrappers = read_wrappers(str(path))
    names = [found.name if (found := wrappers.of(url)) else "" for url in (
        "http://a.test/x/1.html", "http://a.test/x/1.html?", "http://b.test/", "http://a.test/")]  # fmt: skip
    assert names == ["a", "b", "", "b"]
    assert wrappers.patterns == ("http://a.test/x/*.html", "*a.test/*")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no wrapper"),
        ("x =", "not valid TOML"),
        ("[w]\nfields.f = 'p'", "match must be"),
        ("[w]\nmatch = ['*']", "fields must name"),
        ("[w]\nmatch = ['*']\nfields.f = { css = 'p', xpath = '//p' }", "exactly one of"),
        ("[w]\nmatch = ['*']\nfields.f = { css = 'p', type = 'money' }", "type must be one of"),
        ("[w]\nmatch = ['*']\nfields.f = { csss = 'p' }", "may hold"),
        ("[w]\nmatch = ['*']\nfields.f = 'p['", "css 'p\\[' cannot be read"),
        ("[w]\nmatch = ['*']\nfields.f = { xpath = '//[' }", "cannot be read"),
        ("[w]\nmatch = ['*']\nfields.f = { css = 'p', many = 1 }", "many must be"),
        ("['w x']\nmatch = ['*']\nfields.f = 'p'", "named by letters"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_wrapper_and_field(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=said):
        read_wrappers(str(path))
