"""The report: one file that needs nothing, and in which nothing of the web can act."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from nephila.config.sections import Stats
from nephila.engine import open_engine
from nephila.stats.report.drawing import HEIGHT, draw
from nephila.stats.report.make import ReportReport, make_report
from nephila.stats.report.page import render
from nephila.stats.section import Column, Mark, Plot, Section, Shape, change_sections_file, write_sections
from nephila.store.folder import CrawlFolder

from .made import made

HOSTILE = "<script>document.title='pwned'</script>\"onload='x'`<img src=//evil.test>\u202e\x1b[2J"


class Elements(HTMLParser):
    """Tags with their attributes, and the text outside of styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


def section(shape: Shape, rows: tuple[tuple[Any, ...], ...], **more: Any) -> Section:
    columns = (
        Column("name", "number" if shape in ("line", "log-log") else "text"),
        Column("a", "count"),
        Column("b", "count"),
    )
    plot = Plot(shape, "name", ("a", "b") if shape in ("pairs", "stacked", "line") else ("a",), **more)
    return Section("it", "It", "What it is.", "SELECT 1", columns, rows, plot)


def written(folder: CrawlFolder, config: Stats | None = None) -> ReportReport:
    with open_engine("inline", 1) as engine:
        return make_report(config or Stats(), folder, engine, 1_800_000_000.0)


def test_whatever_the_web_says_stays_text(tmp_path: Path) -> None:
    # given a crawl whose every text is an attack
    folder = made(
        tmp_path / HOSTILE.replace("/", ""),
        pages=[{"page_id": 0, "url": HOSTILE, "mime": HOSTILE, "language": HOSTILE, "charset": HOSTILE, "state": "OK",
                "code": 200, "outcome": HOSTILE, "parse": "ok", "link_kinds": HOSTILE}],
        sites=[{"site_id": 0, "url": HOSTILE, "state": HOSTILE, "robots": HOSTILE, "pages": 1}],
        domains=[{"domain_id": 0, "domain": HOSTILE, "pages": 1, "sites": 1}],
        visits=[{"visit": 1, "server": HOSTILE, "http": HOSTILE, "code": 200, "tls": HOSTILE}],
    )  # fmt: skip
    text = Path(written(folder).file).read_text(encoding="utf-8")
    # then there is no element but our own, and nothing that acts
    page = Elements(text)
    assert {tag for tag, _ in page.elements}.isdisjoint({"script", "iframe", "object", "embed", "form", "link", "base"})
    assert all(not name.startswith("on") for _, found in page.elements for name in found)
    assert "\u202e" not in text and "\x1b" not in text and "⟨202e⟩" in text
    assert "&lt;script&gt;" in text and "<img src=//evil" not in text


def test_the_report_asks_for_nothing_outside_itself(tmp_path: Path) -> None:
    folder = made(tmp_path / "crawl", pages=[{"page_id": 0, "url": "http://a/", "state": "OK", "code": 200}])
    (folder.rank).mkdir()
    (folder.rank / "rank.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>")
    text = Path(written(folder).file).read_text(encoding="utf-8")
    page = Elements(text)
    assert all((found.get("src") or "data:").startswith("data:") for _, found in page.elements)
    assert all((found.get("href") or "#").startswith("#") for _, found in page.elements)
    assert "url(" not in text and "@import" not in text
    policies = [
        found["content"] for tag, found in page.elements if found.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies and "default-src 'none'" in str(policies[0]) and "script" not in str(policies[0])


def test_every_table_has_its_definition_and_its_sql_and_every_link_leads_to_one(tmp_path: Path) -> None:
    folder = made(tmp_path / "crawl", pages=[{"page_id": 0, "url": "http://a/", "state": "OK", "code": 200}])
    report = written(folder)
    page = Elements(Path(report.file).read_text(encoding="utf-8"))
    ids = {found["id"] for tag, found in page.elements if tag == "section"}
    linked = {str(found["href"])[1:] for tag, found in page.elements if tag == "a"}
    assert ids == linked and len(ids) == report.tables - 1  # the summary is the cards at the top
    assert sum(tag == "pre" for tag, _ in page.elements) == len(ids)


def test_the_change_studys_tables_are_on_the_page_where_there_are_some(tmp_path: Path) -> None:
    folder = made(tmp_path / "crawl")
    before = written(folder)
    study = Section(
        "batches", "Table 7: batches", "How many.", "", (Column("batch", "number"),), ((1,),), group="Change"
    )
    write_sections(change_sections_file(folder), (study,))
    after = written(folder)
    assert after.tables == before.tables + 1
    assert "Table 7: batches" in Path(after.file).read_text(encoding="utf-8")


def test_the_report_of_a_study_describes_its_last_batch(tmp_path: Path) -> None:
    # given a study's folder, which has batches and no tables of its own; the third batch is not converted yet
    folder = CrawlFolder.create(tmp_path / "study")
    for batch in (1, 2):
        pages = [{"page_id": page, "url": f"http://a/{page}", "state": "OK", "code": 200} for page in range(batch)]
        made(folder.batch(batch), pages=pages)
    CrawlFolder.create(folder.batch(3))
    text = Path(written(folder).file).read_text(encoding="utf-8")
    assert "in study, batch 0002" in text and "<dd>2</dd>" in text
    assert (folder.report / "index.html").exists()


def test_a_study_without_a_converted_batch_has_a_report_of_its_own_tables(tmp_path: Path) -> None:
    folder = CrawlFolder.create(tmp_path / "study")
    CrawlFolder.create(folder.batch(1))
    write_sections(change_sections_file(folder), (section("columns", (("x", 1, 2), ("y", 2, 3))),))
    assert written(folder).tables == 1


def test_a_report_of_an_empty_crawl_says_so(tmp_path: Path) -> None:
    text = Path(written(made(tmp_path / "crawl")).file).read_text(encoding="utf-8")
    assert text.count("There is nothing to count here.") > 20


@pytest.mark.parametrize("shape", ["columns", "pairs", "stacked", "line", "log-log"])
def test_marks_lie_within_their_plot(shape: Shape) -> None:
    drawing = draw(section(shape, ((1, 5, 1), (2, 400_000, 20), (3, None, 3), (4, 0, 7))))
    assert drawing is not None
    marks = [(bar.x, bar.y) for bar in drawing.bars] + [(dot.x, dot.y) for dot in drawing.dots]
    assert len(marks) == {"columns": 2, "pairs": 6, "stacked": 6, "line": 7, "log-log": 2}[shape]
    assert all(0 <= x <= 100 and 0 <= y <= HEIGHT for x, y in marks)
    assert all(bar.x + bar.width <= 100.01 and bar.y + bar.height <= HEIGHT + 1 for bar in drawing.bars)


def test_taller_is_more_and_stacked_parts_stand_on_each_other() -> None:
    drawing = draw(section("stacked", (("x", 10, 30), ("y", 20, 0))))
    assert drawing is not None
    first, second, third = drawing.bars
    assert second.height == pytest.approx(3 * first.height, abs=0.1)
    assert second.y + second.height == pytest.approx(first.y)
    assert third.height == pytest.approx(2 * first.height, abs=0.1)


def test_a_fitted_law_is_a_line_over_the_dots() -> None:
    law = Mark("law", ((1.0, 100.0), (10.0, 1.0)))
    drawing = draw(section("log-log", ((1, 100, 0), (10, 1, 0)), marks=(law,)))
    assert drawing is not None
    (line,) = drawing.lines
    assert (line.x1, line.y1, line.x2, line.y2) == tuple(v for dot in drawing.dots for v in (dot.x, dot.y))
    assert drawing.legend[1] == "law"


@pytest.mark.parametrize("rows", [(), (("x", 1, 1),), (("x", None, None), ("y", None, None))])
def test_a_plot_of_nothing_or_of_one_value_is_not_drawn(rows: tuple[tuple[object, ...], ...]) -> None:
    assert draw(section("columns", rows)) is None


def test_a_page_can_be_made_of_any_sections() -> None:
    text = render("crawl", [section("line", ((1, 2, 3), (2, 3, 4)), low="a", high="b")], 0.0, "1.0", None)
    assert len(re.findall(r'<line class="l0"', text)) == 3  # one between the two dots, two whiskers
