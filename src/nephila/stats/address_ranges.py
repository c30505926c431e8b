"""The country of every address that a site has, as a table: read from the files that the configuration names.

A seam: whoever has a better list for a country names its file; without one no site is placed by its address.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nephila.countries import Countries


def create_countries(duck: Any, named: Sequence[str]) -> None:
    """The table `address_countries` (address, country): the addresses of sites that lie in some country (S1-8)."""
    countries = Countries(named, "stats.country_ranges")
    addresses = [row[0] for row in duck.execute("SELECT DISTINCT address FROM sites WHERE address <> ''").fetchall()]
    placed = [(address, found) for address in addresses if (found := countries.of(address))]
    duck.execute("CREATE TABLE address_countries (address TEXT, country TEXT)")
    values = [[address for address, _ in placed], [country for _, country in placed]]
    duck.execute("INSERT INTO address_countries SELECT unnest(?::TEXT[]), unnest(?::TEXT[])", values)
