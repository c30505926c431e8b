"""The body that a revisit of somebody's archive repeats: where it lies in ours.

By the URL and the date that the revisit names; else by its digest, on the page itself, under the other scheme, or
anywhere in its site. Only what is committed is found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from nephila.crawl.site_list import SiteList
from nephila.crawl.slot_state import SlotState
from nephila.errors import DamagedError
from nephila.store.archive.captures import Capture
from nephila.store.archive.reader import read_with_body, sha1_of
from nephila.store.archive.verify import fits
from nephila.store.folder import CrawlFolder
from nephila.urls import Refusal, StripRules, normalise, split, url_hash

_SAME_SECOND: Final = 1.0
_KNOWN_DIGESTS: Final = ("sha1:", "sha256:", "md5:")


class Bodies:
    """Looks bodies up in the folder that is being filled."""

    def __init__(
        self, folder: CrawlFolder, sites: SiteList, strip: StripRules, state_of: Callable[[int], SlotState]
    ) -> None:
        self._folder, self._sites, self._strip, self._state_of = folder, sites, strip, state_of

    def find(self, capture: Capture, url: str) -> bytes | None:
        """The body that a revisit of `url` repeats; None where it is not here."""
        revisit = capture.revisit
        target = normalise(revisit.url, self._strip) if revisit is not None and revisit.url else url
        wanted_at = revisit.fetched_at if revisit is not None else 0.0
        if isinstance(target, Refusal):
            return None
        # A digest of a kind that cannot be computed proves nothing.
        digest = capture.payload_digest if capture.payload_digest.lower().startswith(_KNOWN_DIGESTS) else ""
        for page in dict.fromkeys((target, url, _other_scheme(target))):
            found = self._at_page(page, wanted_at if page == target else 0.0, digest)
            if found is not None:
                return found
        return self._in_site(split(url)[0], sha1_of(digest))

    def _at_page(self, url: str, wanted_at: float, digest: str) -> bytes | None:
        site, path = split(url)
        entered = self._sites.entered(site)
        if entered is None:
            return None
        number, slot = entered
        for at, file, offset in self._state_of(slot).places(number, url_hash(path)):
            is_meant = bool(wanted_at) and abs(at - wanted_at) < _SAME_SECOND
            if not is_meant and not digest:
                continue
            body = self._read(slot, file, offset)
            if body is not None and (is_meant or fits(digest, body)):
                return body
        return None

    def _in_site(self, site: str, payload_sha1: bytes) -> bytes | None:
        entered = self._sites.entered(site)
        if entered is None or not payload_sha1:
            return None
        number, slot = entered
        place = self._state_of(slot).place_of_payload(number, payload_sha1)
        return None if place is None else self._read(slot, *place)

    def _read(self, slot: int, file: str, offset: int) -> bytes | None:
        try:
            return read_with_body(self._folder.archive, self._folder.archive_of(slot) / file, offset).body
        except (DamagedError, ValueError):
            return None


def _other_scheme(url: str) -> str:
    """Replay tools take http and https for one, and so do the revisits that they write."""
    return "http" + url.removeprefix("https") if url.startswith("https:") else "https" + url.removeprefix("http")
