"""The text of a PDF, where pdfium is installed (`nephila[pdf]`): the door of pypdfium2.

pdfium is native code and its input hostile: callers run this in a process that may die, as they do for HTML, and give a
time after which the pages that are left are not read.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from nephila.errors import NephilaError

TYPES: Final = frozenset({"application/pdf", "application/x-pdf"})
_DATE: Final = re.compile(r"D:(\d{4})(\d\d)(\d\d)(\d\d)?(\d\d)?(\d\d)?")
_HYPHEN: Final = re.compile("[\u00ad\ufffe]\r?\n?")  # pdfium's mark of a word that goes on in the next line


@dataclass(frozen=True, slots=True)
class PdfText:
    """What a PDF says; `is_whole` is False where some of its pages were not read."""

    title: str
    text: str
    is_whole: bool
    modified: datetime | None


class NoReaderError(NephilaError):
    """pypdfium2 is not installed."""


def can_read() -> bool:
    """Whether the reader is installed."""
    try:
        import pypdfium2  # noqa: F401
    except ImportError:
        return False
    return True


def read_pdf(body: bytes, most_characters: int, within_s: float) -> PdfText | None:
    """The text of a PDF, page by page, up to so many characters and CPU seconds; None where it cannot be read."""
    try:
        import pypdfium2
    except ImportError:
        raise NoReaderError("pypdfium2 is not installed; pip install 'nephila[pdf]' reads the text of PDFs.") from None

    until = time.process_time() + within_s
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError:
        return None  # damaged, or locked by a password
    try:
        pieces: list[str] = []
        length = 0
        is_whole = True
        for number in range(len(document)):
            if length >= most_characters or time.process_time() > until:
                is_whole = False
                break
            piece = _page_text(pypdfium2, document, number)
            pieces.append(piece)
            length += len(piece)
        about = document.get_metadata_dict()
        text = _HYPHEN.sub("", "\n".join(pieces))[:most_characters]
        return PdfText(str(about.get("Title", "")), text, is_whole, _date(str(about.get("ModDate", ""))))
    finally:
        document.close()


def _page_text(pypdfium2: Any, document: Any, number: int) -> str:
    try:
        page = document[number]
        text: str = page.get_textpage().get_text_bounded()
    except pypdfium2.PdfiumError:
        return ""  # one bad page of many
    return text


def _date(stated: str) -> datetime | None:
    match = _DATE.match(stated)
    if match is None:
        return None
    try:
        year, month, day, hour, minute, second = (int(part) if part else 0 for part in match.groups())
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
