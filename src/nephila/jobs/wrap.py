"""Trying wrappers on a page before anything is converted: what each field finds, and which finds nothing (S4-1)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nephila.config.sections import Config
from nephila.convert.attributes import decoded_text
from nephila.crawl.kept import kept_copy
from nephila.crawl.setup import strip_rules
from nephila.errors import NephilaError, UsageError
from nephila.markup.wrappers import FieldValue, Wrapper, Wrappers, extract_fields
from nephila.store.folder import CrawlFolder


@dataclass(frozen=True, slots=True)
class WrappedPage:
    """What a wrapper found on one page; `wrapper` is empty where no pattern matches its URL."""

    page: str
    url: str
    wrapper: str
    values: tuple[FieldValue, ...]
    missing: tuple[str, ...]  # fields that are not on the page


@dataclass(frozen=True, slots=True)
class WrapReport:
    pages: tuple[WrappedPage, ...]


def wrap(config: Config, wrappers: Wrappers, pages: tuple[str, ...], directory: Path, url: str) -> WrapReport:
    """Try the wrappers on files, or on URLs that the crawl in `directory` has kept; nothing is written."""
    return WrapReport(tuple(_wrapped(config, wrappers, page, directory, url) for page in pages))


def _wrapped(config: Config, wrappers: Wrappers, page: str, directory: Path, url: str) -> WrappedPage:
    body, content_type, own_url = _page(config, page, directory, url)
    wrapper = _of(wrappers, own_url)
    if wrapper is None:
        return WrappedPage(page, own_url, "", (), ())
    html = decoded_text(body, content_type, config.convert.max_parse_size).text
    values = tuple(extract_fields(wrapper, html, own_url or "http://unknown.invalid/", strip_rules(config)))
    found = {value.field for value in values}
    return WrappedPage(
        page, own_url, wrapper.name, values, tuple(field.name for field in wrapper.fields if field.name not in found)
    )


def _of(wrappers: Wrappers, url: str) -> Wrapper | None:
    """By the URL; a file without one is tried with the only wrapper there is."""
    if url:
        return wrappers.of(url)
    if len(wrappers.wrappers) == 1:
        return wrappers.wrappers[0]
    names = ", ".join(wrapper.name for wrapper in wrappers.wrappers)
    raise UsageError(f"there are several wrappers ({names}); say with --url which URL the file is to be taken for.")


def _page(config: Config, page: str, directory: Path, url: str) -> tuple[bytes, str | None, str]:
    if not page.startswith(("http://", "https://")):
        try:
            return Path(page).read_bytes(), None, url
        except OSError as problem:
            raise UsageError(f"{page}: cannot be read ({problem.strerror}); give an HTML file or a URL.") from None
    copy = kept_copy(CrawlFolder.open(directory), config, page)
    if copy is None:
        raise NephilaError(f"the crawl in {directory} has no content of {page}; `nephila why {page}` tells its story.")
    return copy.body, f"{copy.mime}; charset={copy.charset}", copy.url
