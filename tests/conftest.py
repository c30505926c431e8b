"""What every test may ask for: the folder of real data beside the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A machine may be busy; how long things take is told by bench/. The fuzz targets look further.
settings.register_profile("nephila", deadline=None, max_examples=100 if os.environ.get("NEPHILA_LONG") else 50)
settings.load_profile("nephila")

DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """Real files of the web; tests that need them are skipped where the folder is not beside the project."""
    if not DATA.is_dir():
        pytest.skip("the folder ../shared/data with real files is not beside this checkout")
    return DATA
