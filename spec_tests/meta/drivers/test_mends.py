"""The usual mistakes of a driver in Node.js: the smoke test says what mends each, and waits as long as it is told."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from looptck.cli.group import main
from looptck.drivers import mends
from looptck.suite.tryout import WHOLE_PROMPT

FILE = Path(__file__).with_name("mistakes.mjs")
LONG = 20.0
"""Seconds that nothing here needs."""
SHORT = 4.0
"""Seconds after which what never comes is given up."""
MENDS = {
    "a log line before started": (mends.LOGS, LONG),
    "a log line in a run": (mends.LOGS, LONG),
    "a log line of JSON": (mends.LOGS, LONG),
    "an object is printed": (mends.ONE_LINE, SHORT),
    "JSON over several lines": (mends.ONE_LINE, SHORT),
    "started without a line end": (mends.LINE_END, SHORT),
    "finished without a line end": (mends.LINE_END, SHORT),
    "a stop in another word": (mends.STOP, LONG),
    "a chunk without a line end": (mends.LINE_END, SHORT),
    "no started": (mends.STARTED, SHORT),
    "no finished": (mends.FINISHED, SHORT),
    "a /v1 too many": ("give it the base URL without its /v1", LONG),
    "a /v1 too few": ("give it the base URL as it is, with its /v1", LONG),
    "another wire": ("declare that wire in `started`, or ask on anthropic-messages", LONG),
    "no prompt": (WHOLE_PROMPT, LONG),
    "it ends at once": (mends.READING, LONG),
}

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")


def _smoke(mistake: str, timeout: float) -> tuple[int, str]:
    words = ["smoke", "--driver", f"cmd:node {FILE} '{mistake}'", "--timeout", f"{timeout:g}"]
    done = CliRunner().invoke(main, words)
    return done.exit_code, done.output


@needs_node
def test_without_a_mistake_it_passes() -> None:
    """The driver that has the mistakes is right without one."""
    status, printed = _smoke("none", LONG)

    assert (0, False) == (status, "mend:" in printed), printed


@needs_node
@pytest.mark.parametrize("mistake", MENDS)
def test_a_mistake_has_its_mend(mistake: str) -> None:
    """The fault is the driver's, and what mends it stands beside it."""
    mend, timeout = MENDS[mistake]

    status, printed = _smoke(mistake, timeout)

    mended = [line for line in printed.splitlines() if line.startswith("      mend: ")]

    assert status
    assert mended, printed
    assert [] == [line for line in mended if not line.endswith(mend)]


@needs_node
def test_instructions_that_are_lost_are_told() -> None:
    """They may be lost by the driver or by the loop, so what mends the driver is said and not judged."""
    status, printed = _smoke("no instructions", LONG)

    told = [line for line in printed.splitlines() if "does not have the instructions" in line]
    assert (0, True) == (status, bool(told) and all(line.endswith(WHOLE_PROMPT) for line in told)), printed


@needs_node
def test_the_start_may_take_as_long_as_is_said() -> None:
    """A driver that never sends `started` is given up after the time of `--timeout`, which the message names."""
    status, printed = _smoke("no started", 1.5)

    assert 2 == status
    assert "no `started` within 1.5 s" in printed
