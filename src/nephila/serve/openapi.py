"""The OpenAPI document, made from the table of routes and from the rows they answer with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from nephila import VERSION
from nephila.serve.api import Problem, Route
from nephila.serve.parameters import Parameter

TOKEN_HEADER = "X-Nephila-Token"  # noqa: S105  # its name


def openapi(routes: Sequence[Route]) -> dict[str, Any]:
    """OpenAPI 3.1: every route, its parameters, its answer and its refusals."""
    types = [*dict.fromkeys(route.answer for route in routes), Problem]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    schema_of = dict(zip(types, schemas, strict=True))
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Nephila",
            "version": VERSION,
            "description": (
                "A crawl folder as JSON. Times are UTC seconds. A change needs the token that GET /session gives, "
                f"in the header {TOKEN_HEADER}; where the server asks for a token, it is given as a bearer token."
            ),
        },
        "paths": paths,
        "components": {"schemas": components},
    }


def _operation(route: Route, schema_of: dict[type, Any]) -> dict[str, Any]:
    parameters = [_parameter(each) for each in route.parameters]
    refusals = {"400": "A parameter is wrong", "503": "The folder cannot be read now, or a step has not run yet"}
    if route.method == "POST":
        header = {"name": TOKEN_HEADER, "in": "header", "required": True, "schema": {"type": "string"}}
        parameters.append({**header, "description": "the form token"})
        refusals["403"] = "The form token is missing or wrong"
    refusals["404"] = "There is no such thing in this crawl"
    problem = {"application/json": {"schema": schema_of[Problem]}}
    answer = {"application/json": {"schema": schema_of[route.answer]}}
    return {
        "operationId": route.path.removeprefix("/api/").replace("/", "_"),
        "summary": route.summary,
        "parameters": parameters,
        "responses": {
            "200": {"description": route.summary, "content": answer},
            **{status: {"description": words, "content": problem} for status, words in refusals.items()},
        },
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "description": parameter.meaning,
        "schema": parameter.schema,
    }
