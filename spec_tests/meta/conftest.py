"""What all tests share: workers for tests that wait."""

from __future__ import annotations

import os

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two workers for each core: the tests wait as long as they work, for processes and for what must not happen."""
    return 2 * (os.cpu_count() or 1)
