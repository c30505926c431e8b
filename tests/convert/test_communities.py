"""Communities by Leiden, or from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from nephila.convert.communities import detect, from_file
from nephila.errors import UsageError


def test_planted_communities_are_found_and_numbered_by_their_first_site() -> None:
    # given three groups of five sites that link among each other, one link between groups, and a site alone
    edges = [(a, b, 10) for group in range(3) for a in range(group, 15, 3) for b in range(group, 15, 3) if a != b]
    edges += [(0, 1, 1), (1, 2, 1)]
    first, second, weights = zip(*edges, strict=True)
    found = detect(16, first, second, weights)
    assert found.of_site == (*([0, 1, 2] * 5), 3)
    assert found.names == ("", "", "", "")


def test_sites_without_links_are_communities_of_their_own() -> None:
    assert detect(3, [], [], []).of_site == (0, 1, 2)
    assert detect(0, [], [], []).of_site == ()


def test_a_file_names_sites_hosts_or_domains(tmp_path: Path) -> None:
    """S0-17."""
    file = tmp_path / "communities.csv"
    file.write_text("# ours\nkaist.ac.kr,universities\nhttp://www.snu.ac.kr,universities\nnews.example.kr,press\n")
    sites = ["http://www.kaist.ac.kr", "http://other.kr", "http://www.snu.ac.kr", "https://news.example.kr"]
    found = from_file(file, sites)
    assert found.of_site == (0, 1, 0, 2)
    assert found.names == ("universities", "", "press")


def test_a_wrong_line_is_refused_by_its_number(tmp_path: Path) -> None:
    file = tmp_path / "communities.csv"
    file.write_text("kaist.ac.kr,universities\nkaist.ac.kr\n")
    with pytest.raises(UsageError, match="line 2"):
        from_file(file, [])
    with pytest.raises(UsageError, match="cannot be read"):
        from_file(tmp_path / "none.csv", [])
