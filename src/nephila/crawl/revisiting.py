"""A page visited again: how it is asked for, and what its answer says about change (S4-3).

Pure. "Down today" and "not there today" never mean "delete": whatever an answer says, the content that is kept stays in
archive and tables, and a page is only marked as gone after it was missing several times in a row.
"""

from __future__ import annotations

from typing import Final

from nephila.crawl.fetcher import Fetched, FetchRequest
from nephila.crawl.group import Kept, Seen
from nephila.records import Outcome

NOT_THERE: Final = (404, 410)
GONE: Final = "gone"
_UNTOLD: Final = frozenset(
    {Outcome.TRUNCATED_TIME, Outcome.TRUNCATED_DISCONNECT, Outcome.TOO_SLOW, Outcome.DECODE_ERROR}
)
"""Half an answer: what came of it says nothing about the rest."""


def request_for(path: str, kept: Kept | None) -> FetchRequest:
    """Conditional where there is a content that the server can name (RFC 9110 13.1)."""
    if kept is None or not kept.checksum or not 200 <= kept.code < 300:
        return FetchRequest(path)
    return FetchRequest(path, etag=kept.etag, modified_since=kept.modified)


def judge(kept: Kept, fetched: Fetched, checksum: bytes | None, gone_after: int) -> Seen:
    """What an answer says about a page of which this is kept; `checksum` is that of the answer's body."""
    if fetched.outcome is Outcome.NOT_MODIFIED:
        return Seen.AS_IT_WAS
    if not fetched.status or fetched.outcome in _UNTOLD:
        return Seen.UNTOLD
    had_content = 200 <= kept.code < 300
    if fetched.status >= 400:
        if not had_content:
            return Seen.AS_IT_WAS if fetched.status == kept.code else Seen.CHANGED
        if fetched.status not in NOT_THERE:
            return Seen.UNTOLD
        return Seen.GONE if kept.missing + 1 >= gone_after else Seen.MISSING
    return Seen.AS_IT_WAS if (kept.code, kept.checksum) == (fetched.status, checksum) else Seen.CHANGED
