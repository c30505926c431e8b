"""The lab's control address, http://127.0.0.1:PORT/__lab/…: read and set the clock, ask how a process is doing.

Only requests to 127.0.0.1 that name it as their host come here, and setting needs a JSON body of that type, so that no
page in a browser can reach it from elsewhere (RELIABILITY P2). Sites of the lab never live on 127.0.0.x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from nephila.clock import Clock
from nephila.errors import UsageError
from nephila.lab.answer import Answer, Manner
from nephila.lab.shared_clock import SharedClock
from nephila.lab.wire import Request, plain

CONTROL_ADDRESS: Final = "127.0.0.1"
CONTROL_PREFIX: Final = "/__lab/"


class ClockOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a POST to the clock asks for; what is left out goes on as it is."""

    rate: float | None = None
    now: float | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """One server process, as it sees itself."""

    process: int
    processes: int
    pid: int
    requests: int
    connections: int
    simulated_now: float
    rate: float


def is_control(request: Request) -> bool:
    return request.address == CONTROL_ADDRESS and request.target.startswith(CONTROL_PREFIX)


def control_answer(request: Request, shared_clock: SharedClock, status: Status) -> Answer:
    """The answer of the control address."""
    if request.host != CONTROL_ADDRESS:
        return plain(403, f"The control address answers to {CONTROL_ADDRESS} alone.")
    match request.method, request.target.removeprefix(CONTROL_PREFIX):
        case (("GET" | "HEAD"), "clock"):
            return _clock_answer(shared_clock.clock())
        case "POST", "clock":
            return _set_clock(request, shared_clock)
        case (("GET" | "HEAD"), "status"):
            return _json(msgspec.json.encode(status))
        case _:
            return plain(404, "The control address knows GET and POST clock, and GET status.")


def _set_clock(request: Request, shared_clock: SharedClock) -> Answer:
    if request.content_type.partition(";")[0].strip().lower() != "application/json":
        return plain(415, 'Send the clock as application/json, such as {"rate": 60, "now": 0}.')
    try:
        order = msgspec.json.decode(request.body, type=ClockOrder)
        return _clock_answer(shared_clock.set(order.rate, order.now))
    except (msgspec.DecodeError, UsageError) as error:
        return plain(400, str(error))


def _clock_answer(clock: Clock) -> Answer:
    shown = {
        "rate": clock.rate,
        "now": clock.now(),
        "simulated_at": clock.simulated_at,
        "real_at": clock.real_at,
    }
    return _json(msgspec.json.encode(shown))


def _json(body: bytes) -> Answer:
    return Answer(Manner.WHOLE, 200, (("Content-Type", "application/json"),), body)
