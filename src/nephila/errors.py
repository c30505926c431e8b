"""What we, or our user, did wrong: each error is one clear sentence that says what to do.

What the *web* does to us is never an exception that leaves a room; it is an `Outcome`. The command line turns an
error into its sentence and the exit code it carries, and shows no traceback for it.
"""

from __future__ import annotations

from typing import ClassVar


class NephilaError(Exception):
    """The root: a run that failed with a clear sentence (exit code 1)."""

    exit_code: ClassVar[int] = 1


class UsageError(NephilaError):
    """The command line or the configuration is wrong (exit code 2)."""

    exit_code: ClassVar[int] = 2


class ConfigError(UsageError):
    """One or more keys of the configuration are unknown, missing or badly typed."""


class DiskFullError(NephilaError):
    """There is no room left; everything committed so far is safe (exit code 3)."""

    exit_code: ClassVar[int] = 3


class FolderInUseError(NephilaError):
    """Another process works on this crawl folder (exit code 4)."""

    exit_code: ClassVar[int] = 4


class DamagedError(NephilaError):
    """A file of the crawl folder cannot be read; `nephila repair` is the way out (exit code 5)."""

    exit_code: ClassVar[int] = 5


class WorkerDiedError(NephilaError):
    """A worker process died more often than work is given out again."""
