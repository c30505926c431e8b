"""A folder served as a site of the lab: real pages, such as a packaged manual, beside the generated ones.

In comes a request target, out goes an `Answer`; nothing outside the folder is ever read, whatever the target or a
symbolic link in the folder says.
"""

from __future__ import annotations

import mimetypes
import os
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from nephila.lab.answer import Answer, Manner
from nephila.lab.wire import plain

_INDEX: Final = "index.html"
# Only the table that comes with Python: the machine's own one would make the same lab answer differently elsewhere.
_TYPES: Final = mimetypes.MimeTypes(filenames=())


@dataclass(frozen=True, slots=True)
class StaticSite:
    """The site `http://host:port/` on `address`, whose pages are the files below `folder`."""

    host: str
    address: str
    folder: str

    def answer(self, target: str) -> Answer:
        path, _, query = target.partition("?")
        segments = _segments(path)
        if segments is None:
            return plain(404)
        try:
            real = _within(self.folder, segments)
            if real is not None and real.is_dir():
                if not path.endswith("/"):
                    place = quote("/" + "/".join(segments), safe="/:@!$&'()*+,;=~") + "/"
                    return plain(301, headers=(("Location", place + ("?" + query if query else "")),))
                real = _within(self.folder, [*segments, _INDEX])
            elif path.endswith("/"):
                real = None
            if real is None:
                return plain(404)
            with real.open("rb", buffering=0) as file:
                state = os.fstat(file.fileno())
                body = file.readall()
        except (OSError, ValueError):  # no such file, a name too long, a loop of links
            return plain(404)
        headers = (
            ("Content-Type", content_type(real.name)),
            ("Last-Modified", formatdate(int(state.st_mtime), usegmt=True)),
            ("ETag", f'"{state.st_mtime_ns:x}-{state.st_size:x}"'),
        )
        return Answer(Manner.WHOLE, 200, headers, body)


def _within(folder: str, segments: list[str]) -> Path | None:
    """The file that a path leads to once all symbolic links are followed; None where that is outside the folder."""
    root = _real_root(folder)
    real = os.path.realpath(os.path.join(root, *segments))  # noqa: PTH118  pathlib takes three times as long
    return Path(real) if real == root or real.startswith(root + "/") else None


@lru_cache(maxsize=64)
def _real_root(folder: str) -> str:
    return os.path.realpath(folder)


def _segments(path: str) -> list[str] | None:
    """The folder and file names of a path; None where it could climb out."""
    if not path.startswith("/"):
        return None
    try:
        decoded = [unquote_to_bytes(one).decode("utf-8") for one in path.split("/") if one not in ("", ".")]
    except UnicodeDecodeError:
        return None
    if any(one in (".", "..") or "/" in one or "\0" in one for one in decoded):
        return None
    return decoded


def content_type(name: str) -> str:
    kind, encoding = _TYPES.guess_type(name)
    if encoding == "gzip":
        return "application/gzip"
    return kind or "application/octet-stream"
