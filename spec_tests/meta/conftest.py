"""What all tests share: workers for tests that wait."""

from __future__ import annotations

import os

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are cores, since some tests wait: for processes, and for what must not happen."""
    return (os.cpu_count() or 1) + 1
