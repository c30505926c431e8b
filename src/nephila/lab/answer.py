"""What the lab's web says to one request: a value that the server acts out on a raw socket."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Manner(StrEnum):
    """How the answer goes over the wire. All but `whole` are faults planted by the generator (S1-26, S1-27)."""

    WHOLE = "whole"
    RESET = "reset"  # connection reset before the first byte
    HANG = "hang"  # nothing is ever sent
    SHORT_HEADER = "short_header"  # closes in the middle of the header
    NOT_HTTP = "not_http"  # bytes that are no HTTP
    CUT_BODY = "cut_body"  # closes in the middle of the body
    STALL_BODY = "stall_body"  # sends half of the body, then nothing


@dataclass(frozen=True, slots=True)
class Answer:
    """One response: status line, headers and body are complete; the server adds nothing but Date and framing."""

    manner: Manner
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    delay_s: float = 0.0  # simulated seconds before the first byte
