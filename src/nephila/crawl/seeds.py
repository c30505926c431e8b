"""Seed lists: a line is a URL, a bare host name, a comment, or rubbish that is counted and named (S1-5, S1-7)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nephila.crawl.scope import CompiledScope, decide, url_candidate
from nephila.errors import UsageError
from nephila.records import Outcome
from nephila.urls import Refusal, StripRules, normalise

# A host as people write it: dotted or with a port, perhaps with a path; "hello world" is no host.
_BARE_HOST: Final = re.compile(
    r"(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[0-9a-fA-F:.]+\])(?::\d+)?(?:[/?].*)?|[\w-]+:\d+(?:/.*)?"
)
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:(?!\d)")


@dataclass(frozen=True, slots=True)
class RefusedSeed:
    text: str
    outcome: Outcome
    reason: str
    place: str  # file and line


@dataclass(frozen=True, slots=True)
class SeedList:
    urls: tuple[str, ...]  # in normal form, each once, in the order given
    refused: tuple[RefusedSeed, ...]


def read_seed_file(path: Path) -> list[tuple[str, str]]:
    """Lines with their place; a file that cannot be read, or is no text, is refused with a sentence."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be read ({error.strerror}); give a text file with one URL per line."
        ) from None
    if b"\x00" in content:
        raise UsageError(f"{path}: is a binary file; give a text file with one URL per line.")
    text = content.decode("utf-8-sig", "replace")
    return [(line, f"{path}, line {number}") for number, line in enumerate(text.splitlines(), start=1)]


def parse_seeds(lines: Iterable[tuple[str, str]], rules: StripRules, scope: CompiledScope) -> SeedList:
    """Sort the lines into seeds and refusals; blank lines and `#` comments are neither."""
    urls: dict[str, None] = {}
    refused: list[RefusedSeed] = []
    for line, place in lines:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if not _SCHEME.match(text):
            if not _BARE_HOST.fullmatch(text):
                refused.append(RefusedSeed(text[:200], Outcome.URL_INVALID, "is no URL", place))
                continue
            text = f"http://{text}"
        url = normalise(text, rules)
        if isinstance(url, Refusal):
            refused.append(RefusedSeed(text[:200], Outcome(url.value), "is no URL to collect", place))
            continue
        verdict = decide(url_candidate(url, from_seeds=True, is_seed=True), scope)
        if verdict.outcome is not None:
            refused.append(RefusedSeed(url, verdict.outcome, f"scope: {verdict.reason}", place))
        else:
            urls[url] = None
    return SeedList(tuple(urls), tuple(refused))
