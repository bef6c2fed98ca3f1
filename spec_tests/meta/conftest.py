"""What all tests share: workers for tests that wait; a suite that a test plays has no workers of its own then."""

from __future__ import annotations

import gc
import os
import ssl
import sys
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

from looptck.suite.processes import WANTED

settings.register_profile("busy", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")  # a busy machine draws and plays slowly, which is no fault of a test

if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ[WANTED] = "1"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two workers for each core: the tests wait as long as they work, for processes and for what must not happen."""
    return 2 * (os.cpu_count() or 1)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Thousands of collected tests are never garbage: no later collection has to go through them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _import_path() -> Iterator[None]:
    """Strange loops put their folders on the import path each time they are loaded; the next test has none of them."""
    before = [*sys.path]
    yield
    sys.path[:] = before


@pytest.fixture(autouse=True)
def _one_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let SDKs share one TLS context: all traffic is plain HTTP, and making a context for each run is slow."""
    monkeypatch.setattr(ssl, "create_default_context", _CONTEXT)


_CONTEXT = cache(ssl.create_default_context)
