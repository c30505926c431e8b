"""Whether somebody is at work, told without disturbing them."""

from __future__ import annotations

from pathlib import Path

from nephila.store.folder import CrawlFolder


def test_a_folder_is_in_use_while_its_lock_is_held_and_looking_takes_nothing(tmp_path: Path) -> None:
    folder = CrawlFolder.create(tmp_path / "crawl")
    assert not folder.in_use()
    with folder.lock("a test"):
        assert folder.in_use()
    assert not folder.in_use()
    folder.lock("another").release()
