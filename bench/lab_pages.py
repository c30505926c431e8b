"""Pages per second that one core computes, `Web.answer` alone: no sockets, no HTTP.

PYTHONPATH=src python bench/lab_pages.py [sites] [pages]
"""

from __future__ import annotations

import random
import resource
import sys
import time

from nephila.config.sections import Lab
from nephila.lab.card import TONGUES
from nephila.lab.paths import path_of
from nephila.lab.web import Web
from nephila.lab.words import pool_of


def main() -> None:
    sites = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    pages = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000
    web = Web(Lab(sites=sites))
    chosen = random.Random(1)
    requests: list[tuple[str, str, str]] = []
    while len(requests) < pages:
        card = web.card(chosen.randrange(sites))
        skeleton = web.skeleton(card.site)
        for _ in range(min(20, skeleton.pages)):
            page = chosen.randrange(skeleton.pages)
            requests.append((card.host, path_of(card.paths, page), card.address))
    chosen.shuffle(requests)
    for tongue, _ in TONGUES:
        pool_of(tongue.language, tongue.codec)
    for host, target, address in requests[:2000]:
        web.answer(host, 8480, target, address, 0.0)
    begun = time.process_time()
    size_bytes = 0
    for host, target, address in requests:
        size_bytes += len(web.answer(host, 8480, target, address, 0.0).body)
    spent = time.process_time() - begun
    count = len(requests)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{sites} sites: {count} pages of {size_bytes / count:,.0f} bytes in {spent:.2f} s of CPU time: "
        f"{count / spent:,.0f} pages/s, {spent / count * 1e6:.1f} us/page; peak memory {peak:.0f} MiB"
    )


if __name__ == "__main__":
    main()
