"""Which versions of a page stay: a plain function of its visits, the settings and now.

A version is an answer in the archive. The newest one of a page always stays, and so does the one that its row leads to
and whatever a kept record refers to for its body.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nephila.config.sections import Keep

DAY_S = 86_400.0
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Version:
    """An answer in the archive."""

    at: float
    place: Place
    role: str = "page"


def kept_versions(versions: Iterable[Version], keep: Keep, now: float) -> set[Place]:
    """The places of a URL's versions that stay, by age and number; of each role the newest at least."""
    stay: set[Place] = set()
    by_role: dict[str, list[Version]] = {}
    for version in versions:
        by_role.setdefault(version.role, []).append(version)
    for found in by_role.values():
        found.sort(key=lambda version: (-version.at, version.place))
        for number, version in enumerate(found):
            too_many = keep.versions is not None and number >= keep.versions
            too_old = keep.days is not None and now - version.at > keep.days * DAY_S
            if number == 0 or not (too_many or too_old):
                stay.add(version.place)
    return stay
