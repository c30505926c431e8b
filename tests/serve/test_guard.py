"""Who may ask, and from where: the decisions alone, and over real HTTP."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.config.sections import Serve
from nephila.jobs.serve import make_sources
from nephila.serve.guard import Head, Rules, host_name, is_loopback, refusal, session
from nephila.serve.server import listen

from .conftest import Client, Collected

pytestmark = pytest.mark.xdist_group("serve")  # one server, one collected web

LOCAL = Rules(frozenset({"localhost", "127.0.0.1", "[::1]"}), any_address=False, token=None, form_token="f")
PUBLIC = Rules(frozenset({"machine.test"}), any_address=True, token="secret-token", form_token="f")


@pytest.mark.parametrize("host", ["localhost", "localhost:8470", "127.0.0.1:1", "[::1]:8470", "LOCALHOST:8470"])
def test_on_loopback_the_names_of_loopback_are_answered(host: str) -> None:
    assert refusal(Head("GET", "/", host), LOCAL) is None


@given(st.text(max_size=40))
def test_on_loopback_no_other_name_is_answered(host: str) -> None:
    refused = refusal(Head("GET", "/", host), LOCAL)
    assert refused is None if host_name(host) in LOCAL.names else refused is not None and refused.status == 403


@pytest.mark.parametrize(
    "host", ["evil.test", "localhost.evil.test", "127.0.0.1.evil.test:8470", "192.168.0.1", "", "["]
)
def test_a_rebound_name_is_refused(host: str) -> None:
    assert refusal(Head("GET", "/", host), LOCAL) is not None


def test_where_a_token_is_asked_for_nothing_is_shown_without_it() -> None:
    for path in ("/crawl", "/api/crawl", "/metrics", "/copy/content", "/assets/nephila.js"):
        refused = refusal(Head("GET", path, "10.0.0.5:8470"), PUBLIC)
        assert refused is not None and refused.status == 401 and refused.ask_for_token
    assert refusal(Head("GET", "/login", "10.0.0.5:8470"), PUBLIC) is None
    assert refusal(Head("GET", "/crawl", "10.0.0.5", cookie=session("secret-token")), PUBLIC) is None
    assert refusal(Head("GET", "/crawl", "machine.test", bearer="secret-token"), PUBLIC) is None
    assert refusal(Head("GET", "/crawl", "machine.test", cookie="secret-token"), PUBLIC) is not None
    assert refusal(Head("GET", "/crawl", "rebound.test", bearer="secret-token"), PUBLIC) is not None


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("127.3.2.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False),
     ("10.0.0.1", False), ("example.org", False), ("localhost.evil.test", False)],
)  # fmt: skip
def test_loopback_is_told_from_everything_else(host: str, local: bool) -> None:
    assert is_loopback(host) is local


def test_a_foreign_host_is_refused_over_http(client: Client) -> None:
    for path in ("/crawl", "/api/crawl", "/metrics", "/assets/style.css", "/api/session"):
        assert client.ask("GET", path, {"Host": "evil.test"}).status == 403, path


def test_a_server_that_others_can_reach_always_has_a_token(collected: Collected) -> None:
    listening = listen(make_sources(collected.folder, collected.config), Serve(host="0.0.0.0", port=0), None)
    try:
        assert listening.token is not None and len(listening.token) >= 32
        assert f"?token={listening.token}" in listening.url
    finally:
        listening.socket.close()


def test_the_token_opens_the_door_for_a_browser_and_for_a_script(guarded: Client) -> None:
    # given nobody has shown the token
    assert guarded.get("/crawl").status == 401
    assert guarded.get("/api/crawl").status == 401
    assert "Golden" not in guarded.get("/copy/content", url="http://good.test").text
    # when a browser follows the printed address
    entered = guarded.get("/", token="the-secret-token")
    cookie = entered.headers["set-cookie"]
    assert entered.status == 303 and "HttpOnly" in cookie and "SameSite=lax" in cookie
    assert "the-secret-token" not in cookie
    # then its cookie opens the pages, and so does the form, and so does a bearer token
    assert guarded.ask("GET", "/crawl", {"Cookie": cookie.partition(";")[0]}).status == 200
    assert guarded.post("/login", {"token": "the-secret-token"}).status == 303
    assert guarded.post("/login", {"token": "wrong"}).status == 401
    assert guarded.get("/", token="wrong").status == 401
    assert guarded.ask("GET", "/api/crawl", {"Authorization": "Bearer the-secret-token"}).status == 200
