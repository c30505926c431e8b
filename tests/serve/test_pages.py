"""Every page over real HTTP: it answers, it is safe, and nothing crawled gets any power."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from urllib.parse import quote

import pytest

from nephila.jobs.serve import make_sources
from nephila.serve.sources import Asked
from nephila.store.search_log import SHOWN_WORTH, count_of_one, read_interest, search_log_file

from .conftest import ACTING, HOSTILE_TITLE, Client, Collected
from .payloads import PAYLOADS

pytestmark = pytest.mark.xdist_group("serve")  # one server, one collected web

PATHS = ["/crawl", "/crawl/live", "/sites", "/search", "/search?q=weaver&explain=true", "/ranks", "/statistics", "/why"]


class Markup(HTMLParser):
    """What a parser finds in a page: elements, attributes, and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def all_pages(collected: Collected) -> list[str]:
    from urllib.parse import quote

    hosts = [quote(collected.url(host, ""), safe="") for host in ("good.test", "evil.test", "odd.test")]
    urls = [quote(collected.url("evil.test", path), safe="") for path in ("/", "/bidi")]
    return [
        *PATHS, *(f"/search?q=payload&all=true&page={page}" for page in range(1, 8)),
        *(f"/site?url={host}" for host in hosts), *(f"/why?url={url}" for url in urls),
        *(f"/copy?url={url}" for url in urls), "/search?q=acting+OR+script+OR+orb&all=true",
    ]  # fmt: skip


def test_every_page_answers(client: Client, collected: Collected) -> None:
    for path in all_pages(collected):
        answer = client.ask("GET", path)
        assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8"), path


def test_no_page_has_a_script_a_style_or_a_handler_of_its_own_nor_a_character_that_acts(
    client: Client, collected: Collected
) -> None:
    for path in all_pages(collected):
        text = client.ask("GET", path).text
        page = Markup(text)
        # then the only script is ours, from its file
        scripts = [attributes.get("src") for tag, attributes in page.elements if tag == "script"]
        assert scripts in ([], ["/assets/nephila.js"]), path
        assert not [tag for tag, _ in page.elements if tag in ("style", "object", "embed", "base")], path
        names = {name for _, attributes in page.elements for name in attributes}
        assert not [name for name in names if name.startswith("on") or name == "style"], path
        # and every image and frame is ours
        assert all((a.get("src") or "/").startswith("/") for tag, a in page.elements if tag in ("img", "iframe")), path
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text), path


def test_a_hostile_title_is_shown_as_the_text_it_is(client: Client, collected: Collected) -> None:
    found = client.get("/search", q="nemesis", all="true")
    assert HOSTILE_TITLE[:40].replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#39;") in found.text.replace(
        "<mark>", ""
    ).replace("</mark>", "")
    assert "⟨202e⟩" in client.get("/search", q="acting title").text


def test_every_answer_has_the_strict_head(client: Client, collected: Collected) -> None:
    paths = [*all_pages(collected), "/api/crawl", "/api/openapi.json", "/metrics", "/nothing", "/assets/style.css", "/"]
    for path in paths:
        headers = client.ask("GET", path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy, path
        assert headers["x-content-type-options"] == "nosniff", path
        assert headers["referrer-policy"] == "same-origin", path
        assert headers["cross-origin-resource-policy"] == "same-origin", path
        assert "server" not in headers, path


def test_a_copy_is_sent_without_any_power(client: Client, collected: Collected) -> None:
    answer = client.get("/copy/content", url=collected.url("evil.test"))
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")  # no word behind sandbox: nothing is allowed
    assert "allow" not in policy and "script" not in policy and "form-action 'none'" in policy
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert b"<script>" in answer.body  # it is the page as it was
    # and the page around it frames it in a sandbox as well
    frames = [
        a for tag, a in Markup(client.get("/copy", url=collected.url("evil.test")).text).elements if tag == "iframe"
    ]
    assert [frame["sandbox"] for frame in frames] == [""]


def test_a_copy_tells_its_date_and_its_source_is_plain_text(client: Client, collected: Collected) -> None:
    shown = client.get("/copy", url=collected.url("good.test", "/weaver")).text
    assert re.search(r"<time>20\d\d-\d\d-\d\d \d\d:\d\d:\d\d</time>", shown)
    source = client.get("/copy/content", url=collected.url("good.test", "/weaver"), source="true")
    assert source.headers["content-type"] == "text/plain; charset=utf-8"
    assert source.headers["content-security-policy"].startswith("sandbox;")
    assert "Golden orb weaver" in source.text


def test_what_is_no_text_is_not_shown(client: Client, collected: Collected) -> None:
    url = collected.url("odd.test", "/bytes")
    assert "not shown here" in client.get("/copy", url=url).text
    assert client.get("/copy/content", url=url).status == 404
    text = client.get("/copy/content", url=collected.url("odd.test", "/notes.txt"))
    assert text.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "../../etc/passwd", "http://good.test/../../state", "", "\0", "http://["]
)
def test_no_url_becomes_a_file_name(client: Client, url: str) -> None:
    assert client.get("/copy", url=url).status == 404
    assert client.get("/copy/content", url=url).status == 404
    assert client.get("/site", url=url).status == 404
    assert client.get("/why", url=url).status == 200


@pytest.mark.parametrize(
    "path", ["/assets/../app.py", "/assets/%2e%2e/app.py", "/assets/style.css/..", "/report", "/x"]
)
def test_only_the_files_that_pages_load_are_served(client: Client, path: str) -> None:
    assert client.ask("GET", path).status == 404


def test_the_story_of_a_url_names_its_rule(client: Client, collected: Collected) -> None:
    told = client.get("/why", url=collected.url("odd.test", "/private/a")).text
    assert "blocked robots" in told and "Disallow: /private" in told


def test_a_site_shows_its_rules_its_delay_and_its_visits(client: Client, collected: Collected) -> None:
    told = client.get("/site", url=collected.url("odd.test", "")).text
    assert "Disallow: /private" in told and "/notes.txt" in told and "left alone for" in told
    assert "Everything known of it has been collected or decided." in told


def test_a_search_marks_its_words_and_leads_to_the_copy(client: Client, collected: Collected) -> None:
    found = client.get("/search", q="nephilaunique").text
    assert "<mark>nephilaunique</mark>" in found
    assert 'href="/copy?url=http%3A%2F%2Fgood.test' in found
    assert "<mark>검색</mark>" in client.get("/search", q="검색").text


def test_searches_are_logged_where_the_user_wants_that_and_nowhere_else(client: Client, collected: Collected) -> None:
    # given a server that keeps no log, which is the default
    client.get("/search", q="nephilaunique")
    assert not search_log_file(collected.folder).exists()
    # when one that keeps it is asked, and the hit is opened from its list
    config = replace(collected.config, search=replace(collected.config.search, log=True))
    sources = make_sources(collected.folder, config)
    try:
        hit = sources.search(Asked("nephilaunique", 1, show_all=False, explain=False)).hits[0]
        assert sources.opened("Nephilaunique ", hit.url)
        assert not sources.opened("nephilaunique", "http://good.test/never-shown")
        # then the log has it: shown once, opened once
        [(page_id, interest)] = read_interest(collected.folder)
        assert interest == pytest.approx(1 + SHOWN_WORTH) and count_of_one(collected.folder, page_id) == (1, 1)
        link = unescape(client.get("/search", q="nephilaunique").text)
        assert f"/copy?url={quote(hit.url, safe='')}&q=nephilaunique" in link
        assert client.get("/copy", url=hit.url, q="nephilaunique").status == 200
        # and a log that cannot be written costs a remark, not the hits
        search_log_file(collected.folder).write_bytes(b"")
        found = sources.search(Asked("nephilaunique", 1, show_all=False, explain=False))
        assert found.hits and "was not noted" in found.remarks[0]
    finally:
        search_log_file(collected.folder).unlink()


def test_a_bad_query_is_told_in_a_sentence(client: Client) -> None:
    answer = client.get("/search", q="before:yesterday")
    assert answer.status == 200 and 'role="alert"' in answer.text


def test_a_wrong_parameter_is_told_in_a_sentence(client: Client) -> None:
    for path in ("/sites?page=0", "/sites?order=DROP", "/sites?x=1", "/search?q=a&q=b", "/sites?page=99999999999999"):
        answer = client.ask("GET", path)
        assert answer.status == 400 and 'role="alert"' in answer.text, path


def test_no_page_changes_anything_by_get(collected: Collected, client: Client) -> None:
    # the paths that change something answer nothing but POST
    assert client.ask("GET", "/control?action=pause").status == 405
    assert client.ask("GET", "/api/control/pause").status == 405
    assert not (collected.folder.control / "paused").exists()


def test_acting_characters_were_really_crawled(collected: Collected, client: Client) -> None:
    source = client.get("/copy/content", url=collected.url("evil.test", "/bidi"), source="true").text
    assert ACTING.split()[0] in source


def test_every_payload_is_found_and_shown_as_the_text_it_is(client: Client) -> None:
    # given all hits of a hostile site, page by page
    titles: list[str] = []
    for number in range(1, 9):
        page = client.get("/search", q="payload", all="true", page=number).text
        titles += re.findall(r"<h2><a [^>]*><bdi>(.*?)</bdi></a></h2>", page, re.DOTALL)
    # then every one of them is there, and none of them holds an element but our marks
    assert len(titles) == len(PAYLOADS) + 1  # and the page that links to them
    assert {tag for title in titles for tag in re.findall("<[^>]*>", title)} <= {"<mark>", "</mark>"}
    shown = {unescape(re.sub("<[^>]*>", "", title)) for title in titles}
    assert any(title.startswith("{{ form_token }} payload") for title in shown)
    assert any(title.startswith("<script>document.body.dataset.pwned=1</script> payload") for title in shown)
