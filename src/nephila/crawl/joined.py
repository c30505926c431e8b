"""References that were joined before: the pages of a directory name the same others again and again.

A manual's page has forty links, and thirty-eight of them stood on the page before it. What a reference leads to
follows from the directory of its page and its own text, so both are remembered, and with the URL whether it was
followed within its site: then that knows it, and nothing is left to do. A memory of bounded size that begins anew when
it is full; without it everything is the same, only slower.
"""

from __future__ import annotations

import re
from typing import Final

from nephila.urls import Refusal, StripRules, join

MOST_HELD: Final = 1 << 16
"""References of all directories together: some 20 MB."""

LONGEST_HELD: Final = 256
"""Signs of a reference or URL; longer ones are rare, and a hostile page has nothing else."""

# What depends on more of the page's URL than its directory: a query, a fragment, or a scheme without "//".
_OF_ITS_PAGE: Final = re.compile(r"[?#\x00-\x20]|[A-Za-z][A-Za-z0-9+.\t\r\n-]*:(?!//)|\Z")


class Target:
    """A URL that links lead to, once for all the ways it is written.

    `followed` once a page of its own site has led there. A link from another site goes to the coordinator, which may
    refuse it, and says nothing about that.
    """

    __slots__ = ("followed", "url")

    def __init__(self, url: str) -> None:
        self.url = url
        self.followed = False


class Joined:
    """References by the directory and the charset of their pages."""

    __slots__ = ("_directories", "_held", "_rules", "_targets")

    def __init__(self, rules: StripRules) -> None:
        self._rules = rules
        self._directories: dict[tuple[str, str], dict[str, Target | Refusal]] = {}
        self._targets: dict[str, Target] = {}
        self._held = 0

    def beside(self, base: str, charset: str) -> dict[str, Target | Refusal]:
        """What is remembered of the pages in the directory of `base`: look here first, then ask `join`."""
        directory = base.partition("?")[0].rpartition("/")[0]
        known = self._directories.get((directory, charset))
        if known is None:
            known = self._directories[directory, charset] = {}
            self._held += 1
        return known

    def join(self, known: dict[str, Target | Refusal], base: str, href: str, charset: str) -> Target | Refusal:
        """As `urls.join`; remembered in `known` where the directory decides."""
        joined = join(base, href, self._rules, charset)
        target = joined if isinstance(joined, Refusal) else self.target(joined)
        if len(href) <= LONGEST_HELD and _OF_ITS_PAGE.match(href) is None:
            known[href] = target
            self._held += 1
        return target

    def target(self, url: str) -> Target:
        """The one target of this URL, as long as it is remembered."""
        target = self._targets.get(url)
        if target is None:
            if len(url) > 2 * LONGEST_HELD:
                return Target(url)
            if self._held >= MOST_HELD:
                self._directories, self._targets, self._held = {}, {}, 0
            target = self._targets[url] = Target(url)
            self._held += 1
        return target
