"""The application: the guard in front, then pages, JSON, metrics and assets; every answer with the same strict head."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute
from starlette.routing import Route as Path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nephila.errors import NephilaError, UsageError
from nephila.serve.api import ROUTES, Problem, Route, Session
from nephila.serve.guard import COOKIE, Head, Refused, Rules, may_change, refusal, same, session
from nephila.serve.metrics import CONTENT_TYPE, make_metrics
from nephila.serve.openapi import TOKEN_HEADER, openapi
from nephila.serve.pages import Pages
from nephila.serve.parameters import WrongParameter, read_query
from nephila.serve.rendering import read_assets
from nephila.serve.sources import Sources

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEAD: Final[Mapping[str, str]] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # no-referrer would make browsers send Origin: null with our own forms
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), interest-cohort=()",
    "cache-control": "no-store",
}
_JSON: Final = "application/json"


def make_app(sources: Sources, rules: Rules) -> ASGIApp:
    """All that `nephila serve` answers."""
    pages = Pages(sources, rules.form_token)
    routes: list[BaseRoute] = [
        *(Path(path, page) for path, page in pages.readable().items()),
        Path("/control", _form(pages, rules), methods=["POST"]),
        *(Path(route.path, _question(route, sources, rules), methods=[route.method]) for route in ROUTES),
        Path("/api/openapi.json", _fixed(msgspec.json.encode(openapi(ROUTES)), _JSON)),
        Path("/api/session", _fixed(msgspec.json.encode(Session(rules.form_token)), _JSON)),
        Path("/metrics", _metrics(sources)),
        Path("/login", _login(pages, rules), methods=["GET", "POST"]),
        *(Path(f"/assets/{name}", _fixed(*asset, kept=True)) for name, asset in read_assets().items()),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={
            HTTPException: _http_problem(pages),
            UsageError: _told(pages, 400),
            NephilaError: _told(pages, 503),
            WrongParameter: _told(pages, 400),
        },
    )
    return Guarded(app, rules, pages)


class Guarded:
    """Asks the guard first, and puts the strict head on whatever is answered."""

    def __init__(self, app: ASGIApp, rules: Rules, pages: Pages) -> None:
        self._app = app
        self._rules = rules
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # no websockets, and nothing to do at start and end
        request = Request(scope)

        async def send_with_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                added = [(name.encode(), value.encode()) for name, value in _HEAD.items() if name.encode() not in given]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        token = request.query_params.get("token")
        if token is not None and self._rules.token is not None and request.url.path == "/":
            refused = refusal(_head_of(request, bearer=token), self._rules)
            answer = _enter(self._rules.token, "/") if refused is None else self._refuse(request, refused)
            await answer(scope, receive, send_with_head)
            return
        refused = refusal(_head_of(request), self._rules)
        if refused is None:
            await self._app(scope, receive, send_with_head)
        else:
            await self._refuse(request, refused)(scope, receive, send_with_head)

    def _refuse(self, request: Request, refused: Refused) -> Response:
        if request.url.path.startswith(("/api/", "/metrics")):
            return _json(Problem(refused.sentence), refused.status)
        return self._pages.login(refused.status) if refused.ask_for_token else self._pages.problem(refused)


def _head_of(request: Request, bearer: str = "") -> Head:
    headers = request.headers
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return Head(
        request.method,
        request.url.path,
        headers.get("host", ""),
        headers.get("origin", ""),
        headers.get("sec-fetch-site", ""),
        request.cookies.get(COOKIE, ""),
        bearer or (given.strip() if scheme.lower() == "bearer" else ""),
    )


def _json(row: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(row), status, media_type=_JSON)


def _question(route: Route, sources: Sources, rules: Rules) -> Callable[[Request], Any]:
    def answer(request: Request) -> Response:
        if route.method == "POST" and not may_change(request.headers.get(TOKEN_HEADER, ""), _head_of(request), rules):
            return _json(Problem(f"A change needs the form token in the header {TOKEN_HEADER}."), 403)
        try:
            row = route.ask(sources, read_query(request.scope["query_string"], route.parameters))
        except WrongParameter as wrong:
            return _json(Problem(str(wrong)), 400)
        except UsageError as wrong:
            return _json(Problem(str(wrong)), 400)
        except NephilaError as error:
            return _json(Problem(str(error)), 503)
        return _json(Problem("There is no such thing in this crawl."), 404) if row is None else _json(row)

    return answer


def _form(pages: Pages, rules: Rules) -> Callable[[Request], Any]:
    async def change(request: Request) -> Response:
        fields = await pages.fields(request)
        if not may_change(fields.get("token", ""), _head_of(request), rules):
            return pages.problem(Refused(403, "This form is from an earlier start of the server; load the page anew."))
        return await run_in_threadpool(pages.change, fields)

    return change


def _login(pages: Pages, rules: Rules) -> Callable[[Request], Any]:
    async def login(request: Request) -> Response:
        if request.method != "POST" or rules.token is None:
            return pages.login(200)
        fields = await pages.fields(request)
        if not same(fields.get("token", ""), rules.token):
            return pages.login(401)
        return _enter(rules.token, "/")

    return login


def _enter(token: str, to: str) -> Response:
    response = RedirectResponse(to, 303)
    response.set_cookie(COOKIE, session(token), httponly=True, samesite="lax", path="/", max_age=30 * 86_400)
    return response


def _metrics(sources: Sources) -> Callable[[Request], Response]:
    latest = make_metrics(sources.crawl)
    return lambda _: Response(latest(), media_type=CONTENT_TYPE)


def _fixed(body: bytes, kind: str, *, kept: bool = False) -> Callable[[Request], Response]:
    headers = {"cache-control": "max-age=3600"} if kept else {}
    return lambda _: Response(body, media_type=kind, headers=headers)


def _told(pages: Pages, status: int) -> Callable[[Request, Exception], Response]:
    return lambda _, error: pages.problem(Refused(status, str(error)))


def _http_problem(pages: Pages) -> Callable[[Request, Exception], Response]:
    def told(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        sentences = {404: "There is no such page here.", 405: "This can only be asked in another way."}
        sentence = sentences.get(error.status_code, error.detail)
        if request.url.path.startswith("/api/"):
            response = _json(Problem(sentence), error.status_code)
        else:
            response = pages.problem(Refused(error.status_code, sentence))
        response.headers.update(error.headers or {})
        return response

    return told
