"""How functions and values travel: never as pickle, never more than their annotations say."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

from nephila.engine.calls import Failed, encode, error_of, perform
from nephila.engine.seam import TaskError
from nephila.errors import NephilaError


class Explosive:
    """Unpickling it would remove a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.unlink, (str(self.path),)


class TwoPartError(NephilaError):
    """Cannot be made from its sentence alone."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


def test_a_pickle_is_inert(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.touch()

    answer = perform("nephila.config.units:parse_size", pickle.dumps(Explosive(victim)))

    assert isinstance(answer, Failed)
    assert "is not what its annotation says" in answer.sentence
    assert victim.exists()


def test_a_task_that_is_not_there_is_a_failure_and_no_crash() -> None:
    for name in ("nephila.no_such:task", "nephila.errors:no_such", "", ":", "nephila.errors:"):
        answer = perform(name, encode(1, "a number"))
        assert isinstance(answer, Failed), name


def test_an_error_that_cannot_be_made_again_arrives_as_a_task_error() -> None:
    failed = Failed(f"{TwoPartError.__module__}:TwoPartError", "first second", "the traceback")

    error = error_of(failed, "a:task", 7)

    assert type(error) is TaskError
    assert str(error) == "a:task failed on partition 7: first second\nthe traceback"


def test_no_class_but_ours_is_made_from_a_failure() -> None:
    for name in ("builtins:SystemExit", "pathlib:Path", "os:unlink"):
        assert type(error_of(Failed(name, "sentence", ""), "a:task", 0)) is TaskError


def test_a_task_of_the_running_script_is_refused_with_the_way_out(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from nephila.engine import open_engine\n"
        "def task(number: int) -> int: return number\n"
        "with open_engine('local', 1) as engine: list(engine.map(task, [1]))\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}

    ended = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)

    assert ended.returncode == 1
    assert "task is defined in the script that runs; move it to a module that is imported" in ended.stderr


def test_a_task_of_a_module_run_with_dash_m_travels(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "from nephila.engine import open_engine\n"
        "def task(number: int) -> int: return number + 1\n"
        "if __name__ == '__main__':\n"
        "    with open_engine('local', 1) as engine: print(list(engine.map(task, [1])))\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, str(tmp_path)])}

    command = [sys.executable, "-m", "program"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert ended.stdout == "[2]\n", ended.stderr
