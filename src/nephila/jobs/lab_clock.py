"""The lab's clock, asked and set over HTTP, so that a study need not wait for days that nobody lives through."""

from __future__ import annotations

import http.client
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import msgspec

from nephila.clock import Clock
from nephila.errors import NephilaError, UsageError

_WITHIN_S: Final = 10.0


class _Told(msgspec.Struct, frozen=True):
    rate: float
    simulated_at: float
    real_at: float


@dataclass(frozen=True, slots=True)
class LabClock:
    """The control address of a lab on this machine, such as http://127.0.0.1:8480/__lab/clock."""

    url: str

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme != "http" or parts.hostname != "127.0.0.1" or not parts.path.startswith("/__lab/"):
            raise UsageError(
                f"--clock {self.url}: give the clock that `nephila lab serve` prints, "
                "such as http://127.0.0.1:8480/__lab/clock."
            )

    def read(self) -> Clock:
        return self._ask("GET", b"")

    def set(self, now: float) -> Clock:
        """Move the lab to a moment; its pages are then as they are at that moment."""
        return self._ask("POST", msgspec.json.encode({"now": now}))

    def _ask(self, method: str, body: bytes) -> Clock:
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection("127.0.0.1", parts.port or 80, timeout=_WITHIN_S)
        try:
            connection.request(method, parts.path, body or None, {"Content-Type": "application/json"})
            response = connection.getresponse()
            content = response.read()
            if response.status != 200:
                raise NephilaError(f"The lab's clock at {self.url} answers {response.status}; is a lab served there?")
            told = msgspec.json.decode(content, type=_Told)
        except (OSError, http.client.HTTPException, msgspec.MsgspecError) as problem:
            raise NephilaError(
                f"The lab's clock at {self.url} does not answer ({problem}); serve the lab with `nephila lab serve`."
            ) from None
        finally:
            connection.close()
        return Clock(told.rate, told.simulated_at, told.real_at)
