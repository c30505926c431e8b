"""The pages: each asks the sources for its rows and pours them into its template."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from nephila.errors import NephilaError
from nephila.serve import charts, hour_charts
from nephila.serve.copies import INERT_POLICY, content, is_shown
from nephila.serve.guard import Refused
from nephila.serve.parameters import Given, Parameter, WrongParameter, read_query
from nephila.serve.rendering import make_environment
from nephila.serve.sources import SITE_ORDERS, SITE_STATES, Asked, Sources

FORM_BYTES: Final = 16_384
REPORT_POLICY: Final = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
"""The report holds all that it needs in one file and runs nothing; its origin is opaque, and we alone frame it."""

_PAGE: Final = Parameter("page", "which page", "number")
_URL: Final = Parameter("url", "a URL")
_WORDS: Final = Parameter("q", "words")


class Pages:
    """What a browser is shown."""

    def __init__(self, sources: Sources, form_token: str) -> None:
        self._sources = sources
        self._environment = make_environment()
        self._environment.globals |= {
            "folder": sources.name, "form_token": form_token, "share": charts.share, "kind_of": charts.kind_of,
            "kinds": charts.KIND_NAMES, "link": link,
        }  # fmt: skip

    def readable(self) -> dict[str, Callable[[Request], Response]]:
        """Every page by its path; none of them changes anything."""
        return {
            "/": lambda _: RedirectResponse("/crawl"),
            "/crawl": self.crawl,
            "/crawl/live": self.crawl_live,
            "/sites": self.sites,
            "/site": self.site,
            "/why": self.why,
            "/search": self.search,
            "/copy": self.copy,
            "/copy/content": self.copy_content,
            "/ranks": self.ranks,
            "/statistics": self.statistics,
            "/report": self.report,
            "/schedule": self.schedule,
            "/freshness": self.freshness,
        }

    # Crawl

    def crawl(self, request: Request) -> Response:
        return self._show("crawl.html", here="crawl", **self._live())

    def crawl_live(self, request: Request) -> Response:
        """The part of the page that moves, alone."""
        return self._show("live.html", here="crawl", **self._live())

    def _live(self) -> dict[str, object]:
        sources = self._sources
        crawl = sources.crawl()
        largest = sources.sites("largest", "", "", 1).sites[:8] if crawl.begun else ()
        slowest = sources.sites("slowest", "", "", 1).sites[:8] if crawl.begun else ()
        return {
            "crawl": crawl,
            "drawn": charts.over_time(sources.timeline(), running=crawl.running),
            "queue": sources.queue(),
            "largest": largest,
            "slowest": [line for line in slowest if line.last_ms],
            "blocked": sources.blocked(),
        }

    def sites(self, request: Request) -> Response:
        parameters = (
            Parameter("order", "what comes first", "choice", choices=SITE_ORDERS),
            Parameter("containing", "a part of the URL"),
            Parameter("state", "state", "choice", choices=SITE_STATES),
            _PAGE,
        )
        given = _query(request, *parameters)
        order, containing, state = given.text("order"), given.text("containing"), given.text("state")
        found = self._sources.sites(order, containing, state, given.number("page"))
        return self._show(
            "sites.html", here="sites", found=found, order=order, containing=containing, state=state,
            orders=SITE_ORDERS, states=SITE_STATES,
        )  # fmt: skip

    def site(self, request: Request) -> Response:
        url = _query(request, _URL).text("url")
        site = self._sources.site(url)
        if site is None:
            return self.problem(Refused(404, "The crawl has never heard of that site."))
        return self._show("site.html", here="sites", site=site)

    def why(self, request: Request) -> Response:
        url = _query(request, _URL).text("url").strip()
        story = self._sources.url(url) if url else None
        copy = self._sources.copy(url) if url else None
        return self._show("why.html", here="crawl", asked=url, story=story, has_copy=copy is not None)

    # Search

    def search(self, request: Request) -> Response:
        switches = (Parameter("all", "all", "switch"), Parameter("explain", "explain", "switch"))
        given = _query(request, _WORDS, _PAGE, *switches)
        asked = Asked(given.text("q").strip(), given.number("page"), given.switch("all"), given.switch("explain"))
        found, problem = None, ""
        if asked.text:
            try:
                found = self._sources.search(asked)
            except NephilaError as error:
                problem = str(error)
        return self._show("search.html", here="search", asked=asked, found=found, problem=problem)

    def copy(self, request: Request) -> Response:
        given = _query(request, _URL, _WORDS)
        url = given.text("url")
        copy = self._sources.copy(url)
        if copy is None:
            return self.problem(Refused(404, "The archive holds nothing of that URL."))
        self._sources.opened(given.text("q"), url)
        return self._show("copy.html", here="search", copy=copy, bytes=len(copy.body), shown=is_shown(copy))

    def copy_content(self, request: Request) -> Response:
        """The copy itself, for the frame: under a head that leaves it no power at all."""
        given = _query(request, _URL, Parameter("source", "as text", "switch"))
        copy = self._sources.copy(given.text("url"))
        shown = None if copy is None else content(copy, as_source=given.switch("source"))
        if shown is None:
            return self.problem(Refused(404, "The archive holds nothing of that URL that can be shown."))
        headers = {"content-security-policy": INERT_POLICY, "content-type": shown.content_type}
        headers["referrer-policy"] = "no-referrer"
        return Response(shown.body, headers=headers)

    # Hours

    def freshness(self, request: Request) -> Response:
        return self._show("freshness.html", here="freshness", fresh=self._sources.freshness())

    def schedule(self, request: Request) -> Response:
        shown = self._sources.schedule()
        return self._show("schedule.html", here="schedule", schedule=shown,
                          days=hour_charts.days(shown) if shown else (),
                          hours=hour_charts.hours(shown) if shown else ())  # fmt: skip

    # Ranks and statistics

    def ranks(self, request: Request) -> Response:
        ranks = self._sources.ranks()
        return self._show(
            "ranks.html", here="ranks", ranks=ranks,
            distribution=charts.log_log(ranks.distribution) if ranks else None,
            residuals=charts.falling(ranks.residuals) if ranks else None,
        )  # fmt: skip

    def statistics(self, request: Request) -> Response:
        return self._show("statistics.html", here="statistics", crawl=self._sources.crawl(),
                          statistics=self._sources.statistics())  # fmt: skip

    def report(self, request: Request) -> Response:
        report = self._sources.report()
        if report is None:
            return self.problem(Refused(404, "There is no report in this folder yet."))
        headers = {"content-security-policy": REPORT_POLICY, "content-type": "text/html; charset=utf-8"}
        return Response(report, headers=headers)

    # Changes

    async def fields(self, request: Request) -> dict[str, str]:
        """The fields of a small form."""
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > FORM_BYTES:
                raise WrongParameter("The form is too large.")
        try:
            return dict(parse_qsl(body.decode("latin-1"), errors="replace", max_num_fields=20))
        except ValueError:
            raise WrongParameter("The form has too many fields.") from None

    def change(self, fields: dict[str, str]) -> Response:
        """Do what a form asks for, then show the page that it was on."""
        site = fields.get("site", "")
        match fields.get("action"):
            case "pause":
                self._sources.pause(True)
            case "resume":
                self._sources.pause(False)
            case "block" | "unblock" as action:
                if not self._sources.block(site, action == "block"):
                    return self.problem(Refused(404, "The crawl has never heard of that site."))
                return RedirectResponse(link("/site", url=site), 303)
            case _:
                return self.problem(Refused(400, "The form asks for nothing that can be done."))
        return RedirectResponse("/crawl", 303)

    # Everywhere

    def login(self, status: int) -> Response:
        return self._render("login.html", status, here="", wrong=status == 401)

    def problem(self, refused: Refused) -> Response:
        return self._render("problem.html", refused.status, here="", code=refused.status, sentence=refused.sentence)

    def _show(self, template: str, **rows: object) -> Response:
        sources = self._sources
        has = {
            "has_report": sources.report() is not None,
            "has_schedule": sources.has_schedule(),
            "has_freshness": sources.has_freshness(),
        }
        return self._render(template, 200, **has, **rows)

    def _render(self, template: str, status: int, **rows: object) -> Response:
        rows = {"has_report": False, "has_schedule": False, "has_freshness": False, **rows}
        text = self._environment.get_template(template).render(**rows)
        return Response(text.encode("utf-8", "replace"), status, media_type="text/html; charset=utf-8")


def link(path: str, **parameters: object) -> str:
    """A path of ours with its parameters, each percent-encoded."""
    given = {name: str(value) for name, value in parameters.items() if value not in ("", False, None)}
    given = {name: "true" if value == "True" else value for name, value in given.items()}
    return f"{path}?{urlencode(given)}" if given else path


def _query(request: Request, *parameters: Parameter) -> Given:
    return read_query(request.scope["query_string"], parameters)
