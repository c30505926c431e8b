"""The whole lab as processes: names, sites, clock and witness together, and that it leaves nothing behind."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit

import dns.message
import dns.query
import dns.rcode
import pytest

from nephila.clock import Clock
from nephila.config.sections import Lab
from nephila.errors import NephilaError, UsageError
from nephila.lab import witness
from nephila.lab.lists import in_slices
from nephila.lab.serve import LabServer
from nephila.lab.static import StaticSite

PROCESSES = 2
DOCS_ADDRESS = "127.220.0.1"


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> StaticSite:
    folder = tmp_path_factory.mktemp("docs")
    (folder / "index.html").write_text("<html>docs</html>")
    return StaticSite("docs.example", DOCS_ADDRESS, str(folder))


@pytest.fixture(scope="module")
def lab(docs: StaticSite) -> Iterator[LabServer]:
    with LabServer(Lab(sites=40, faults=False), static=[docs], processes=PROCESSES) as server:
        yield server


def ask(address: str, port: int, target: str, host: str, *headers: str, body: str | None = None) -> tuple[int, bytes]:
    method = "GET" if body is None else "POST"
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}:{port}", "Connection: close", *headers]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    with socket.create_connection((address, port), timeout=10) as client:
        client.sendall(("\r\n".join([*lines, "", ""]) + (body or "")).encode())
        seen = b""
        while piece := client.recv(65536):
            seen += piece
    head, _, content = seen.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), content


def control(lab: LabServer, what: str, body: str | None = None, *headers: str) -> tuple[int, dict[str, float]]:
    status, content = ask("127.0.0.1", lab.port, f"/__lab/{what}", "127.0.0.1", *headers, body=body)
    return status, json.loads(content) if status == 200 else {}


def all_statuses(lab: LabServer) -> dict[int, dict[str, float]]:
    """The status of every process: the kernel deals connections out by chance, so ask until each has answered."""
    seen: dict[int, dict[str, float]] = {}
    for _ in range(400):
        _, status = control(lab, "status")
        seen[int(status["process"])] = status
        if len(seen) == PROCESSES:
            break
    return seen


def test_every_process_serves(lab: LabServer) -> None:
    statuses = all_statuses(lab)
    assert {status["pid"] for status in statuses.values()} == set(lab.pids)
    assert len(statuses) == PROCESSES


def test_every_seed_resolves_and_answers_as_the_web_says(lab: LabServer) -> None:
    sites = lab.sites()
    assert lab.lab is not None
    seeds = [seed for seed in sites.seeds(lab.port) if "docs.example" not in seed]
    assert len(seeds) == lab.lab.sites
    for seed in seeds:
        parts = urlsplit(seed)
        assert parts.port == lab.port
        host = str(parts.hostname)
        found = dns.query.udp(dns.message.make_query(host, "A"), "127.0.0.1", 10, lab.dns_port)
        address = str(found.answer[0][0])
        expected = sites.answer(host, lab.port, "/", address, lab.clock().now())
        assert ask(address, lab.port, "/", host) == (expected.status, expected.body)


def test_a_folder_is_a_site_beside_the_generated_ones(lab: LabServer) -> None:
    found = dns.query.udp(dns.message.make_query("docs.example", "A"), "127.0.0.1", 10, lab.dns_port)
    assert str(found.answer[0][0]) == DOCS_ADDRESS
    for host in ("docs.example", DOCS_ADDRESS):
        assert ask(DOCS_ADDRESS, lab.port, "/", host) == (200, b"<html>docs</html>")
    assert ask("127.220.0.2", lab.port, "/", "docs.example")[0] == 404
    assert DOCS_ADDRESS + "\tdocs.example\n" in lab.write_hosts().read_text()
    assert lab.write_seeds().read_text().startswith(f"http://docs.example:{lab.port}/\n")


def test_the_next_port_refuses(lab: LabServer) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((DOCS_ADDRESS, lab.port + 1), timeout=10)


def test_the_witness_has_the_requests_of_all_processes(lab: LabServer) -> None:
    before = len(lab.witnessed())
    for number in range(50):
        ask(DOCS_ADDRESS, lab.port, f"/?{number}", "docs.example")
    requests = lab.witnessed()
    ours = requests.where(requests.target != "/")
    assert len(requests) == before + 50
    assert {f"/?{number}" for number in range(50)} <= set(ours.target)
    assert len({connection % PROCESSES for connection in ours.connection.tolist()}) == PROCESSES
    assert witness.overlaps(ours)[DOCS_ADDRESS] == 1  # one after another, though in different processes
    assert not any(target.startswith("/__lab") for target in requests.target)


def test_queries_are_counted(lab: LabServer) -> None:
    before = len(lab.queries())
    dns.query.tcp(dns.message.make_query("docs.example", "A"), "127.0.0.1", 10, lab.dns_port)
    queries = lab.queries()
    assert len(queries) == before + 1
    assert (queries.name[-1], queries.transport[-1], queries.code[-1]) == ("docs.example", "tcp", "NOERROR")


def test_a_clock_set_at_the_control_address_is_set_for_all_processes(lab: LabServer) -> None:
    status, clock = control(lab, "clock", '{"rate": 3600, "now": 1000000000}', "Content-Type: application/json")
    assert (status, clock["rate"]) == (200, 3600)
    try:
        assert lab.clock() == Clock(clock["rate"], clock["simulated_at"], clock["real_at"])
        statuses = all_statuses(lab)
        assert len(statuses) == PROCESSES
        for one in statuses.values():
            assert one["rate"] == 3600
            assert 1e9 <= one["simulated_now"] <= lab.clock().now()
    finally:
        lab.set_clock(rate=1.0)
    assert control(lab, "clock")[1]["rate"] == 1.0


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        ('{"rate": 0}', ("Content-Type: application/json",), 400),
        ('{"rates": 2}', ("Content-Type: application/json",), 400),
        ('{"rate": 2', ("Content-Type: application/json",), 400),
        ('{"rate": 2}', ("Content-Type: text/plain",), 415),
    ],
)
def test_a_wrong_clock_is_refused(lab: LabServer, body: str, headers: tuple[str, ...], status: int) -> None:
    before = lab.clock()
    assert control(lab, "clock", body, *headers)[0] == status
    assert lab.clock() == before


def test_control_answers_only_at_its_own_address_and_name(lab: LabServer) -> None:
    assert ask("127.0.0.1", lab.port, "/__lab/clock", "evil.example")[0] == 403
    assert ask(DOCS_ADDRESS, lab.port, "/__lab/clock", "127.0.0.1")[0] == 404


def test_another_http_client_understands_the_server(lab: LabServer) -> None:
    assert urllib.request.urlopen(f"http://{DOCS_ADDRESS}:{lab.port}/").read() == b"<html>docs</html>"
    with pytest.raises(HTTPError, match="404"):
        urllib.request.urlopen(f"http://{DOCS_ADDRESS}:{lab.port}/none")


def test_a_second_lab_on_the_same_port_says_so(lab: LabServer) -> None:
    with pytest.raises(NephilaError, match=f"{lab.port + 1} is in use"):
        LabServer(None, port=lab.port, processes=1).start()


def test_a_static_site_must_be_on_loopback(docs: StaticSite) -> None:
    far = StaticSite("far.example", "192.0.2.1", docs.folder)
    with pytest.raises(UsageError, match=r"127\.0\.0\.0/8"):
        LabServer(None, static=[far])


def test_a_stopped_lab_leaves_its_witness_and_no_process(docs: StaticSite, tmp_path: Path) -> None:
    with LabServer(None, static=[docs], folder=tmp_path, processes=1) as lab:
        ask(DOCS_ADDRESS, lab.port, "/", "docs.example")
        pids = lab.pids
    assert [row.target for row in witness.read(tmp_path).rows()] == ["/"]
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_sigterm_loses_no_line(docs: StaticSite, tmp_path: Path) -> None:
    with LabServer(None, static=[docs], folder=tmp_path, processes=1) as lab:
        ask(DOCS_ADDRESS, lab.port, "/", "docs.example")
        (pid,) = lab.pids
        end = os.pidfd_open(pid)
        os.kill(pid, signal.SIGTERM)
        assert select.select([end], [], [], 10)[0]
        os.close(end)
        assert len(witness.read(tmp_path)) == 1
        with pytest.raises(NephilaError, match="ended"):
            lab.check()


def test_a_process_that_went_wrong_is_heard_at_the_end(docs: StaticSite, tmp_path: Path) -> None:
    lab = LabServer(None, static=[docs], folder=tmp_path, processes=1)
    lab.start()
    (tmp_path / "server-00.log").write_text("Traceback …\nKeyError: 'page'\n")
    with pytest.raises(NephilaError, match="KeyError: 'page'"):
        lab.stop()
    assert lab.pids == ()


PARENT = """
import sys
from pathlib import Path
from nephila.lab.lists import in_slices
from nephila.lab.serve import LabServer
with LabServer(None, processes=2, folder=Path(sys.argv[1])) as lab:
    print(*lab.pids, flush=True)
    sys.stdin.read()
"""


def test_a_parent_killed_with_9_leaves_no_process(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        ends = [os.pidfd_open(pid) for pid in pids]
        parent.kill()
        for end in ends:
            assert select.select([end], [], [], 10)[0], "a process outlived its parent"
            os.close(end)


FOREGROUND = """
import sys
from pathlib import Path
from nephila.config.sections import Lab
from nephila.lab.run import run_lab
run_lab(Lab(sites=10), Path(sys.argv[1]), lambda line: print(line, flush=True), port=0, processes=1)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_in_the_foreground_it_says_where_it_is_and_stops_when_asked(tmp_path: Path, number: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", FOREGROUND, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as foreground:
        assert foreground.stdout is not None
        lines: list[str] = []
        while not lines or "Ctrl-C" not in lines[-1]:
            line = foreground.stdout.readline()
            assert line, lines
            lines.append(line)
        foreground.send_signal(number)
        assert foreground.stdout.read() == "The lab has stopped.\n"
        assert foreground.wait(10) == 0
    assert "serves 10 sites" in lines[0]
    assert len((tmp_path / "seeds.txt").read_text().splitlines()) == 10
    assert (tmp_path / "hosts").exists()


def test_a_large_lab_says_where_it_is_before_its_lists_are_written(tmp_path: Path) -> None:
    # given a lab whose lists take many seconds
    many = FOREGROUND.replace("sites=10", "sites=1_000_000")
    with subprocess.Popen([sys.executable, "-c", many, str(tmp_path)], stdout=subprocess.PIPE, text=True) as foreground:
        assert foreground.stdout is not None
        lines = [foreground.stdout.readline()]
        while "Ctrl-C" not in lines[-1]:
            lines.append(foreground.stdout.readline())
            assert lines[-1], lines
        # then it is announced at once, and a list that is not whole is not there
        assert "is being written" in "".join(lines)
        assert not (tmp_path / "seeds.txt").exists()
        # and when it is stopped nothing half written stays
        foreground.send_signal(signal.SIGINT)
        assert foreground.stdout.read() == "The lab has stopped.\n"
        assert foreground.wait(10) == 0
    assert not list(tmp_path.glob("*.part"))


def test_a_list_appears_when_it_is_whole(tmp_path: Path) -> None:
    slices = in_slices(tmp_path / "list", (f"line {number}" for number in range(5_000)))
    assert next(slices) == 2_000
    assert not (tmp_path / "list").exists()
    assert list(slices) == [4_000, 5_000]
    assert (tmp_path / "list").read_text().splitlines() == [f"line {number}" for number in range(5_000)]
    assert [path.name for path in tmp_path.iterdir()] == ["list"]
