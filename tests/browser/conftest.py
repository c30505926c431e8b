"""Debian's Chromium, headless, driven by Playwright; every test here is skipped where one of the two is missing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from ..serve.conftest import Client, Collected, client, collected

__all__ = ["Client", "Collected", "client", "collected"]

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; make browser installs it")


@pytest.fixture(scope="module")
def browser(collected: Collected) -> Iterator[sync_api.Browser]:
    """It runs an event loop in this thread: what needs one of its own comes before, or after the module."""
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if program is None:
        pytest.skip("there is no Chromium here; make browser installs Debian's")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program)
        yield started
        started.close()


@pytest.fixture
def page(browser: sync_api.Browser) -> Iterator[sync_api.Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(15_000)
    yield context.new_page()
    context.close()
