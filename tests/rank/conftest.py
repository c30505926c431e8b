"""Both forms of the loops over links must pass what is tested with `loops`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nephila.engine import Engine, open_engine
from nephila.rank import kernel, plain


@pytest.fixture(params=["compiled", "plain"])
def loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "plain":
        monkeypatch.setattr(kernel, "LOOPS", plain)
    elif not kernel.COMPILED:
        pytest.skip("the compiled kernel was not built")
    return str(request.param)


@pytest.fixture
def inline() -> Iterator[Engine]:
    with open_engine("inline", 3) as engine:
        yield engine
