"""How long a crawl takes from its command to its first request, by how many URLs it knows.

    python bench/resume.py 100000 10000000

The state is made up: sites of 200 to 5,000 URLs, most of them collected, a tenth of each site waiting, as in a crawl
that was killed. It is then resumed for real, against one site that answers, with nothing but the folder; the site's
own log tells when the first request came. Goals: 5 s at 10^5 URLs, 30 s at 10^7 (RELIABILITY 3.3).
"""

from __future__ import annotations

import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from nephila.config.layers import Layer
from nephila.crawl.run import open_crawl
from nephila.crawl.site_list import SiteList
from nephila.crawl.slot_tables import SLOT_SCHEMA
from nephila.store.database import open_writer, transaction
from nephila.store.folder import CrawlFolder

SLOTS = 2
ADDRESS = "127.88.0.1"
SETTINGS = {
    "net.allow_private": ["127.0.0.0/8"], "politeness.min_delay": 0.0, "politeness.delay_factor": 0.0,
    "politeness.robots": "ignore", "aliases.rule": "off",
}  # fmt: skip


class Witness(http.server.BaseHTTPRequestHandler):
    first_at: float | None = None
    asked = threading.Event()

    def do_GET(self) -> None:
        if Witness.first_at is None:
            Witness.first_at = time.monotonic()
        Witness.asked.set()
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None: ...


PAGES = """
INSERT INTO pages (site, hash, path, depth, place, todo, outcome, found_at, referrer, kind, tries, code)
WITH RECURSIVE places(place) AS (SELECT 0 UNION ALL SELECT place + 1 FROM places WHERE place + 1 < :size)
SELECT :site, random(), printf('/section-%d/document-%d-%d.html?id=%d', place % 17, :site, place, place),
       min(place, 6), place, place % 10 = 0, iif(place % 10, 'ok', 'waiting'), 1.0, 'http://example.org/', 'a',
       place % 10 > 0, iif(place % 10, 200, NULL)
FROM places
"""


def make(folder: CrawlFolder, urls: int, port: int) -> tuple[int, float]:
    """Fill both slots and the coordinator's list; gives the number of sites and the seconds."""
    started = time.monotonic()
    SiteList(folder.coordinator_database, SLOTS).close()
    sizes = []
    while sum(sizes) < urls:
        sizes.append(min(200 + 37 * (len(sizes) * 7919 % 130), urls - sum(sizes)))
    from nephila.crawl.site_tables import SITE_SCHEMA

    coordinator = open_writer(folder.coordinator_database, SITE_SCHEMA)
    with transaction(coordinator):
        coordinator.executemany(
            """INSERT INTO sites (site, url, state, slot, address, given, found_at, referrer)
               VALUES (?, ?, 'leased', ?, ?, 0, 1.0, '')""",
            ((n + 1, _url(n, port), n % SLOTS, _address(n)) for n in range(len(sizes))),
        )
        coordinator.executemany(
            "INSERT OR IGNORE INTO addresses VALUES (?, ?)", ((_address(n), n % SLOTS) for n in range(len(sizes)))
        )
        coordinator.execute("UPDATE slots SET sent = 1")
    coordinator.close()
    for slot in range(SLOTS):
        writer = open_writer(folder.agent_database(slot), SLOT_SCHEMA)
        mine = [(n, size) for n, size in enumerate(sizes) if n % SLOTS == slot]
        with transaction(writer):
            writer.execute("INSERT INTO slot VALUES (?, 1, 0, '', 0, 0, 0, 0)", (slot,))
            for n, size in mine:
                writer.execute(
                    """INSERT INTO sites (site, url, address, given, state, requested, known)
                       VALUES (?, ?, ?, 0, 'waiting', ?, ?)""",
                    (n + 1, _url(n, port), _address(n), size * 9 // 10, size),
                )
                writer.execute(PAGES, {"site": n + 1, "size": size})
            writer.execute("INSERT INTO outcomes SELECT outcome, count(*) FROM pages GROUP BY outcome")
            writer.execute("UPDATE slot SET pages = (SELECT count(*) FROM pages WHERE tries > 0)")
        writer.close()
    return len(sizes), time.monotonic() - started


def _address(n: int) -> str:
    """The first sites answer, the others are addresses where nobody is."""
    return ADDRESS if n < SLOTS else f"127.{100 + n // 65025}.{n // 255 % 255}.{n % 255}"


def _url(n: int, port: int) -> str:
    return f"http://site-{n}.test:{port}"


def resume(folder: CrawlFolder) -> tuple[float, float]:
    """Seconds from the command to the first request, and CPU seconds on the way: the coordinator's and one agent's."""
    Witness.first_at = None
    Witness.asked.clear()
    started = time.monotonic()
    command = [sys.executable, "-m", "nephila", "crawl", "-C", str(folder.path), "-q", "--agents", str(SLOTS)]
    process = subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL)
    try:
        while not Witness.asked.wait(0.5):
            if process.poll() is not None:
                raise SystemExit(f"the crawl ended with {process.returncode}")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        cpu_s = _cpu_s(process.pid) + max(_cpu_s(int(child)) for child in children)
    finally:
        process.terminate()
        process.wait()
    assert Witness.first_at is not None
    return Witness.first_at - started, cpu_s


def _cpu_s(pid: int) -> float:
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def main(counts: list[int]) -> None:
    server = http.server.ThreadingHTTPServer((ADDRESS, 0), Witness)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for urls in counts:
        place = Path(tempfile.mkdtemp(prefix="nephila-resume-"))
        try:
            hosts = place / "hosts"
            hosts.write_text("127.0.0.1 nobody.test\n")
            settings = {**SETTINGS, "net.hosts": str(hosts), "crawl.slots": SLOTS}
            opened, _ = open_crawl(
                place / "crawl", [Layer("bench", settings)], [("http://nobody.test/", "bench")], SLOTS
            )
            opened.lock.release()
            sites, seconds = make(opened.folder, urls, server.server_port)
            size = sum(path.stat().st_size for path in opened.folder.state.iterdir())
            taken = [resume(opened.folder) for _ in range(3)]
            print(
                f"{urls:>11,} URLs, {sites:,} sites, {size / 1e6:,.0f} MB of state (made in {seconds:.0f} s): first "
                f"request after {', '.join(f'{s:.2f}' for s, _ in taken)} s; CPU on the way there "
                f"{', '.join(f'{cpu:.2f}' for _, cpu in taken)} s; load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
        finally:
            shutil.rmtree(place)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [100_000, 10_000_000])
