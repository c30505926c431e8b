"""The seam between the work and the machines: two verbs, and no word about pages.

The life of a partition: a room calls `engine.map(task, partitions)`. The task travels by its name, the partition as
msgpack (never pickle, RELIABILITY P3), to a worker process that is free; the answer comes back the same way and is
given out in the order of the partitions. A worker that is killed is noticed by the end of its socket and its
partition is given to another (F1); so a task's output must appear by rename.

The life of a long-lived worker: `await engine.spawn(worker, arguments)` starts one per argument and gives a handle for
each; both sides send and receive frames of bytes whose meaning only the room knows. `receive()` gives None once the
other side is gone, whatever became of it; a worker whose parent is gone ends by itself.

`seam` says what every engine promises, `calls` how a function and its values travel, `frames` and `connection` how
bytes travel, `inline` and `local` are the engines, `nursery` forks local workers where it can;
`tests/contract/test_engine.py` holds all of them to one contract.
"""

from __future__ import annotations

from nephila.engine.seam import Channel, Engine, FrameTooLargeError, Handle, TaskError
from nephila.errors import UsageError

__all__ = ["Channel", "Engine", "FrameTooLargeError", "Handle", "TaskError", "open_engine"]


def open_engine(name: str, workers: int, *, pin: bool = False) -> Engine:
    """The engine of that name; `pin` keeps each worker process on one core of its own, as far as there are cores."""
    if workers < 1:
        raise UsageError(f"an engine needs at least 1 worker, not {workers}")
    if name == "inline":
        from nephila.engine.inline import InlineEngine

        return InlineEngine(workers)
    if name == "local":
        from nephila.engine.local import LocalEngine

        return LocalEngine(workers, pin=pin)
    if name == "ray":
        raise UsageError(
            "the ray engine is not in this version; `pip install nephila[ray]` will be needed for it, "
            "until then use --engine local"
        )
    raise UsageError(f"there is no engine {name!r}; the engines are: inline, local")
