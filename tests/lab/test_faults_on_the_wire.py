"""What the generator plants is what a client sees: every manner, through real processes (S1-26, S1-27)."""

from __future__ import annotations

import math
import socket
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from nephila.config.sections import Lab
from nephila.lab.answer import Answer, Manner
from nephila.lab.fates import Fate
from nephila.lab.paths import path_of
from nephila.lab.serve import LabServer
from nephila.lab.web import Web

SITES = 400
OF_EACH = 2
SILENT_AFTER_S = 0.3
# A client is patient until it has what it will ever get, so that a busy machine is not taken for a silent server.
SILENCE_AFTER_BYTES: dict[Manner, Callable[[Answer], float]] = {
    Manner.HANG: lambda _: 0,
    Manner.STALL_BODY: lambda answer: len(answer.body) // 2,
}


@dataclass(frozen=True)
class Planted:
    host: str
    address: str
    target: str
    answer: Answer


@pytest.fixture(scope="module")
def lab() -> Iterator[LabServer]:
    with LabServer(Lab(sites=SITES), processes=1) as server:
        yield server


@pytest.fixture(scope="module")
def planted(lab: LabServer) -> dict[Manner, list[Planted]]:
    """A few pages of every manner, found by walking the model."""
    assert lab.lab is not None
    web = Web(lab.lab, lab.origin)
    found: dict[Manner, list[Planted]] = defaultdict(list)
    for site in range(SITES):
        if all(len(found[manner]) == OF_EACH for manner in Manner):
            break
        card, skeleton = web.card(site), web.skeleton(site)
        if card.fate in (Fate.NO_NAME, Fate.NAME_FAILS):
            continue
        for page in range(min(60, int(skeleton.pages))):
            target = path_of(card.paths, page)
            answer = web.answer(card.host, lab.port, target, card.address, lab.clock().now())
            if len(found[answer.manner]) < OF_EACH:
                found[answer.manner].append(Planted(card.host, card.address, target, answer))
    return found


def seen_manner(lab: LabServer, page: Planted) -> tuple[Manner, bytes]:
    """What a client makes of it, knowing only what comes over the wire."""
    silence = SILENCE_AFTER_BYTES.get(page.answer.manner, lambda _: math.inf)(page.answer)
    with socket.create_connection((page.address, lab.port), timeout=10) as client:
        client.sendall(
            f"GET {page.target} HTTP/1.1\r\nHost: {page.host}:{lab.port}\r\nConnection: close\r\n\r\n".encode()
        )
        seen, silent = b"", False
        try:
            while True:
                if len(seen.partition(b"\r\n\r\n")[2]) >= silence:
                    client.settimeout(SILENT_AFTER_S)
                piece = client.recv(65536)
                if not piece:
                    break
                seen += piece
        except ConnectionResetError:
            return Manner.RESET, seen
        except TimeoutError:
            silent = True
    head, blank, body = seen.partition(b"\r\n\r\n")
    if not seen:
        assert silent
        return Manner.HANG, body
    if not seen.startswith(b"HTTP/1.1 "):
        return Manner.NOT_HTTP, body
    if not blank:
        return Manner.SHORT_HEADER, body
    promised = next(int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:"))
    if len(body) == promised:
        return Manner.WHOLE, body
    return Manner.STALL_BODY if silent else Manner.CUT_BODY, body


@pytest.mark.parametrize("manner", list(Manner))
def test_a_planted_manner_is_seen_by_the_client(
    lab: LabServer, planted: dict[Manner, list[Planted]], manner: Manner
) -> None:
    assert planted[manner], f"the web of {SITES} sites has no page of manner {manner}"
    for page in planted[manner]:
        seen, body = seen_manner(lab, page)
        assert seen is manner
        assert page.answer.body.startswith(body) or manner is Manner.NOT_HTTP


def test_the_witness_names_the_same_manners(lab: LabServer, planted: dict[Manner, list[Planted]]) -> None:
    for pages in planted.values():
        for page in pages:
            seen_manner(lab, page)
    seen = {(row.host, row.target): row.manner for row in lab.witnessed().rows()}
    for manner, pages in planted.items():
        for page in pages:
            if manner not in (Manner.HANG, Manner.STALL_BODY):  # those are written once the server hears the client go
                assert seen[page.host, page.target] == manner
