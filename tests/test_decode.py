"""Content codings within their caps (N6, C1-C11)."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from nephila.decode import MAX_MEMBERS, DecodeState, Decoding, codings, decode

CAP = 2**20


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


def gzip_bomb(size_mib: int) -> bytes:
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9, mtime=0) as packer:
        for _ in range(size_mib):
            packer.write(bytes(2**20))
    return packed.getvalue()


PACKERS = {
    "gzip": lambda body: gzip.compress(body, mtime=0),
    "x-gzip": lambda body: gzip.compress(body, mtime=0),
    "deflate": zlib.compress,
    "br": lambda body: brotli.compress(body, quality=3),
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("coding", PACKERS)
@given(body=st.binary(max_size=5000), repeated=st.integers(1, 100))
def test_what_was_packed_comes_back(coding: str, body: bytes, repeated: int) -> None:
    plain = body * repeated
    result = decode(PACKERS[coding](plain), (coding,), CAP)
    assert (result.payload, result.state) == (plain, DecodeState.WHOLE)


@given(body=st.binary(max_size=300_000))
def test_raw_deflate_is_understood_too(body: bytes) -> None:  # C4
    assert decode(raw_deflate(body), ("deflate",), CAP).payload == body


@pytest.mark.parametrize("outer", PACKERS)
@pytest.mark.parametrize("inner", PACKERS)
def test_two_codings_stack_in_either_order(inner: str, outer: str) -> None:
    plain = b"the golden orb-weaver " * 20_000
    packed = PACKERS[outer](PACKERS[inner](plain))
    assert decode(packed, (inner, outer), CAP).payload == plain


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_stops_at_the_cap_without_being_unpacked(coding: str) -> None:  # C1, C2, C3
    bomb = gzip_bomb(100) if coding == "gzip" else PACKERS[coding](bytes(100 * 2**20))
    tracemalloc.start()
    result = decode(bomb, (coding,), CAP)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(result.payload), result.state) == (CAP, DecodeState.LIMIT)
    assert peak_bytes < 24 * 2**20


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_a_bomb_inside_a_coding_stops_at_the_cap(coding: str) -> None:  # C11 is such a one, endlessly
    bomb = PACKERS[coding](gzip_bomb(100))
    assert decode(bomb, ("gzip", coding), CAP).state is DecodeState.LIMIT


def test_exactly_the_cap_is_whole() -> None:
    assert decode(gzip.compress(bytes(CAP)), ("gzip",), CAP).state is DecodeState.WHOLE
    assert decode(gzip.compress(bytes(CAP + 1)), ("gzip",), CAP).state is DecodeState.LIMIT


def test_a_zstd_frame_that_asks_for_a_large_window_is_refused() -> None:  # C3
    frame = b"\x28\xb5\x2f\xfd" + bytes([0x00, (31 - 10) << 3]) + b"\x01\x00\x00"
    assert decode(frame, ("zstd",), CAP).state is DecodeState.BAD


def test_a_hundred_thousand_empty_members_are_a_limit() -> None:  # C7
    member = gzip.compress(b"", mtime=0)
    assert decode(member * 100_000, ("gzip",), CAP).state is DecodeState.LIMIT
    frame = zstandard.ZstdCompressor().compress(b"")
    assert decode(frame * 100_000, ("zstd",), CAP).state is DecodeState.LIMIT


def test_a_few_members_are_one_body_and_rubbish_after_them_is_ignored() -> None:  # C8
    packed = gzip.compress(b"golden ") + gzip.compress(b"orb") + b"\0\0\0rubbish"
    assert decode(packed, ("gzip",), CAP).payload == b"golden orb"
    assert MAX_MEMBERS > 100


@pytest.mark.parametrize("coding", PACKERS)
def test_a_stream_that_ends_early_gives_what_it_held(coding: str) -> None:  # C8
    plain = bytes(range(256)) * 2000
    packed = PACKERS[coding](plain)
    result = decode(packed[: len(packed) - 5], (coding,), CAP)
    assert result.state is DecodeState.CUT
    assert plain.startswith(result.payload)


def test_a_plain_body_that_says_gzip_is_plain() -> None:  # C9
    for body in (b"<html>plain</html>", b"x", b""):
        assert decode(body, ("gzip",), CAP) == decode(body, (), CAP)
    assert decode(b"<html>", ("gzip",), CAP).payload == b"<html>"


@pytest.mark.parametrize("coding", PACKERS)
def test_a_damaged_stream_is_bad_and_no_exception(coding: str) -> None:
    packed = bytearray(PACKERS[coding](b"weave " * 10_000))
    for place in range(10, len(packed), max(1, len(packed) // 40)):
        damaged = bytes(packed[:place]) + b"\xff\xff\xff\xff" + bytes(packed[place + 4 :])
        assert decode(damaged, (coding,), CAP).state in DecodeState


@given(body=st.binary(max_size=2000), coding=st.sampled_from(sorted(PACKERS)))
def test_no_input_raises(body: bytes, coding: str) -> None:
    assert len(decode(body, (coding,), 1000).payload) <= 1000


def test_codings_are_counted_over_all_lines() -> None:  # C5, C6
    assert codings(["gzip, gzip", "gzip"]) == ("gzip", "gzip", "gzip")
    assert decode(b"", codings(["gzip"] * 10), CAP).state is DecodeState.BAD
    assert decode(b"", codings([",".join(["gzip"] * 10)]), CAP).state is DecodeState.BAD


def test_what_is_no_coding_leaves_the_body_alone_and_an_unknown_one_is_bad() -> None:  # B8
    assert codings(["identity", "UTF-8", "", "none"]) == ()
    assert decode(b"x", codings(["__import__('os')"]), CAP).state is DecodeState.BAD


def test_work_can_stop_after_a_budget_and_go_on() -> None:
    decoding = Decoding(gzip.compress(bytes(2**20)), ("gzip",), CAP)
    stops = 0
    while (result := decoding.run(budget_bytes=2**18)) is None:
        stops += 1
    assert (result.payload, result.state) == (bytes(2**20), DecodeState.WHOLE)
    assert 3 <= stops <= 5
