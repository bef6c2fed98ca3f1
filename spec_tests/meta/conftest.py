"""What all tests share: workers for tests that wait."""

from __future__ import annotations

import os

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
<<<<<<< HEAD
    """Two workers for each core, since tests wait as long as they work: for processes, and for what must not happen."""
    return 2 * (os.cpu_count() or 1)
=======
    """Two workers for each core: the tests wait as long as they work, for processes and for what must not happen."""
    return 2 * (os.cpu_count() or 1)


@pytest.fixture(autouse=True, scope="session")
def _narrow_runs() -> Iterator[None]:
    """Let the runs in this process collect no more than they play; those of other processes are as they are."""
    from meta.kit.narrow import narrow

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pytest_run, "run_pytest", narrow(pytest_run.run_pytest))
        yield
>>>>>>> fast-tests
