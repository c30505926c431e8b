"""The JSON beside the pages says the same, and does what its own document promises."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from nephila import VERSION
from nephila.config.sections import Serve
from nephila.jobs.serve import make_sources
from nephila.serve.api import ROUTES
from nephila.serve.openapi import openapi
from nephila.serve.server import listen
from nephila.store.control import write_blocked, write_paused

from .conftest import Client, Collected

pytestmark = pytest.mark.xdist_group("serve")  # one server, one collected web

SCHEMA = schemathesis.openapi.from_dict(openapi(ROUTES))


def test_the_document_names_every_route_and_every_row(client: Client) -> None:
    document = client.get("/api/openapi.json").json
    assert document["info"]["version"] == VERSION
    assert {(path, method) for path, found in document["paths"].items() for method in found} == {
        (route.path, route.method.lower()) for route in ROUTES
    }
    assert {"CrawlNow", "SiteShown", "Found", "Problem"} <= document["components"]["schemas"].keys()


def test_the_crawl_is_told_as_the_pages_tell_it(client: Client, collected: Collected) -> None:
    crawl = client.get("/api/crawl").json
    assert crawl["how"] == "done" and not crawl["running"] and not crawl["paused"]
    assert crawl["sites"]["done"] == 3
    assert crawl["outcomes"]["blocked_robots"] == 1
    spans = client.get("/api/timeline").json["spans"]
    assert sum(sum(span["outcomes"].values()) for span in spans) == crawl["pages"]


def test_errors_have_examples_and_sites_have_pages(client: Client, collected: Collected) -> None:
    errors = {error["outcome"]: error for error in client.get("/api/queue").json["errors"]}
    assert {example["url"] for example in errors["http_error"]["examples"]} >= {collected.url("good.test", "/gone")}
    assert errors["blocked_robots"]["examples"][0]["reason"] == "Disallow: /private"
    sites = client.get("/api/sites", order="name", containing=f":{collected.port}").json
    assert [site["url"] for site in sites["sites"]] == [
        collected.url(host, "") for host in ("evil.test", "good.test", "odd.test")
    ]
    assert client.get("/api/sites", containing="%").json["sites"] == []
    assert len(client.get("/api/sites", containing="ood.").json["sites"]) == 1


def test_a_search_a_copy_and_a_story_are_told(client: Client, collected: Collected) -> None:
    hit = client.get("/api/search", q="nephilaunique").json["hits"][0]
    assert hit["url"] == collected.url("good.test", "/weaver")
    copy = client.get("/api/copy", url=hit["url"]).json
    assert (copy["mime"], copy["code"], copy["charset"]) == ("text/html", 200, "utf-8")
    assert client.get("/api/why", url=hit["url"]).json["outcome"] == "ok"
    assert client.get("/api/copy", url="http://nowhere.test/").status == 404
    assert client.get("/api/search", q="before:never").status == 400


def test_prometheus_reads_the_figures(client: Client) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    answer = client.get("/metrics")
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    assert families["nephila_running"].samples[0].value == 0
    assert families["nephila_pages"].samples[0].value > 5
    outcomes = {sample.labels["outcome"]: sample.value for sample in families["nephila_urls"].samples}
    assert outcomes["ok"] > 5 and outcomes["blocked_robots"] == 1


def test_a_folder_whose_crawl_has_not_begun_is_no_error(tmp_path: object) -> None:
    from pathlib import Path

    from nephila.config.sections import Config
    from nephila.store.folder import CrawlFolder

    assert isinstance(tmp_path, Path)
    sources = make_sources(CrawlFolder.create(tmp_path / "crawl"), Config())
    listening = listen(sources, Serve(port=0), None)
    with listening.in_background():
        client = Client(listening.port, None)
        assert client.get("/api/crawl").json["begun"] is False
        assert client.get("/api/search", q="a").status == 503
        assert client.get("/api/ranks").status == 404
        for path in ("/crawl", "/sites", "/search", "/search?q=a", "/ranks", "/statistics"):
            assert client.get(path).status == 200, path
        assert "nephila index" in client.get("/search?q=a").text


@SCHEMA.parametrize()
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_is_asked_the_answer_is_one_that_the_document_promises(
    case: schemathesis.Case, client: Client, collected: Collected
) -> None:
    # given any request that the document describes, right or wrong, with the real token
    if "/control/" in case.path:
        case.headers["X-Nephila-Token"] = client.form_token()
    # when the real server is asked
    try:
        response = case.call(base_url=f"http://127.0.0.1:{client.port}")
    finally:
        write_paused(collected.folder, on=False)
        write_blocked(collected.folder, [])
    # then it keeps its promises
    case.validate_response(
        response,
        checks=[
            not_a_server_error_but_503, status_code_conformance, content_type_conformance,
            response_schema_conformance,
        ],
    )  # fmt: skip


def not_a_server_error_but_503(ctx: object, response: object, case: object) -> None:
    """503 says that a step has not run yet; it is in the document."""
    if getattr(response, "status_code", 0) != 503:
        not_a_server_error(ctx, response, case)  # type: ignore[arg-type]
