"""An index run in a process of its own, which may be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import nephila


def index_and_die(path: Path, point: str, *words: str) -> None:
    """Run `nephila index` until it passes `point`, where it is killed by SIGKILL."""
    source = str(Path(nephila.__file__).parents[1])
    command = [sys.executable, "-m", "nephila", "index", "-C", str(path), *words]
    environment = os.environ | {"NEPHILA_CRASH_AT": point, "PYTHONPATH": source}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
