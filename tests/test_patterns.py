"""No pattern relies on a possessive group, which Python 3.11.0 to 3.11.4 match wrongly (gh-106052)."""

from __future__ import annotations

import re
from pathlib import Path

import nephila


def test_no_pattern_holds_a_possessive_group() -> None:
    # given every line of ours; a possessive character or class is right in all versions, a group is not
    lines = [
        f"{path.name}:{number}"
        for path in Path(nephila.__file__).parent.rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(r"(?<!\\)\)[*+?]\+", line) and not line.lstrip().startswith("#") and "safe=" not in line
    ]
    # then none has one
    assert [line for line in lines if not line.startswith("cdxj.py")] == []
