"""How a function and its values travel: the function by its name, the values as msgpack decoded by its type hints.

In comes a module-level function or the name of one, out come bytes and back. The inline engine goes the same way, so
that a task which works inline also works in another process.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import operator
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, get_type_hints

import msgspec

from nephila.engine.frames import check_size
from nephila.engine.seam import TaskError
from nephila.errors import NephilaError


class Request(msgspec.Struct, frozen=True, array_like=True):
    """One partition on its way to a map worker."""

    task: str
    partition: bytes


class Done(msgspec.Struct, frozen=True, array_like=True, tag="done"):
    """The task returned."""

    result: bytes


class Failed(msgspec.Struct, frozen=True, array_like=True, tag="failed"):
    """The task raised; `error` names the class if it is one of ours, and `sentence` is what it said."""

    error: str
    sentence: str
    traceback_text: str


Answer = Done | Failed

_ENVELOPE_BYTES: Final = 1024  # what Request and Done may add to the value they carry
_MAX_TEXT: Final = 2**16  # characters of an error that travel


@dataclass(frozen=True, slots=True)
class Call:
    """A function that can travel, with the decoders of its last parameter and of its result."""

    name: str
    function: Callable[..., Any]
    argument_decoder: msgspec.msgpack.Decoder[Any]
    result_decoder: msgspec.msgpack.Decoder[Any]


def call_of(function: Callable[..., Any], parameters: int) -> Call:
    """The call of a module-level function that takes so many parameters, the last of which travels."""
    return _call(name_of(function), function, parameters)


@functools.lru_cache(maxsize=256)
def call_named(name: str, parameters: int) -> Call:
    """The worker's side of `call_of`."""
    return _call(name, _find(name), parameters)


def name_of(function: Callable[..., Any]) -> str:
    """`module:qualname`, by which a worker process finds the same function again."""
    module = getattr(function, "__module__", None)
    qualname = getattr(function, "__qualname__", None)
    if module is None or qualname is None or "<" in qualname:
        raise TaskError(f"{function!r} cannot travel to a worker; make it a plain function of a module")
    if module == "__main__":
        spec = getattr(sys.modules["__main__"], "__spec__", None)
        if spec is None:
            raise TaskError(f"{qualname} is defined in the script that runs; move it to a module that is imported")
        return f"{spec.name}:{qualname}"
    name = f"{module}:{qualname}"
    if _find(name) is not function:
        raise TaskError(f"{name} is not the function given, but another of that name; make it a plain function")
    return name


def encode(value: object, of: str) -> bytes:
    """A value as msgpack; `of` says whose it is, for the refusal."""
    try:
        packed = _ENCODER.encode(value)
    except (TypeError, ValueError, OverflowError, NotImplementedError) as error:
        raise TaskError(f"{of} cannot travel as msgpack: {error}") from error
    check_size(len(packed) + _ENVELOPE_BYTES)
    return packed


def decode(decoder: msgspec.msgpack.Decoder[Any], packed: bytes, of: str) -> Any:
    try:
        return decoder.decode(packed)
    except (msgspec.DecodeError, NotImplementedError) as error:
        raise TaskError(f"{of} is not what its annotation says: {error}") from error


def perform(name: str, partition: bytes) -> Answer:
    """Run a task in this process. Whatever it raises becomes a value, since it has to travel."""
    try:
        call = call_named(name, 1)
        argument = decode(call.argument_decoder, partition, f"the partition given to {name}")
        return Done(encode(call.function(argument), f"the result of {name}"))
    except NephilaError as error:
        kind = type(error)
        return _failed(f"{kind.__module__}:{kind.__qualname__}", str(error))
    except Exception as error:  # noqa: BLE001 - a task may raise anything, and the caller must learn of it
        return _failed("", "".join(traceback.format_exception_only(error)).strip())


def error_of(failed: Failed, name: str, number: int) -> NephilaError:
    """The error to raise in the caller: one of ours as it was, any other as a TaskError with the traceback."""
    if failed.error:
        try:
            kind = _find(failed.error)
            if isinstance(kind, type) and issubclass(kind, NephilaError):
                error = kind(failed.sentence)
                error.add_note(f"In the worker of {name}, partition {number}:\n{failed.traceback_text}")
                return error
        except (TaskError, TypeError):
            pass  # a class that cannot be made from its sentence alone
    return TaskError(f"{name} failed on partition {number}: {failed.sentence}", failed.traceback_text)


def report_failure(error: BaseException) -> int:
    """Write what ended a long-lived worker to stderr, and give its exit code."""
    if isinstance(error, NephilaError):
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    traceback.print_exception(error)
    return 1


def _failed(kind: str, sentence: str) -> Failed:
    return Failed(kind, sentence[:_MAX_TEXT], traceback.format_exc()[-_MAX_TEXT:])


def _call(name: str, function: Callable[..., Any], parameters: int) -> Call:
    names = list(inspect.signature(function).parameters)
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise TaskError(f"the annotations of {name} cannot be read: {error}") from error
    if len(names) != parameters or names[-1] not in hints or "return" not in hints:
        raise TaskError(f"{name} needs {parameters} annotated parameter(s) and an annotated result")
    try:
        return Call(
            name,
            function,
            msgspec.msgpack.Decoder(hints[names[-1]], dec_hook=_from_packed),
            msgspec.msgpack.Decoder(hints["return"], dec_hook=_from_packed),
        )
    except TypeError as error:
        raise TaskError(f"the annotated types of {name} cannot travel as msgpack: {error}") from error


def _find(name: str) -> Any:
    module, _, qualname = name.partition(":")
    try:
        return operator.attrgetter(qualname)(importlib.import_module(module))
    except (ImportError, AttributeError) as error:
        raise TaskError(f"{name} cannot be found by its name: {error}") from error


def _to_packed(value: object) -> object:
    if isinstance(value, PurePath):
        return str(value)
    raise NotImplementedError(f"objects of type {type(value).__name__} are not supported")


def _from_packed(kind: type, value: object) -> object:
    if issubclass(kind, PurePath) and isinstance(value, str):
        return kind(value)
    raise NotImplementedError(f"objects of type {kind} are not supported")


_ENCODER = msgspec.msgpack.Encoder(enc_hook=_to_packed)
