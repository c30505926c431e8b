"""One process at a time, and folders of other versions: refused with a sentence, or migrated as a whole (F9, F11)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from nephila.crawl.site_tables import SITE_SCHEMA
from nephila.crawl.slot_tables import SLOT_SCHEMA
from nephila.store.database import Schema, open_reader, open_writer

from ..circle.webs import crawl, running, wait_until
from .faulty import SmallWeb, small_web

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("crash-disk")]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallWeb]:
    with small_web(tmp_path_factory.mktemp("web")) as served:
        yield served


def test_a_second_crawl_of_the_same_folder_is_refused_and_the_first_goes_on(web: SmallWeb, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with running(folder, *web.words("--agents", 1, "--set", "politeness.min_delay=2")) as started:
        wait_until(lambda: (folder / "state" / "coordinator.db").exists(), 60.0, "a crawl")
        for words in ([], web.words()):
            second = crawl(folder, *words)
            assert second.code == 4, second.err
            assert "in use by process" in second.err and str(started.process.pid) in second.err
        assert started.process.poll() is None
        started.kill_all()
    # a lock dies with its holder: nothing must be deleted by hand
    ran = crawl(folder, "--set", "politeness.min_delay=0.01")
    assert ran.code == 0, ran.err


@pytest.mark.parametrize("name", ["coordinator.db", "agent-00.db"])
def test_a_database_of_a_newer_version_is_refused(web: SmallWeb, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "crawl"
    assert web.inline(folder, "--set", "crawl.max_pages=3").code == 0
    schema = SITE_SCHEMA if name == "coordinator.db" else SLOT_SCHEMA
    newer = Schema(schema.name, (*schema.migrations, "CREATE TABLE of_tomorrow (x INTEGER) STRICT"))
    open_writer(folder / "state" / name, newer).close()
    shutil.copytree(folder / "state", tmp_path / "before")
    ran = crawl(folder, "--engine", "inline", "--agents", 1)
    assert ran.code == 1 and "newer Nephila" in ran.err and "upgrade" in ran.err and "Traceback" not in ran.err
    assert (folder / "state" / name).read_bytes() == (tmp_path / "before" / name).read_bytes()


@pytest.mark.parametrize("schema", [SITE_SCHEMA, SLOT_SCHEMA], ids=lambda schema: schema.name)
def test_every_older_version_is_migrated_to_what_a_new_database_is(schema: Schema, tmp_path: Path) -> None:
    def tables(path: Path) -> list[tuple[object, ...]]:
        reader = open_reader(path)
        try:
            return sorted(
                (table, *column)
                for (table,) in list(reader.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"))
                for column in list(reader.execute(f"SELECT name, type FROM pragma_table_info('{table}')"))
            )
        finally:
            reader.close()

    open_writer(tmp_path / "new.db", schema).close()
    for version in range(1, schema.version):
        path = tmp_path / f"{version}.db"
        open_writer(path, Schema(schema.name, schema.migrations[:version])).close()
        open_writer(path, schema).close()
        assert tables(path) == tables(tmp_path / "new.db")
        assert path.with_name(f"{path.name}.version-{version}").exists()
    assert tables(tmp_path / "new.db")
