"""Which country an address is in, by every kind of file (S1-8)."""

from __future__ import annotations

import gzip
import itertools
import json
from ipaddress import ip_network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.countries import Countries, _flattened
from nephila.errors import ConfigError

KEY = "scope.country_ranges"


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_the_real_korean_ranges_hold_korean_addresses_of_both_families(data: Path) -> None:
    misc = data / "misc"
    countries = Countries([f"kr={misc / 'kr_ipv4_ranges.csv.gz'}", f"KR={misc / 'kr_ipv6_ranges.csv.gz'}"], KEY)
    with gzip.open(misc / "kr_ipv4_ranges.csv.gz", "rt") as lines:
        firsts = [line.split(",")[0] for line in lines if not line.startswith("#")]
    assert len(firsts) > 2000 and all(countries.of(first) == "KR" for first in firsts)
    assert countries.of("2001:230::1") == "KR"
    assert countries.of("::ffff:" + firsts[0]) == "KR"
    assert countries.of("8.8.8.8") == countries.of("2001:db8::1") == countries.of("no address") == ""


def test_a_maxmind_database_says_what_the_json_it_was_made_from_says(data: Path) -> None:
    folder = data / "misc" / "maxmind_test"
    countries = Countries([str(folder / "GeoLite2-Country-Test.mmdb")], KEY)
    rows = json.loads((folder / "GeoLite2-Country-Test.json").read_text())
    told = 0
    for row in rows:
        [(block, said)] = row.items()
        place = said.get("country") or said.get("registered_country") or {}
        assert countries.of(str(ip_network(block)[0])) == place.get("iso_code", ""), block
        told += 1
    assert told > 100
    assert Countries([str(folder / "GeoLite2-ASN-Test.mmdb")], KEY).of("1.0.0.1") == ""


def test_a_registrys_delegated_file_is_read_as_it_is(tmp_path: Path) -> None:
    path = written(
        tmp_path, "delegated-apnic-latest",
        "2|apnic|20260616|4|19850701|20260615|+1000\napnic|*|ipv4|*|2|summary\n"
        "apnic|KR|ipv4|1.11.0.0|65536|20100402|allocated|A91\napnic|JP|ipv4|1.12.0.0|256|20100402|assigned|A92\n"
        "apnic|KR|ipv6|2001:230::|32|19991108|allocated|A93\napnic|KR|asn|3608|1|19970101|allocated|A94\n"
        "apnic||ipv4|1.13.0.0|256||available|\n",
    )  # fmt: skip
    countries = Countries([str(path)], KEY)
    addresses = ("1.11.255.255", "1.12.0.255", "1.12.1.0", "2001:230:ffff::1", "1.13.0.1")
    assert [countries.of(address) for address in addresses] == ["KR", "JP", "", "KR", ""]


def test_lists_of_blocks_ranges_and_single_addresses_name_their_country_before_the_file_or_in_a_column(
    tmp_path: Path,
) -> None:
    named = written(tmp_path, "kr.txt", "# ours\n10.1.0.0/16\n10.2.0.0,10.2.0.9\n10.3.0.1\nfd00::/8  # six\n")
    own = written(tmp_path, "own.csv", "10.1.2.0/24,us\n10.4.0.0,10.4.255.255,DE\n")
    countries = Countries([f"KR={named}", str(own)], KEY)
    addresses = ("10.1.1.1", "10.1.2.3", "10.2.0.9", "10.2.0.10", "10.3.0.1", "fd12::1", "10.4.3.2")
    # then the smaller of two ranges that lie in each other decides
    assert [countries.of(address) for address in addresses] == ["KR", "US", "KR", "", "KR", "KR", "DE"]


@pytest.mark.parametrize(
    "line", ["hello", "10.0.0.9,10.0.0.1", "10.0.0.0/40", "apnic|KR|ipv4|x|1|d|allocated", "1.2.3.4,::1"]
)
def test_a_line_that_is_no_range_is_refused_with_its_place(line: str, tmp_path: Path) -> None:
    path = written(tmp_path, "bad.txt", f"10.0.0.0/8\n{line}\n")
    with pytest.raises(ConfigError, match=r"scope.country_ranges: .*bad.txt, line 2"):
        Countries([f"KR={path}"], KEY).of("10.0.0.1")


def test_a_file_that_is_missing_or_no_database_is_refused_by_the_key(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no file"):
        Countries(["KR=nowhere.txt"], KEY)
    rubbish = written(tmp_path, "x.mmdb", "no database")
    with pytest.raises(ConfigError, match="MaxMind"):
        Countries([str(rubbish)], KEY).of("10.0.0.1")


ranges = st.tuples(st.integers(0, 60), st.integers(0, 20), st.sampled_from(["AA", "BB", "CC"]))


@given(st.lists(ranges, max_size=8))
def test_flattened_ranges_never_overlap_and_hold_what_the_others_held(found: list[tuple[int, int, str]]) -> None:
    whole = [(first, first + size, country) for first, size, country in found]
    flat = _flattened(list(whole))
    assert all(one[1] < other[0] for one, other in itertools.pairwise(flat))
    for number in range(90):
        holders = {country for first, last, country in whole if first <= number <= last}
        told = {country for first, last, country in flat if first <= number <= last}
        assert len(told) <= 1 and told <= holders and bool(told) == bool(holders)
