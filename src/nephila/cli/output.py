"""What a person or a script sees: reports as text or as one JSON object, and nothing that a terminal would obey."""

from __future__ import annotations

import re
import sys
from typing import Any, Final

import click
import msgspec

# C0 without tab and line end, DEL, C1, other line ends, and the signs that turn the direction of text (RELIABILITY C7).
_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def inert(text: str) -> str:
    """Text from the web with every control character written out, so that no terminal acts on it."""
    return _UNSAFE.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def as_json(report: Any) -> str:
    """A report, a frozen dataclass, as one JSON object; what a terminal would obey is spelled as JSON can spell it."""
    text = msgspec.json.format(msgspec.json.encode(report), indent=2).decode()
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def emit(text: str) -> None:
    """Print for a person; the log of the run, where there is one, has it too."""
    _note(text.splitlines())
    click.echo(inert(text))


def complain(sentence: str) -> None:
    """Say what went wrong, or what to heed, on standard error; a sentence may quote what somebody else wrote."""
    click.echo(f"nephila: {inert(sentence)}", err=True)


def emit_json(report: Any) -> None:
    """Print for a script."""
    _note([msgspec.json.encode(report).decode()])
    click.echo(as_json(report))


def _note(lines: list[str]) -> None:
    logging = sys.modules.get("logging")  # a command without a log is spared it
    log = logging.getLogger("nephila.result") if logging is not None else None
    if log is not None and log.hasHandlers():
        for line in lines:
            log.info("%s", line)
