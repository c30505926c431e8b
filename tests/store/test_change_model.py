from pathlib import Path

import pytest

from nephila.errors import DamagedError
from nephila.store.change_model import (
    LEAST_PAGES,
    S1_STUDY,
    ChangeModel,
    PageFeatures,
    RateGroup,
    read_change_model,
    write_change_model,
)
from nephila.store.folder import CrawlFolder

_ALL = RateGroup(None, None, None, 0.2, 5.0, 1000)


def test_a_page_gets_the_finest_group_that_has_pages_enough() -> None:
    fine = RateGroup("com", 2, "ha0", 0.9, 3.0, LEAST_PAGES - 1)
    middle = RateGroup(None, None, "ha0", 0.5, 2.0, LEAST_PAGES)
    model = ChangeModel((fine, middle, _ALL))

    assert model.prior_for(PageFeatures("com", 2, "ha0")) == (0.5, 2.0)
    assert model.prior_for(PageFeatures("com", 2, "000")) == (0.2, 5.0)


def test_depths_below_the_ninth_count_as_the_ninth() -> None:
    model = ChangeModel((RateGroup(None, 9, None, 0.7, 1.0, 50), _ALL))

    assert model.prior_for(PageFeatures("org", 40, "0a0")) == (0.7, 1.0)


def test_a_model_written_is_the_model_read(tmp_path: Path) -> None:
    folder = CrawlFolder.create(tmp_path / "crawl")
    assert read_change_model(folder) is None

    write_change_model(folder, S1_STUDY.groups, "bytes", 19.0)

    assert read_change_model(folder) == S1_STUDY


@pytest.mark.parametrize("content", ["", "{", '{"groups": []}', '{"groups": 3}', "\udcff"])
def test_a_damaged_model_is_told_with_its_file(tmp_path: Path, content: str) -> None:
    folder = CrawlFolder.create(tmp_path / "crawl")
    folder.study.mkdir()
    (folder.study / "change_model.json").write_bytes(content.encode("utf-8", "surrogateescape"))

    with pytest.raises(DamagedError, match=r"change_model\.json.*nephila study"):
        read_change_model(folder)


def test_the_korean_web_of_2003_is_assumed_where_nothing_was_studied() -> None:
    """S1-47: pages with links change, those without hardly ever; S1-42: home pages by their suffix."""
    linked = S1_STUDY.group_for(PageFeatures("co.kr", 3, "ha0"))
    bare = S1_STUDY.group_for(PageFeatures("co.kr", 3, "000"))
    home = S1_STUDY.group_for(PageFeatures("co.kr", 0, "ha0"))

    assert linked.mean_per_day > 100 * bare.mean_per_day
    assert (home.suffix, home.depth) == ("co.kr", 0)
