"""Documentation that cannot drift: what it names exists, and what exists is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nephila.cli.commands import COMMANDS
from nephila.config.check import keys
from nephila.records import Outcome

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.(?:py|c|md|toml)|[a-z_]+\.py)`", page.read_text(encoding="utf-8"))
    missing = [name for name in named if not any((base / name).exists() for base in (ROOT, ROOT / "src" / "nephila"))]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_a_page_names_exists(page: Path) -> None:
    named = set(re.findall(r"`?nephila ([a-z]+)\b", page.read_text(encoding="utf-8")))
    prose = {"is", "and", "gathers", "has", "that", "on", "on it", "to", "alone"}
    assert named - prose <= COMMANDS.keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_setting_that_a_page_names_exists(page: Path) -> None:
    named = set(re.findall(r"--set '?([a-z_]+\.[a-z_]+)", page.read_text(encoding="utf-8")))
    assert named <= keys().keys()


def test_the_readme_names_every_command_that_a_newcomer_needs() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"nephila {name}" in text for name in ("demo", "crawl", "lab", "why", "status", "config"))


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_tells_question_options_choice_and_price_in_a_few_lines(decision: Path) -> None:
    text = decision.read_text(encoding="utf-8")
    assert all(f"**{word}.**" in text for word in ("Question", "Options", "Choice", "Price"))
    assert len(text.splitlines()) <= 16


def test_every_outcome_is_explained() -> None:
    text = (ROOT / "docs" / "crawling.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([a-z_]+)` \|", text, re.MULTILINE) == [outcome.value for outcome in Outcome]
