"""Dates as pages, headers, sitemaps and feeds state them: text goes in, a moment in UTC comes out, or none."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

_ISO_DATE: Final = re.compile(
    r"\s*(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?)?", re.IGNORECASE
)


def parse_date(stated: str | None) -> datetime | None:
    """ISO 8601 or an HTTP date; nothing that is stated badly raises."""
    if not stated:
        return None
    try:
        iso = _ISO_DATE.match(stated)
        if iso is not None:
            year, month, day, hour, minute, second, zone = iso.groups()
            parts = (int(part or 0) for part in (year, month, day, hour, minute, second))
            offset = "+00:00" if not zone or zone in "Zz" else zone
            found = datetime(*parts)  # type: ignore[arg-type]
            return found.replace(tzinfo=datetime.strptime(offset, "%z").tzinfo).astimezone(UTC)
        found = parsedate_to_datetime(stated[:64])
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
