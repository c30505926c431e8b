import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nephila.cli import run
from nephila.cli.commands import COMMANDS
from nephila.cli.output import as_json, inert


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help_text_that_teaches(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: nephila {name}")
    assert len(shown) > 200


def test_the_help_imports_nothing_heavy() -> None:
    # given the modules loaded by `nephila --help` in a fresh interpreter
    code = "import sys; from nephila.cli import run; run(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    loaded = {name.split(".")[0] for name in done.stderr.split()}
    # then none of those that cost start-up time is among them
    assert not loaded & {"numpy", "pydantic", "pyarrow", "duckdb", "rich", "asyncio", "uvloop", "apsw", "msgspec"}


def test_an_unknown_command_leads_to_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["crwal"]) == 2
    assert "did you mean `nephila crawl`?" in capsys.readouterr().err


def test_a_wrong_key_is_one_sentence_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "--set", "crawl.max_page=1"]) == 2
    said = capsys.readouterr().err
    assert said.strip() == "nephila: --set: crawl.max_page: there is no such key; did you mean crawl.max_pages?"


def test_config_prints_values_with_their_origin_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "my.toml"
    file.write_text('[crawl]\nmax_seconds = "1h"\n')
    assert run(["config", "--json", "--config", str(file), "-C", str(tmp_path / "none")]) == 0
    rows = {row["key"]: row for row in json.loads(capsys.readouterr().out)["keys"]}
    assert rows["crawl.max_seconds"]["value"] == 3600.0
    assert rows["crawl.max_seconds"]["origin"] == str(file)
    assert rows["crawl.max_pages"] == {
        "key": "crawl.max_pages", "value": None, "origin": "default", "changeable": True,
        "meaning": "pages requested in all",
    }  # fmt: skip


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed_for_each_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    assert "_NEPHILA_COMPLETE" in capsys.readouterr().out


def test_completion_offers_the_commands() -> None:
    env = os.environ | {"_NEPHILA_COMPLETE": "bash_complete", "COMP_WORDS": "nephila c", "COMP_CWORD": "1"}
    code = "from nephila.cli.commands import nephila; nephila(prog_name='nephila')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert {"plain,crawl", "plain,config", "plain,completion"} <= set(done.stdout.split())


def test_text_of_the_web_is_inert_in_a_terminal() -> None:
    hostile = "a\x1b[2Jb\x9b31mc\u202ed\r\x07\n\te"
    shown = inert(hostile)
    assert shown == "a\\x1b[2Jb\\x9b31mc\\x202ed\\x0d\\x07\n\te"


def test_json_is_inert_in_a_terminal_and_the_same_for_a_program() -> None:
    hostile = {"title": 'a\x1b[2Jb\x9b31mc\u202ed\x7f\u2028e\\"'}
    shown = as_json(hostile)
    assert not set(shown) & set("\x1b\x9b\u202e\x7f\u2028")
    assert json.loads(shown) == hostile


def test_a_sentence_that_quotes_a_hostile_word_is_inert(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text("ftp://\x1b]52;c;aGFoYQ==\x07/\x9b2J\u202e\n")
    assert run(["crawl", "-i", str(tmp_path / "seeds"), "-C", str(tmp_path / "crawl")]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("nephila: ")
    assert not set(said.out + said.err) & set("\x1b\x07\x9b\u202e")
