"""Pause, resume and block: only from our own pages, only with the token, and into DIR/control/ alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nephila.serve.api import ROUTES
from nephila.store.control import read_control, write_blocked, write_paused

from .conftest import Client, Collected

pytestmark = pytest.mark.xdist_group("serve")  # one server, one collected web


@pytest.fixture(autouse=True)
def nothing_asked(collected: Collected) -> Iterator[None]:
    yield
    write_paused(collected.folder, on=False)
    write_blocked(collected.folder, [])


def test_the_form_pauses_and_resumes(client: Client, collected: Collected) -> None:
    token = client.form_token()
    answer = client.post("/control", {"action": "pause", "token": token})
    assert (answer.status, answer.headers["location"]) == (303, "/crawl")
    assert read_control(collected.folder).paused
    client.post("/control", {"action": "resume", "token": token})
    assert not read_control(collected.folder).paused


def test_the_form_blocks_a_site_that_the_crawl_knows_and_no_other(client: Client, collected: Collected) -> None:
    token, site = client.form_token(), collected.url("odd.test", "")
    answer = client.post("/control", {"action": "block", "site": site, "token": token})
    assert answer.status == 303 and answer.headers["location"].startswith("/site?url=")
    assert read_control(collected.folder).blocked == {site}
    assert "Unblock" in client.get("/site", url=site).text
    assert client.post("/control", {"action": "block", "site": "http://x\n", "token": token}).status == 404
    client.post("/control", {"action": "unblock", "site": site, "token": token})
    assert read_control(collected.folder).blocked == frozenset()


def test_the_api_does_the_same(client: Client, collected: Collected) -> None:
    token = {"X-Nephila-Token": client.form_token()}
    assert client.ask("POST", "/api/control/pause", token).json["paused"] is True
    assert client.get("/api/control").json["paused"] is True
    assert client.ask("POST", "/api/control/resume", token).json["paused"] is False
    site = collected.url("odd.test", "")
    assert client.ask("POST", f"/api/control/block?site={site}", token).json["blocked"] == [site]
    assert client.ask("POST", "/api/control/block?site=http://unknown.test", token).status == 404
    assert client.ask("POST", f"/api/control/unblock?site={site}", token).json["blocked"] == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.test"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"}, {"Host": "evil.test"}, {"Origin": "https://127.0.0.1"},
        {"Origin": "http://127.0.0.1:1"},
    ],
)  # fmt: skip
def test_a_change_from_another_origin_is_refused_even_with_the_token(
    client: Client, collected: Collected, headers: dict[str, str]
) -> None:
    token = client.form_token()
    assert client.post("/control", {"action": "pause", "token": token}, headers).status == 403
    assert client.ask("POST", "/api/control/pause", {"X-Nephila-Token": token, **headers}).status == 403
    assert not read_control(collected.folder).paused


@pytest.mark.parametrize("token", ["", "wrong", "ü"])
def test_a_change_without_the_token_is_refused(client: Client, collected: Collected, token: str) -> None:
    assert client.post("/control", {"action": "pause", "token": token}).status == 403
    assert client.ask("POST", "/api/control/pause", {"X-Nephila-Token": token.encode().decode("latin-1")}).status == 403
    assert not read_control(collected.folder).paused


def test_every_route_that_changes_something_is_a_post(client: Client) -> None:
    changing = [route.path for route in ROUTES if route.method == "POST"]
    assert changing == [f"/api/control/{word}" for word in ("pause", "resume", "block", "unblock")]
    assert all(client.ask("GET", path).status == 405 for path in changing)


def test_a_form_that_is_too_large_or_asks_for_nothing_is_refused(client: Client) -> None:
    token = client.form_token()
    assert client.post("/control", {"action": "delete", "token": token}).status == 400
    assert client.post("/control", {"action": "pause", "token": token, "more": "x" * 20_000}).status == 400
