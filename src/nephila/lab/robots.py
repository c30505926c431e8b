"""The robots.txt of the sites that have one (20 %, 4.11), and which paths it closes.

The rules come from a small closed family, so that what they close is decided here by plain string tests and not by a
robots.txt library: the crawler's own parser is judged by the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from nephila.lab.draw import Stream, draw, site_key
from nephila.lab.paths import PathStyle

_SHARE: Final = 0.20


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """One site's rules for everybody."""

    closed_directory: str  # with slashes on both sides
    open_again: str  # a longer beginning that is allowed again, or ""
    closed_extension: str  # such as ".cgi", closed by a wildcard, or ""
    delay_s: str  # as written, or ""

    def closes(self, path: str) -> bool:
        """Whether a path (with its query) must not be fetched."""
        if path.startswith(self.closed_directory):
            return not (self.open_again and path.startswith(self.open_again))
        return bool(self.closed_extension) and path.endswith(self.closed_extension)

    def text(self) -> str:
        lines = ["# robots.txt", "User-agent: *", f"Disallow: {self.closed_directory}"]
        if self.open_again:
            lines.append(f"Allow: {self.open_again}")
        if self.closed_extension:
            lines.append(f"Disallow: /*{self.closed_extension}$")
        if self.delay_s:
            lines.append(f"Crawl-delay: {self.delay_s}")
        lines += ["", "User-agent: BadRobot", "Disallow: /", ""]
        return "\n".join(lines)


def robots_rules(seed: int, site: int, paths: PathStyle) -> RobotsRules | None:
    """The rules of a site; None: it has no robots.txt."""
    key = site_key(seed, site, Stream.ROBOTS)
    if draw(key, 0) >> 32 >= _SHARE * (1 << 32):
        return None
    word = draw(key, 1)
    by_extension = (word >> 20) % 4 == 0  # never beside an Allow line: which of the two is longer would decide
    closed = "/" + paths.directory(word & 0xFF)
    return RobotsRules(
        closed_directory=closed,
        open_again=closed + "acdefg"[(word >> 8) % 6] if word >> 16 & 1 and not by_extension else "",
        closed_extension=".cgi" if by_extension else "",
        delay_s="0.1" if (word >> 24) % 20 == 0 else "",
    )
