"""A loop that calls its caller back when its run is over spoils the verdict, and what else was wrong is still told."""

from __future__ import annotations

import asyncio
from typing import Any

from looptck.driver import Emit, Outcome, Started, handlers, post, started, value
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


class GoesOn:
    """Leaves a cancelled run to itself: it asks the model once more, and tells its caller what that says."""

    def start(self) -> Started:
        """One wire, and runs that can be cancelled."""
        return started("goes on", "1", wires=["openai-chat"], modes=["async"], cancel=True)

    async def run_async(self, case: Any, emit: Emit) -> Outcome:
        """The run is on a thread, which no cancel reaches."""
        return value(await asyncio.to_thread(self._answer, case, emit))

    def _answer(self, case: Any, emit: Emit) -> str:
        offered = [{"type": "function", "function": {k: tool[k] for k in TOLD}} for tool in case["tools"]]
        body = {"model": case["model"], "messages": [*case["messages"]], "tools": offered}
        turn = self._asked(case, body)
        for one in turn.get("tool_calls", ()):
            handlers(case, "sync")[one["function"]["name"]](city="Paris")
        told = {"role": "tool", "content": "Sunny.", "tool_call_id": turn["tool_calls"][0]["id"]}
        body["messages"] += [turn, told]
        text: str = self._asked(case, body)["content"]
        emit(text)
        return text

    def _asked(self, case: Any, body: Any) -> Any:
        return post(f"{case['base_url']}/chat/completions", body)["choices"][0]["message"]


TOLD = ("name", "description", "parameters")


def test_what_the_service_has_seen_of_a_cancelled_run_stays_a_failure() -> None:
    """The loop is told to have asked again, although its late word is a fault that the driver may have made."""
    name, cell, case = "python:meta.drivers.test_late_calls:GoesOn", "openai-chat/plain/async", "*[while-a-tool-runs]"
    report = judged(name, "cancelled-run-asks-no-more", cells=(cell,), cases=(case,))

    assert ["fail"] == [one["verdict"] for one in report.json["results"] if one["requirement"].startswith("cancelled")]
    assert report.json["driver_faults"]


def test_what_the_run_has_shown_is_told_behind_the_fault() -> None:
    """The verdict is an error, since the driver may have ended the run too early."""
    report = judged("python:meta.drivers.test_late_calls:CallsBackLate", "call-runs-its-tool-once")
    spoiled = next(one for one in report.json["results"] if "after its end" in one["reason"])

    assert "error" == spoiled["verdict"]
    assert "its run was over, or the driver ended it too early; the run itself: not-reached" in spoiled["reason"]
