"""S4's one hour for all, learnt from the crawl's own log (S4-5)."""

from __future__ import annotations

from email.utils import formatdate
from pathlib import Path

from nephila.config.sections import Refresh
from nephila.crawl.slot_tables import SLOT_SCHEMA
from nephila.engine import open_engine
from nephila.refresh.run import run
from nephila.refresh.update_hours import hour_after, learned_hour
from nephila.store.database import close, open_writer, transaction

from .test_planning import DAY_S, NOW_DAY, _folder


def test_the_hour_is_the_full_one_after_the_latest_update() -> None:
    # the paper's own times: 13:41 to 15:36 give 16:00
    assert hour_after([(13 + 41 / 60) * 3600, DAY_S + (15 + 36 / 60) * 3600]) == 16
    assert hour_after([DAY_S + 23.5 * 3600]) == 0
    assert hour_after([]) is None


def test_a_crawl_learns_the_hour_from_headers_and_from_its_visits_and_plans_by_it(tmp_path: Path) -> None:
    # given changes of this week, one of them dated by its header, and a late one of a month ago
    folder, now = _folder(tmp_path / "crawl", 5), NOW_DAY * DAY_S
    assert learned_hour(folder, now) is None
    slot = open_writer(folder.agent_database(0), SLOT_SCHEMA)
    with transaction(slot):
        for key, at in ((0, now - DAY_S + 9.2 * 3600), (1, now - 2 * DAY_S + 22 * 3600), (2, now - 30 * DAY_S - 60)):
            slot.execute("INSERT INTO changes VALUES (1, ?, 0, ?, ?, 3, 1, 1, 2, 5, 0, 1, x'', 0)", (key, at, at))
        modified = formatdate(now - 2 * DAY_S + 11.5 * 3600, usegmt=True)
        slot.execute("UPDATE pages SET modified = ? WHERE hash = 1", (modified,))
        slot.execute("UPDATE pages SET modified = 'yesterday, more or less' WHERE hash = 0")
    close(slot)
    # then the hour is that after the update which the header tells
    assert learned_hour(folder, now) == 12
    with open_engine("inline", 1) as engine:
        assert run(Refresh(policy="groups"), folder, engine, now, 2, 0).hour == 12
        assert run(Refresh(), folder, engine, now, 2, 0).hour is None
