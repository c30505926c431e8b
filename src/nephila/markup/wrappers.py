"""Wrappers: for pages whose URLs a pattern names, where on the page each field stands, and of which type it is (S4-1).

    [manual]
    match = ["http://www.example.org/doc/*.html"]
    fields.title = "h1"
    fields.version = { xpath = "//meta[@name='version']/@content", type = "number" }
    fields.changed = { css = "time", attribute = "datetime", type = "date" }
    fields.author = { json_ld = "author.name", of = "Article" }
    fields.sections = { css = "h2", many = true }

A field is a CSS selector, an XPath expression or a path into the page's JSON-LD; its type is text, number, date or url.
In comes a file and decoded HTML, out come `FieldValue` rows. The tree's parser and the expressions may take long on a
hostile page: callers run this where a process may die, as they do for the page's text.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, get_args

from turbohtml import Document, SelectorSyntaxError, parse

from nephila.errors import ConfigError
from nephila.markup.dates import parse_date
from nephila.markup.text import one_line
from nephila.urls import Refusal, StripRules, join

VALUE_CHARACTERS: Final = 8 * 2**10
MOST_VALUES: Final = 1000
FieldType = Literal["text", "number", "date", "url"]
_HOW: Final = ("css", "xpath", "json_ld")
_KEYS: Final = frozenset({*_HOW, "attribute", "type", "many", "of"})
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,60}")
_NUMBER: Final = re.compile(r"[-+−]?\d[\d.,\u00a0\u202f' ]{0,40}")
_DEEPEST: Final = 32


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    how: str  # css, xpath or json_ld
    where: str
    type: FieldType = "text"
    attribute: str = ""
    many: bool = False
    of: str = ""  # JSON-LD: only in things of this @type


@dataclass(frozen=True, slots=True)
class Wrapper:
    name: str
    match: tuple[str, ...]
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Wrappers:
    """All wrappers of a file, in its order; the first whose pattern matches is a page's."""

    wrappers: tuple[Wrapper, ...] = ()
    digest: str = ""  # of the file: another one makes other rows

    @property
    def patterns(self) -> tuple[str, ...]:
        return tuple(pattern for wrapper in self.wrappers for pattern in wrapper.match)

    def of(self, url: str) -> Wrapper | None:
        return next((each for each in self.wrappers if any(_matches(url, glob) for glob in each.match)), None)


@dataclass(frozen=True, slots=True)
class FieldValue:
    """One value of a field on a page; `number` or `moment` where its type says so and the text could be read as one."""

    wrapper: str
    field: str
    place: int
    text: str
    number: float | None = None
    moment: datetime | None = None


NO_WRAPPERS: Final = Wrappers()


def read_wrappers(path: str) -> Wrappers:
    """The file of `convert.wrappers`, its selectors tried; what is wrong is named with its wrapper and field."""
    if not path:
        raise ConfigError("convert.wrappers names no file; a wrapper-based crawl needs one (docs/scopes.md).")
    try:
        content = Path(path).read_bytes()
        tables = tomllib.loads(content.decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "no UTF-8"
        raise ConfigError(f"convert.wrappers: {path} cannot be read ({why}); give a TOML file.") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"convert.wrappers: {path} is not valid TOML: {error}.") from None
    wrappers = tuple(_wrapper(name, table, path) for name, table in tables.items())
    if not wrappers:
        raise ConfigError(f"convert.wrappers: {path} holds no wrapper; write one as [name] with match and fields.")
    return Wrappers(wrappers, hashlib.sha256(content).hexdigest())


def extract_fields(wrapper: Wrapper, html: str, url: str, rules: StripRules) -> Iterator[FieldValue]:
    """What a wrapper finds on a page; a field that is not there has no row."""
    tree = parse(html)
    for field in wrapper.fields:
        found = (text for text in _texts(field, tree) if text)
        for place, text in zip(range(MOST_VALUES if field.many else 1), found, strict=False):
            yield _value(wrapper.name, field, place, text[:VALUE_CHARACTERS], url, rules)


def _texts(field: Field, tree: Document) -> Iterator[str]:
    match field.how:
        case "css":
            for element in tree.select(field.where):
                yield _of_element(element, field.attribute)
        case "xpath":
            found = tree.xpath(field.where)
            for each in found if isinstance(found, list) else [found]:
                yield (
                    one_line(_shown(each))
                    if isinstance(each, str | float | bool)
                    else _of_element(each, field.attribute)
                )
        case _:
            for thing in _things(tree.json_ld()):
                if not field.of or field.of in _types(thing):
                    yield from (one_line(text) for text in _walk(thing, field.where.split("."), 0))


def _shown(value: str | float | bool) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _of_element(element: Any, attribute: str) -> str:
    if not attribute:
        return one_line(element.text[: VALUE_CHARACTERS * 4])
    value = element.attrs.get(attribute)
    return one_line(" ".join(value) if isinstance(value, list) else value or "")


def _things(blocks: list[Any]) -> Iterator[dict[str, Any]]:
    """The objects of all blocks, those in lists and graphs too."""
    for block in blocks:
        for each in block if isinstance(block, list) else [block]:
            if isinstance(each, dict):
                yield each
                graph = each.get("@graph")
                yield from (inner for inner in graph if isinstance(inner, dict)) if isinstance(graph, list) else ()


def _types(thing: dict[str, Any]) -> list[Any]:
    stated = thing.get("@type")
    return stated if isinstance(stated, list) else [stated]


def _walk(value: Any, path: list[str], depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for each in value[:MOST_VALUES]:
            yield from _walk(each, path, depth + 1)
    elif path:
        if isinstance(value, dict) and path[0] in value:
            yield from _walk(value[path[0]], path[1:], depth + 1)
    elif isinstance(value, str | int | float | bool):
        yield _shown(value)


def _value(wrapper: str, field: Field, place: int, text: str, url: str, rules: StripRules) -> FieldValue:
    match field.type:
        case "number":
            return FieldValue(wrapper, field.name, place, text, number=parse_number(text))
        case "date":
            return FieldValue(wrapper, field.name, place, text, moment=parse_date(text))
        case "url":
            target = join(url, text, rules)
            return FieldValue(wrapper, field.name, place, text if isinstance(target, Refusal) else target)
        case "text":
            return FieldValue(wrapper, field.name, place, text)


def parse_number(text: str) -> float | None:
    """The first number of a text: `1,234.5`, `1.234,5` and `1 234` are numbers in some country."""
    match = _NUMBER.search(text)
    if match is None:
        return None
    digits = re.sub(r"[\u00a0\u202f' ]", "", match[0]).replace("−", "-").rstrip(".,")
    comma, point = digits.rfind(","), digits.rfind(".")
    if comma >= 0 and point >= 0:
        thousands = "," if comma < point else "."
        digits = digits.replace(thousands, "").replace(",", ".")
    elif comma >= 0:
        # One comma and three digits behind it is a thousand, as in 1,234; else it is a decimal comma.
        is_thousand = digits.count(",") > 1 or len(digits) - comma == 4
        digits = digits.replace(",", "" if is_thousand else ".")
    elif digits.count(".") > 1:
        digits = digits.replace(".", "")
    try:
        return float(digits)
    except ValueError:
        return None


def _matches(url: str, pattern: str) -> bool:
    """A pattern covers the whole URL; leftmost pieces first, so that nothing is tried twice."""
    first, *rest = pattern.split("*")
    if not rest:
        return url == first
    if not url.startswith(first):
        return False
    at, last = len(first), rest.pop()
    for piece in rest:
        at = url.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return len(url) - len(last) >= at and url.endswith(last)


def _wrapper(name: str, table: Any, path: str) -> Wrapper:
    place = f"convert.wrappers: {path}: [{name}]"
    if not _NAME.fullmatch(name) or not isinstance(table, dict) or not table.keys() <= {"match", "fields"}:
        raise ConfigError(f"{place} must be a table with match and fields, named by letters, digits, - and _.")
    match, fields = table.get("match"), table.get("fields")
    if not isinstance(match, list) or not match or not all(isinstance(each, str) and each for each in match):
        raise ConfigError(f'{place}: match must be a list of URL patterns, such as ["http://www.example.org/doc/*"].')
    if not isinstance(fields, dict) or not fields:
        raise ConfigError(f'{place}: fields must name at least one field, such as fields.title = "h1".')
    return Wrapper(name, tuple(match), tuple(_field(key, written, place) for key, written in fields.items()))


def _field(name: str, written: Any, place: str) -> Field:
    place = f"{place}: fields.{name}"
    stated = {"css": written} if isinstance(written, str) else written
    if not _NAME.fullmatch(name) or not isinstance(stated, dict) or not stated.keys() <= _KEYS:
        raise ConfigError(f"{place}: may hold {', '.join(sorted(_KEYS))} and nothing else.")
    how = [each for each in _HOW if each in stated]
    if len(how) != 1 or not isinstance(stated[how[0]], str):
        raise ConfigError(f"{place}: needs exactly one of {', '.join(_HOW)}, as a text.")
    kind = stated.get("type", "text")
    if kind not in get_args(FieldType):
        raise ConfigError(f"{place}: type must be one of {', '.join(get_args(FieldType))}, not {kind!r}.")
    many, attribute, of = stated.get("many", False), stated.get("attribute", ""), stated.get("of", "")
    if not isinstance(many, bool) or not isinstance(attribute, str) or not isinstance(of, str):
        raise ConfigError(f"{place}: many must be true or false, attribute and of must be texts.")
    field = Field(name, how[0], stated[how[0]], kind, attribute, many, of)
    try:
        list(_texts(field, parse("<p>")))
    except (ValueError, TypeError, SelectorSyntaxError) as problem:
        raise ConfigError(f"{place}: {field.how} {field.where!r} cannot be read: {problem}.") from None
    return field
