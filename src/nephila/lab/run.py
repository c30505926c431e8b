"""`nephila lab serve`: the lab in the foreground, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Final

from nephila.clock import Clock
from nephila.config.sections import Lab
from nephila.lab.serve import LabServer
from nephila.lab.static import StaticSite

_CHECK_EVERY_S: Final = 0.5


def run_lab(
    lab: Lab | None,
    folder: Path,
    say: Callable[[str], None],
    *,
    static: Sequence[StaticSite] = (),
    clock: Clock | None = None,
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
            clock=clock,
            port=chosen,
            dns_port=dns_port,
            processes=processes,
        ) as server:
            for line in announcement(server):
                say(line)
            while not asked_to_stop.wait(_CHECK_EVERY_S):
                server.check()
        say("The lab has stopped.")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def announcement(server: LabServer) -> list[str]:
    """Write the seed list and the hosts file, and say where everything is and how to crawl it."""
    sites = 0 if server.lab is None else server.lab.sites
    seeds = server.write_seeds()
    hosts = server.write_hosts()
    return [
        f"The lab serves {sites + len(server.static)} sites on 127.0.0.0/8, port {server.port}, "
        f"with {server.processes} processes.",
        f"names    {server.dns}",
        f"hosts    {hosts}",
        f"seeds    {seeds}",
        f"clock    {server.control_url}clock",
        f"witness  {server.folder}",
        "Crawl it:",
        f"  nephila crawl -i {seeds} --set 'net.allow_private=[\"127.0.0.0/8\"]' "
        f"--set 'net.nameservers=[\"{server.dns}\"]'",
        "Ctrl-C stops it.",
    ]
