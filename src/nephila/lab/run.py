"""`nephila lab serve`: the lab in the foreground, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Final

from nephila.clock import Clock
from nephila.config.sections import Lab
from nephila.lab.hostile.places import CANARY_ADDRESS, RANGE
from nephila.lab.lists import host_lines, in_slices
from nephila.lab.serve import LabServer
from nephila.lab.static import StaticSite

_CHECK_EVERY_S: Final = 0.5
_AT_ONCE: Final = 20_000  # sites whose lists are written within a second or two, before anything is said


_HOSTILE: Final = (
    f"Hostile sites are among the seeds, each under its own name on {RANGE}, beside http://control.test; docs/lab.md "
    f"tells what each does. {CANARY_ADDRESS} is the canary: nobody may ask it, and its visitors are in the witness.",
)


def run_lab(
    lab: Lab | None,
    folder: Path,
    say: Callable[[str], None],
    *,
    static: Sequence[StaticSite] = (),
    hostile: bool = False,
    clock: Clock | None = None,
    origin: float | None = None,
    port: int | None = None,
    dns_port: int = 0,
    processes: int = 0,
) -> None:
    """Serve until asked to stop. `say` gets each line for the user; `port` None means the one of the configuration."""
    asked_to_stop = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        asked_to_stop.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        chosen = port if port is not None else (lab.port if lab is not None else 0)
        with LabServer(
            lab,
            folder=folder,
            static=static,
            hostile=hostile,
            clock=clock,
            origin=origin,
            port=chosen,
            dns_port=dns_port,
            processes=processes,
        ) as server:
            known = 0 if lab is None else lab.sites
            if known <= _AT_ONCE:
                server.write_seeds()
                server.write_hosts()
            for line in announcement(server):
                say(line)
            if known > _AT_ONCE:
                _write_lists(server, say, asked_to_stop.is_set)
            while not asked_to_stop.wait(_CHECK_EVERY_S):
                server.check()
        say("The lab has stopped.")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _write_lists(server: LabServer, say: Callable[[str], None], stopping: Callable[[], bool]) -> None:
    """Write the seed list and the hosts file of a large web while it is being served."""
    sites = server.sites()
    for path, lines in (
        (server.seeds_path, sites.seeds(server.port)),
        (server.hosts_path, host_lines(sites.hosts())),
    ):
        with closing(in_slices(path, lines)) as slices:
            for _ in slices:
                if stopping():
                    return
                server.check()
        say(f"{path.resolve()} is complete.")


def announcement(server: LabServer) -> list[str]:
    """Where everything is and how to crawl it."""
    sites = (0 if server.lab is None else server.lab.sites) + len(server.static)
    allowed = f"127.1.0.0/16,{RANGE}" if server.hostile else "127.0.0.0/8"
    folder = server.folder.resolve()
    later = "  (is being written)" if sites > _AT_ONCE else ""
    crawl = (
        f"  nephila crawl -i {folder / server.seeds_path.name} --set net.allow_private={allowed} "
        f"--set net.nameservers={server.dns}"
    )
    return [
        f"The lab serves {sites:,} sites on 127.0.0.0/8, port {server.port}, with {_processes(server.processes)}.",
        f"  seeds    {folder / server.seeds_path.name}{later}",
        f"  names    {server.dns}, or the file {folder / server.hosts_path.name}{later}",
        f"  clock    {server.control_url}clock",
        f"  witness  {folder / 'requests-*.tsv'}: what was really asked, and when",
        "In another terminal, crawl it politely:",
        crawl,
        "or quickly, since nobody is bothered:",
        f"{crawl} --set politeness.min_delay=50ms --set politeness.delay_factor=1",
        f"It began at second {server.origin:.0f}; `nephila lab truth --origin {server.origin:.0f}` with the same "
        "settings writes what a crawl must find.",
        *(_HOSTILE if server.hostile else ()),
        "Ctrl-C stops it.",
    ]


def _processes(number: int) -> str:
    return "one process" if number == 1 else f"{number} processes"
