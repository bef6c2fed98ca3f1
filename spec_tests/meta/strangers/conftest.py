"""What the tests of strange loops have in common."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Some loops leave connections open, which is their fault and no failure of a test."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """Collect what a loop has left open, so that no later test finds it; what is in use is not looked at again."""
    yield
    gc.collect()
    gc.freeze()
