"""A loop that calls its caller back when its run is over spoils the verdict, and what else was wrong is still told."""

from __future__ import annotations

from typing import Any

from looptck.driver import Emit, Outcome, Started, started, value
from meta.drivers.bench import judged


class CallsBackLate:
    """Returns a wrong answer, and tells the caller of a run a piece of text when the next one has begun."""

    def __init__(self) -> None:
        self.before: Emit | None = None

    def start(self) -> Started:
        """One wire, and no capabilities."""
        return started("late", "1", wires=["openai-chat"], modes=["sync"])

    def run(self, case: Any, emit: Emit) -> Outcome:
        """A text in place of an answer."""
        if self.before is not None:
            self.before("a late word")
        self.before = emit
        return value("Never asked.")


def test_what_the_run_has_shown_is_told_behind_the_fault() -> None:
    """The verdict is an error, since the driver may have ended the run too early."""
    report = judged("python:meta.drivers.test_late_calls:CallsBackLate", "call-runs-its-tool-once")
    spoiled = next(one for one in report.json["results"] if "after its end" in one["reason"])

    assert "error" == spoiled["verdict"]
    assert "its run was over, or the driver ended it too early; the run itself: not-reached" in spoiled["reason"]
