"""What one conversion did: counts and seconds per step."""

from __future__ import annotations

from dataclasses import dataclass

from nephila.convert.resolving import LinkCounts


@dataclass(frozen=True, slots=True)
class ConvertReport:
    """Rows in the tables, what was done for them now, and how long each step took."""

    pages: int
    links: int
    sites: int
    domains: int
    communities: int
    unfetched: int
    visits: int
    clusters: int
    """near-duplicate clusters of two pages or more"""
    new_pages: int
    extracted_pages: int
    """new pages, and those requested again"""
    extracted_links: int
    page_parts: int
    link_parts: int
    """parts rewritten now"""
    parses: dict[str, int]
    """what was found in the bodies extracted now"""
    found_links: LinkCounts
    steps: dict[str, float]
    """seconds"""
    seconds: float
    extract_ms_per_page: float | None
    """CPU, per page that was read now"""
    fields: int = 0
    """values that wrappers found"""

    @property
    def link_ratio(self) -> float | None:
        """S0-22: bytes of link targets as URLs to bytes as ids."""
        found = self.found_links.written - self.found_links.elsewhere
        return round(self.found_links.url_bytes / (4 * found), 1) if found else None
