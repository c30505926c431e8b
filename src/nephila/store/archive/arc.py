"""ARC, the form of archives before WARC: one line in front of each answer, which becomes a WARC record's fields.

    URL ADDRESS YYYYMMDDhhmmss MIME LENGTH                                            (version 1)
    URL ADDRESS DATE MIME STATUS CHECKSUM LOCATION OFFSET FILENAME LENGTH             (version 2)

A URL may hold spaces, so that a line is read from its end.
"""

from __future__ import annotations

import re
from typing import Final

from nephila.store.archive.records import Record

_LINE: Final = re.compile(rb"(\S[^\r\n]*) (\S+) (\d{12}|\d{14}) ([^\r\n]*?) ?(\d{1,15})[ \t]*\r?\n?")
_START: Final = re.compile(rb"[a-z][a-z0-9+.-]*:\S")


def is_arc_line(line: bytes) -> bool:
    """Whether a line is one that begins an ARC record."""
    return bool(_START.match(line) and _LINE.fullmatch(line))


def arc_record(file: str, offset: int, line: bytes) -> tuple[Record, int] | None:
    """The record that a line begins, still without its block, and the length of that."""
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    url, address, date, about, length = found.groups()
    mime = about.split(b" ", 1)[0].decode("latin-1") or "application/octet-stream"
    digits = date.decode() + "00" * (date.__len__() == 12)
    at = f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}T{digits[8:10]}:{digits[10:12]}:{digits[12:14]}Z"
    is_head = url.startswith(b"filedesc:")
    fields = (
        ("WARC-Type", "warcinfo" if is_head else "response"),
        ("WARC-Target-URI", url.decode("utf-8", "surrogateescape")),
        ("WARC-Date", at),
        ("WARC-IP-Address", address.decode("latin-1")),
        ("X-ARC-Type", mime),
    )
    return Record(file, offset, 0, fields, b""), int(length)
