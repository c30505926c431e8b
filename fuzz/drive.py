"""Fuzz the targets for some seconds: `python fuzz/drive.py --seconds 60 [TARGET…]`, or `make fuzz SECONDS=60`.

Seeds are mutated (flips, cuts, doublings, splices, words that matter) and handed to the target; the first failure is
written to fuzz/corpus/TARGET, where every later run begins with it, and ends the run with code 1. With atheris
installed, `--atheris` lets libFuzzer choose the mutations by coverage. A target that runs longer than two seconds on
one input has failed, too.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

if "--atheris" in sys.argv:
    import atheris  # not a dependency: pip install atheris

    with atheris.instrument_imports(include=["nephila"]):
        from seeds import HERE, SEED_BYTES, seeds
        from targets import TARGETS
else:
    from seeds import HERE, SEED_BYTES, seeds
    from targets import TARGETS

SLOW_S = 2.0
WORDS = (
    b"\0", b"\r\n", b"\r\n\r\n", b"<", b">", b"<!--", b"-->", b"<a href=", b"<base href=", b"<script>",
    b"</script>", b'"', b"'", b"&#x0;", b"&amp;", b"Content-Length: ", b"Transfer-Encoding: chunked", b"0\r\n\r\n",
    b"HTTP/1.1 200", b"Disallow: /", b"*", b"$", b"%00", b"%2e%2e/", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1f\x8b\x08",
    b"\xed\xa0\x80", b"9" * 40, b"xn--", b"[::1]",
)  # fmt: skip


def mutated(seed: bytes, other: bytes, draw: random.Random) -> bytes:
    data = bytearray(seed[:SEED_BYTES])
    for _ in range(draw.choice((1, 1, 2, 3, 8))):
        at = draw.randrange(len(data) + 1)
        match draw.randrange(7):
            case 0 if data:
                data[at % len(data)] ^= 1 << draw.randrange(8)
            case 1 if data:
                data[at % len(data)] = draw.randrange(256)
            case 2:
                del data[at : at + draw.randrange(1, 64)]
            case 3:
                data[at:at] = draw.choice(WORDS)
            case 4:
                start = draw.randrange(len(other) + 1)
                data[at:at] = other[start : start + draw.randrange(1, 200)]
            case 5:
                data[at:at] = bytes(data[at : at + draw.randrange(1, 40)]) * draw.randrange(1, 20)
            case _:
                del data[at:]
    return bytes(data[: 2 * SEED_BYTES])


def keep(target: str, data: bytes) -> Path:
    place = HERE / "corpus" / target
    place.mkdir(parents=True, exist_ok=True)
    path = place / hashlib.sha1(data, usedforsecurity=False).hexdigest()[:16]
    path.write_bytes(data)
    return path


def fuzz(name: str, target: Callable[[bytes], None], seconds: float, draw: random.Random) -> tuple[int, bool]:
    """How many inputs were tried, and whether all went well."""
    corpus = seeds(name)
    until = time.monotonic() + seconds
    tried = 0
    while time.monotonic() < until or tried < len(corpus):
        seed = corpus[tried] if tried < len(corpus) else mutated(draw.choice(corpus), draw.choice(corpus), draw)
        tried += 1
        started = time.process_time()
        try:
            target(seed)
            took_s = time.process_time() - started
            assert took_s < SLOW_S, f"{took_s:.1f} s for {len(seed)} bytes"
        except Exception:  # whatever it is, it is what we are looking for
            traceback.print_exc()
            print(f"{name}: failed; the input is kept in {keep(name, seed)}")
            return tried, False
    return tried, True


def fuzz_by_coverage(name: str, seconds: float) -> None:
    place = HERE / "corpus" / name
    place.mkdir(parents=True, exist_ok=True)
    start = Path("build/fuzz") / name
    start.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(name)):
        (start / str(number)).write_bytes(seed)
    target = TARGETS[name]
    arguments = [sys.argv[0], f"-max_total_time={int(seconds)}", f"-artifact_prefix={place}/", "-timeout=5", str(start)]
    atheris.Setup(arguments, target)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", default=list(TARGETS), metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together")
    parser.add_argument("--seed", type=int, default=None, help="of the mutations; another one each time by default")
    parser.add_argument("--atheris", action="store_true", help="by coverage, one target at a time")
    given = parser.parse_args()
    if given.atheris:
        fuzz_by_coverage(given.targets[0], given.seconds)
        return 0
    seed = given.seed if given.seed is not None else time.time_ns() & 0xFFFF_FFFF
    well = True
    for name in given.targets:
        tried, went_well = fuzz(
            name, TARGETS[name], given.seconds / len(given.targets), random.Random(f"{seed} {name}")
        )
        print(f"{name:<9} {tried:>8,} inputs, seed {seed}: {'nothing found' if went_well else 'FAILED'}")
        well = well and went_well
    return 0 if well else 1


if __name__ == "__main__":
    raise SystemExit(main())
