"""What a page itself says to robots: `X-Robots-Tag` headers and `<meta name="robots">`, the stricter word winning.

`nofollow` is honoured: no link of the page is followed. `noindex` is recorded: the page is collected, and search
leaves it out. Words we do not know change nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from nephila.crawl.robots import product_token

# Directives that carry a value after a colon, and so are no robot's name.
_VALUED: Final = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


@dataclass(frozen=True, slots=True)
class PageRobots:
    """Whether a page may be shown in search, and whether its links may be followed."""

    index: bool = True
    follow: bool = True

    def __and__(self, other: PageRobots) -> PageRobots:
        """Both at once: what either forbids is forbidden."""
        return PageRobots(self.index and other.index, self.follow and other.follow)


def _said(words: Iterable[str]) -> PageRobots:
    spoken = {word.strip().lower() for word in words}
    return PageRobots(
        index=not spoken & {"noindex", "none"},
        follow=not spoken & {"nofollow", "none"},
    )


def from_headers(values: Iterable[str], name: str) -> PageRobots:
    """All `X-Robots-Tag` headers of an answer: words for every robot and words for the robot of this name.

    A name stands before the first word it is for and holds until the next name or the end of its header:
    `badbot: noindex, nofollow, nephila: nofollow`.
    """
    ours = product_token(name)
    heard: list[str] = []
    for value in values:
        addressed = True
        for item in value.split(","):
            before, colon, after = item.partition(":")
            named = before.strip()
            if colon and named.lower() not in _VALUED and product_token(named) == named.lower() != "":
                addressed = named.lower() in ("*", ours)
                item = after
            if addressed:
                heard.append(item)
    return _said(heard)


def from_meta(contents: Iterable[str]) -> PageRobots:
    """The `content` of the page's meta elements for all robots or for ours."""
    return _said(word for content in contents for word in content.replace(";", ",").split(","))
