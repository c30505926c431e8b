"""What every test may ask for: the folder of real data beside the project."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """Real files of the web; tests that need them are skipped where the folder is not beside the project."""
    if not DATA.is_dir():
        pytest.skip("the folder ../shared/data with real files is not beside this checkout")
    return DATA
