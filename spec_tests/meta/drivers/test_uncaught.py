"""Errors that no caller can catch: what Node.js writes before it ends is the outcome of the run."""

from __future__ import annotations

import pytest

from looptck.drivers.uncaught import of_stderr
from looptck.values.outcome import Failed

ENDED = """\
node:internal/process/promises:394
      triggerUncaughtException(err, true /* fromPromise */);
      ^

LookupError: there is no such city
    at callTool (file:///loop.mjs:12:30)

Node.js v20.20.2
"""


def test_error_that_ended_the_process_is_read() -> None:
    """Its class and its message are those that Node.js has written last."""
    assert Failed("other", "LookupError", "there is no such city", escaped=True) == of_stderr(1, f"a log\n{ENDED}")


def test_value_that_is_no_error_is_an_error_too() -> None:
    """A rejection with a value that is no error has ended the process as well."""
    found = of_stderr(1, "Uncaught 5\n\nNode.js v22.1.0\n")

    assert found is not None
    assert found.escaped


@pytest.mark.parametrize(("status", "stderr"), [(0, ENDED), (70, "Error: no\n"), (None, ENDED), (1, f"{ENDED}bye\n")])
def test_other_ends_are_the_drivers(status: int | None, stderr: str) -> None:
    """A process that ends otherwise has crashed, which says nothing of the loop."""
    assert of_stderr(status, stderr) is None
