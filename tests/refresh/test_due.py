"""When one page is due: looked up alone, with the answer that a look at all pages gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nephila.config.sections import Refresh
from nephila.crawl.slot_tables import SLOT_SCHEMA
from nephila.engine import open_engine
from nephila.refresh import due
from nephila.refresh.due import when_due
from nephila.refresh.policies import POLICIES
from nephila.refresh.run import PageKey, run
from nephila.shown import DuePage
from nephila.store.database import close, open_writer, transaction
from nephila.store.folder import CrawlFolder
from nephila.store.plan import read_plan, write_head
from nephila.store.search_log import note_opened, note_search

from .test_planning import DAY_S, NOW_DAY, _folder

NOW = NOW_DAY * DAY_S


def _with_history(path: Path) -> CrawlFolder:
    """Three hundred pages, visited again five times; every third was found changed."""
    folder = _folder(path, 300)
    slot = open_writer(folder.agent_database(0), SLOT_SCHEMA)
    with transaction(slot):
        for key in range(300):
            changes = 5 if key % 3 == 0 else 0
            slot.execute(
                "INSERT INTO changes VALUES (1, ?, 0, ?, ?, 5, ?, ?, ?, ?, 0, ?, x'', 0)",
                (key, NOW - DAY_S, NOW - DAY_S if changes else None, changes, changes, 10 * changes / 5,
                 10 - 10 * changes / 5, 5 if changes else 0),
            )  # fmt: skip
    close(slot)
    return folder


def _looked_up(config: Refresh, folder: CrawlFolder, key: int) -> DuePage | None:
    return when_due(config, folder, PageKey(0, 1, "http://a.kr", key), NOW)


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_one_page_looked_up_alone_is_due_when_a_look_at_all_says(
    policy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given a plan by a policy
    config = Refresh(policy=policy)  # type: ignore[arg-type]
    folder = _with_history(tmp_path / "crawl")
    with open_engine("inline", 1) as engine:
        run(config, folder, engine, NOW, 20, 0)
    # when two pages are looked up, without a look at the others
    with monkeypatch.context() as only_one:
        only_one.setattr(due, "gather", None)
        alone = [_looked_up(config, folder, key) for key in (3, 4)]
        assert _looked_up(config, folder, 9999) is None
    # then all of them say the same
    head = read_plan(folder)
    assert head is not None
    write_head(folder, replace(head, terms=None))
    assert alone == [_looked_up(config, folder, key) for key in (3, 4)]
    assert alone[0] is not None and alone[0].changed_visits == 5 and "last seen 1 day ago" in alone[0].sentence


def test_why_tells_that_users_search_for_a_page(tmp_path: Path) -> None:
    # given a crawl whose page 7 has the id 7, and a search that showed and opened it
    folder = _with_history(tmp_path / "crawl")
    _give_ids(folder, 300)
    note_search(folder, "spiders", [(7, "http://a.kr/seven")], NOW, 100)
    note_opened(folder, "spiders", "http://a.kr/seven", NOW)
    with open_engine("inline", 1) as engine:
        run(Refresh(), folder, engine, NOW, 20, 0)
    # when
    wanted, other = _looked_up(Refresh(), folder, 7), _looked_up(Refresh(), folder, 8)
    # then it weighs more than one that nobody looks for, is due sooner, and the sentence says so
    assert wanted is not None and other is not None
    assert wanted.weight > 10 * other.weight and (wanted.due_at or 0) < (other.due_at or 1e18)
    assert "times a mean page" in wanted.sentence
    assert wanted.sentence.endswith("; shown to searchers 1 times and opened 1 times of late")
    assert "searchers" not in other.sentence
    # and a crawl that does not care plans as before
    careless = Refresh(search_weight=0.0)
    with open_engine("inline", 1) as engine:
        assert run(careless, folder, engine, NOW, 20, 0).mean_interest == 0.0


def _give_ids(folder: CrawlFolder, pages: int) -> None:
    from nephila.convert.ids import IdStore

    ids = IdStore(folder.state / "convert.db")
    ids.give_page_ids([(0, [(1, key) for key in range(pages)])])
    ids.close()
