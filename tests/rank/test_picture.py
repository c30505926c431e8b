"""The picture of a ranking: well-formed, complete and alone."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from graphs import random_edges

from nephila.config.sections import Rank
from nephila.engine import Engine
from nephila.rank.picture import draw
from nephila.rank.report import Bin, RankReport
from nephila.rank.run import run_graph

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def report(inline: Engine, tmp_path: Path) -> RankReport:
    path = tmp_path / "links.tsv"
    path.write_text("".join(f"{a}\t{b}\n" for a, b in random_edges(1, 400, 3000, 0.1)))
    return run_graph(Rank(), tmp_path, path, inline)


def test_the_picture_shows_every_bin_and_every_round(report: RankReport, tmp_path: Path) -> None:
    # given the picture that a ranking left beside its ranks
    text = (tmp_path / "rank" / "rank.svg").read_text()
    picture = ET.fromstring(text)
    # then each bin is a bar, with its pages as a tip, and each round a point, lower and lower
    tips = [one.findtext(f"{SVG}title") for one in picture.iter(f"{SVG}rect") if one.get("class") == "b"]
    assert tips == [f"{one.pages:,} pages" for one in report.distribution]
    points = [point.split(",") for point in next(picture.iter(f"{SVG}polyline")).attrib["points"].split()]
    assert len(points) == report.rounds
    assert float(points[-1][1]) > float(points[0][1])
    assert all(0 <= float(x) <= 960 and 0 <= float(y) <= 340 for x, y in points)
    assert "tolerance" in text
    # and it needs nothing from outside
    assert text.count("http") == 1
    assert "<script" not in text


@pytest.mark.parametrize("residuals", [(), (0.0, 0.0), (0.5,), tuple(0.9**n for n in range(500))])
@pytest.mark.parametrize("bins", [(), (Bin(0, 1),), (Bin(-30, 7), Bin(40, 10**9))])
def test_any_ranking_can_be_drawn(residuals: tuple[float, ...], bins: tuple[Bin, ...], report: RankReport) -> None:
    odd = replace(report, residuals=residuals, distribution=bins, tolerance=0.0)
    picture = ET.fromstring(draw(odd))
    assert sum(one.get("class") == "b" for one in picture.iter(f"{SVG}rect")) == len(bins)
    assert len(list(picture.iter(f"{SVG}polyline"))) == any(residuals)
    labels = list(picture.iter(f"{SVG}text"))
    assert len(labels) < 40


def test_the_same_ranking_has_the_same_picture(report: RankReport) -> None:
    assert draw(report) == draw(report)
