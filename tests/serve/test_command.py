"""`nephila serve` as a process: it tells its address, locks nobody out, and ends when it is told to."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nephila.cli import run
from nephila.crawl.status import Status
from nephila.jobs.serve import RANK_REPORT, Pace, crawl_now
from nephila.rank.run import REPORT_FILE

from ..circle.webs import environment
from .conftest import Client, Collected

pytestmark = pytest.mark.xdist_group("serve")  # one server, one collected web


@contextmanager
def started(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    command = [sys.executable, "-m", "nephila", "serve", "-C", str(folder), "--port", "0", "--json", *words]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        lines = []
        while not lines or lines[-1] != "}\n":
            lines.append(process.stdout.readline())
            assert lines[-1], process.communicate()[1]
        yield process, json.loads("".join(lines))
    finally:
        process.kill()
        process.communicate()


def test_it_prints_its_address_answers_and_ends_on_ctrl_c(collected: Collected) -> None:
    with started(collected.folder.path) as (process, told):
        # given the address it printed, which is answered at once because the socket was bound before
        client = Client(told["port"], None)
        assert told["url"] == f"http://127.0.0.1:{told['port']}/"
        assert client.get("/api/crawl").json["how"] == "done"
        # and the folder is free for others meanwhile
        collected.folder.lock("a crawl").release()
        # when it is told to end
        process.send_signal(signal.SIGINT)
        # then it does, without a word
        _, err = process.communicate(timeout=20)
        assert (process.returncode, err) == (0, "")


def test_a_server_for_other_machines_prints_a_token_and_asks_for_it(collected: Collected) -> None:
    with started(collected.folder.path, "--host", "0.0.0.0") as (_, told):
        url, _, token = told["url"].partition("?token=")
        assert url and len(token) >= 32
        client = Client(told["port"], token)
        assert client.get("/api/crawl").status == 401
        assert client.ask("GET", "/api/crawl", {"Authorization": f"Bearer {token}"}).status == 200
        # and a page of another name gets nothing, even with the token
        foreign = {"Host": "evil.test", "Authorization": f"Bearer {token}"}
        assert client.ask("GET", "/api/crawl", foreign).status == 403


def test_what_cannot_be_served_is_told_in_a_sentence(
    collected: Collected, tmp_path: Path, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", "-C", str(tmp_path / "none")]) == 2
    assert "There is no crawl in" in capsys.readouterr().err
    assert run(["serve", "-C", str(collected.folder.path), "--port", str(client.port)]) == 1
    assert "name another address with --host or another port with --port" in capsys.readouterr().err
    assert run(["serve", "-C", str(collected.folder.path), "--token", "short"]) == 2
    assert "fewer than 8 characters" in capsys.readouterr().err
    assert run(["serve", "-C", str(collected.folder.path), "--host", "no.such.name.test"]) == 1


def test_the_pace_is_that_of_the_last_moments_and_begins_anew_with_a_run() -> None:
    pace = Pace()
    # given a crawl that did ten pages a second, then a hundred
    assert pace.per_second(0.0, 0) is None
    assert [pace.per_second(float(at), 10 * at) for at in range(1, 31)][-1] == 10.0
    assert pace.per_second(41.0, 1400) == 100.0
    # then another run forgets it
    assert pace.per_second(100.0, 5) is None
    assert pace.per_second(102.0, 25) == 10.0


def test_a_crawl_that_has_not_begun_is_one_of_zeroes() -> None:
    status: Status | None = None
    now = crawl_now(status, Pace(), 5.0, paused=True)
    assert (now.begun, now.running, now.paused, now.pages, now.shown_at) == (False, False, True, 0, 5.0)


def test_the_report_of_the_ranks_has_one_name() -> None:
    assert RANK_REPORT == REPORT_FILE
