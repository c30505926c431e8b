"""`LabServer`: the web in a box as a context manager, for tests, the demo and the command line.

It starts one server process per core, the first of which also answers names, and stops them when it is left. The
processes end with their parent, however that ends.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Self

import msgspec

import nephila
from nephila.clock import Clock
from nephila.config.sections import Lab
from nephila.errors import NephilaError
from nephila.lab import witness
from nephila.lab.dns import DNS_ADDRESS
from nephila.lab.hostile.certificate import AUTHORITY
from nephila.lab.hostile.sites import HostileSites
from nephila.lab.lists import host_lines, write_list
from nephila.lab.ports import HeldPorts, hold_ports
from nephila.lab.process import FLUSH, FLUSHED, READY, Orders, generated_web
from nephila.lab.shared_clock import CLOCK_FILE, SharedClock
from nephila.lab.sites import ServedSites
from nephila.lab.static import StaticSite

_START_S: Final = 60.0
_STOP_S: Final = 10.0


class LabServer:
    """A lab that serves while the `with` block runs.

    `lab` is the generated web, None for folders alone. `port` and `dns_port` 0 choose free ones; the effective
    settings, whose port every URL carries, are in `.lab`. `hostile` adds the hostile sites and a process of their own
    (`nephila.lab.hostile`). `folder` keeps the witness's logs and the clock; without
    one a temporary folder is used and removed at the end. `origin` is the simulated time at which the web begins.
    """

    def __init__(
        self,
        lab: Lab | None,
        *,
        static: Sequence[StaticSite] = (),
        hostile: bool = False,
        folder: Path | None = None,
        port: int = 0,
        dns_port: int = 0,
        processes: int = 0,
        clock: Clock | None = None,
        origin: float | None = None,
    ) -> None:
        self.lab = lab
        self.static = tuple(static)
        ServedSites(None, self.static)  # refuses a wrong address here rather than in a process
        self.hostile = hostile
        self.processes = (processes or os.cpu_count() or 1) + hostile
        self.port = port
        self.dns_port = dns_port
        self._given_folder = folder
        self._first_clock = clock or Clock()
        self.origin = self._first_clock.simulated_at if origin is None else origin
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._held: HeldPorts | None = None
        self._children: list[subprocess.Popen[bytes]] = []
        self._shared_clock: SharedClock | None = None
        self.folder = Path()

    def start(self) -> None:
        """Start the processes and return when all of them accept connections."""
        if self._given_folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="nephila-lab-")
            self.folder = Path(self._temporary.name)
        else:
            self.folder = self._given_folder
            self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._held = hold_ports(self.port, self.dns_port)
            self.port, self.dns_port = self._held.port, self._held.dns_port
            if self.lab is not None:
                self.lab = replace(self.lab, port=self.port)
            self._shared_clock = SharedClock.create(self.folder / CLOCK_FILE, self._first_clock)
            for process in range(self.processes):
                self._children.append(self._start_process(process))
            self._expect(READY, _START_S)
        except BaseException:
            self._end()
            raise

    def _start_process(self, process: int) -> subprocess.Popen[bytes]:
        orders = Orders(
            folder=str(self.folder.resolve()),
            process=process,
            processes=self.processes,
            port=self.port,
            dns_port=self.dns_port,
            parent=os.getpid(),
            origin=self.origin,
            lab=self.lab,
            static=self.static,
            hostile=self.hostile,
        )
        with self._complaints(process).open("wb") as complaints:
            child = subprocess.Popen(
                [sys.executable, "-P", "-m", "nephila.lab.process"],  # -P: nothing in this folder may stand in
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                env={**os.environ, "PYTHONPATH": _import_path(os.environ.get("PYTHONPATH", ""))},
            )
        assert child.stdin is not None
        child.stdin.write(msgspec.json.encode(orders) + b"\n")
        child.stdin.flush()
        return child

    def _complaints(self, process: int) -> Path:
        return self.folder / f"server-{process:02d}.log"

    def _expect(self, word: str, within_s: float) -> None:
        """Wait until every process has said `word`; it is all that they ever say then."""
        deadline = time.monotonic() + within_s
        with selectors.DefaultSelector() as selector:
            for process, child in enumerate(self._children):
                assert child.stdout is not None
                selector.register(child.stdout, selectors.EVENT_READ, process)
            while selector.get_map():
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready:
                    raise NephilaError(
                        f"The lab's processes did not answer within {within_s:.0f} s; see {self.folder}."
                    )
                for key, _ in ready:
                    said = os.read(key.fd, 4096).decode().strip()
                    if said != word:
                        raise NephilaError(
                            f"A process of the lab ended: {self._last_complaint(key.data) or 'it said nothing'}."
                        )
                    selector.unregister(key.fileobj)

    def _last_complaint(self, process: int) -> str:
        lines = self._complaints(process).read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def stop(self) -> None:
        """End the processes; afterwards the witness's logs are complete. Raises if one of them had gone wrong."""
        complaints = self._end()
        if complaints:
            raise NephilaError(f"A process of the lab went wrong: {complaints[-1]}")

    def _end(self) -> list[str]:
        """End everything that was started; the last lines of what the processes complained of."""
        for child in self._children:
            if child.stdin is not None:
                child.stdin.close()
        for child in self._children:
            try:
                child.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            if child.stdout is not None:
                child.stdout.close()
        complaints = [line for process in range(len(self._children)) if (line := self._last_complaint(process))]
        self._children = []
        if self._held is not None:
            self._held.close()
            self._held = None
        if self._shared_clock is not None:
            self._shared_clock.close()
            self._shared_clock = None
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None
        return complaints

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.stop()
        else:
            self._end()  # the error on its way out tells more than ours

    def check(self) -> None:
        """Raise if a process of the lab has ended by itself."""
        for process, child in enumerate(self._children):
            if child.poll() is not None:
                why = self._last_complaint(process) or "it said nothing"
                raise NephilaError(f"A process of the lab ended: {why}.")

    # --- what a test or a crawl needs to know

    @property
    def dns(self) -> str:
        """The name server, as `net.nameservers` takes it."""
        return f"{DNS_ADDRESS}:{self.dns_port}"

    @property
    def control_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/__lab/"

    @property
    def pids(self) -> tuple[int, ...]:
        return tuple(child.pid for child in self._children)

    def sites(self) -> ServedSites:
        """The same web as the processes serve, computed in this one."""
        hostile = HostileSites(self.port) if self.hostile else None
        return ServedSites(generated_web(self.lab, self.origin), self.static, hostile)

    @property
    def hosts_path(self) -> Path:
        return self.folder / "hosts"

    @property
    def seeds_path(self) -> Path:
        return self.folder / "seeds.txt"

    def write_hosts(self, path: Path | None = None) -> Path:
        """Write the hosts file (`net.hosts`), in the lab's folder unless told otherwise."""
        return write_list(path or self.hosts_path, host_lines(self.sites().hosts()))

    def write_seeds(self, path: Path | None = None, share: float = 1.0) -> Path:
        """Write the seed list, one URL per line, in the lab's folder unless told otherwise."""
        return write_list(path or self.seeds_path, self.sites().seeds(self.port, share))

    def write_authority(self, path: Path | None = None) -> Path:
        """Write the certificate of the lab's authority, which crawls trust that have its path in SSL_CERT_FILE."""
        return write_list(path or self.folder / "authority.pem", AUTHORITY.splitlines())

    def clock(self) -> Clock:
        return self._running_clock().clock()

    def set_clock(self, *, rate: float | None = None, now: float | None = None) -> Clock:
        """Set the clock of all processes."""
        return self._running_clock().set(rate, now)

    def _running_clock(self) -> SharedClock:
        if self._shared_clock is None:
            raise NephilaError("The lab is not running; enter it with `with LabServer(...)` first.")
        return self._shared_clock

    def flush(self) -> None:
        """Have every process write what it has witnessed so far."""
        for child in self._children:
            assert child.stdin is not None
            child.stdin.write(FLUSH.encode() + b"\n")
            child.stdin.flush()
        self._expect(FLUSHED, _STOP_S)

    def witnessed(self) -> witness.Requests:
        """All requests answered so far."""
        self.flush()
        return witness.read(self.folder)

    def queries(self) -> witness.Queries:
        """All DNS queries so far."""
        self.flush()
        return witness.read_queries(self.folder)


def _import_path(inherited: str) -> str:
    """Where the processes find this very package, also when it is run from a checkout."""
    own = str(Path(nephila.__file__).parents[1])
    return os.pathsep.join([own, inherited]) if inherited else own
