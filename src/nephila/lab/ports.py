"""Free ports for a lab: one for every site, the next one closed for ever, and one for names.

The port after the sites' port is where seeds that are refused point to (S1-26: cErr). It is bound and never listened
on: so nothing else can open it, and a second lab on the same port finds it taken instead of silently sharing.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from nephila.errors import NephilaError
from nephila.lab.dns import DNS_ADDRESS
from nephila.lab.server import loopback_socket

# Below the range from which clients' own ports come on Linux (32768 and up), or a client could sit on ours.
_FIRST_PORT: Final = 10_000
_LAST_PORT: Final = 32_000
_TRIES: Final = 200


@dataclass(frozen=True, slots=True)
class HeldPorts:
    """Ports kept for a lab for as long as `holders` stay open."""

    port: int
    dns_port: int
    holders: tuple[socket.socket, ...]

    def close(self) -> None:
        for holder in self.holders:
            holder.close()


def hold_ports(port: int, dns_port: int) -> HeldPorts:
    """Hold the given ports, or free ones for 0."""
    chosen = port or _first_free(_site_ports_free)
    closed = _hold_closed(chosen + 1)
    try:
        shared = loopback_socket(chosen)
    except NephilaError:
        closed.close()
        raise
    try:
        return HeldPorts(chosen, dns_port or _first_free(_dns_port_free), (closed, shared))
    except NephilaError:
        closed.close()
        shared.close()
        raise


def _hold_closed(port: int) -> socket.socket:
    holder = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        holder.bind(("0.0.0.0", port))  # noqa: S104  never listened on
    except (OSError, OverflowError) as error:
        holder.close()
        raise NephilaError(
            f"The lab needs port {port - 1} for its sites and the free port {port} for refused ones; "
            f"{port} is in use: is another lab running? Choose another lab.port."
        ) from error
    return holder


def _site_ports_free(port: int) -> bool:
    try:
        _hold_closed(port + 1).close()
        loopback_socket(port).close()
        loopback_socket(port + 2).close()  # hostile sites with both schemes have their TLS there
    except NephilaError:
        return False
    return True


def _dns_port_free(port: int) -> bool:
    try:
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
            with socket.socket(socket.AF_INET, kind) as probe:
                probe.bind((DNS_ADDRESS, port))
    except OSError:
        return False
    return True


def _first_free(is_free: Callable[[int], bool]) -> int:
    # Drawn, not counted up: several labs that start together should not all try the same ports.
    draw = random.SystemRandom()
    for _ in range(_TRIES):
        port = draw.randrange(_FIRST_PORT, _LAST_PORT)
        if is_free(port):
            return port
    raise NephilaError("No free port was found for the lab; give one as lab.port.")
