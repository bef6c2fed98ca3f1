"""Profile ``agent-loop-010``: calls that can never run become errors, and runs end at their limit."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import activity, behind, call, solution
from looptck.provider.gate import Gate
from looptck.provider.gates import tool_began, tool_ended
from looptck.provider.script import Hold, Step
from looptck.provider.toolbox import Returns
from looptck.spec.agent_loop_010.failures import (
    COUNT,
    count,
    errors_about,
    goes_on,
    sound_ran,
    told_once,
)
from looptck.values.framing import DEFAULT
from looptck.values.outcome import Failed
from looptck.values.plain import times
from looptck.values.transcript import Replied
from looptck.values.turns import Turn

NAMES = ("read", "write", "boom", "other")
TOOLS = [COUNT, *(activity(name, value="", mark="string", optional=("mark",)) for name in NAMES)]
DONE = solution(output="Done.")


def _read(what: Any, to: str = "†state.read") -> dict[str, Any]:
    return call("read", {"value": what, "mark": "mark1"}, to=to)


def _write(name: str) -> dict[str, Any]:
    return call("write", {"value": name}, to=f"†state.{name}")


UNRESOLVABLE = {
    "alone": [_read("†state.nowhere")],
    "beside": [_read("†state.nowhere"), count()],
    "nested": [count(), _read({"a": [1, {"b": "†state.nowhere"}]})],
    "beside-a-writer-of-another-path": [_read("†state.near.by"), _write("near"), count()],
    "input": [_read("†input.nothing")],
    "own-kind": [_read("†plans.nothing"), count()],
}
"""Turns with a call that refers to a path that no call writes."""


@requirement("loop010-unresolvable-references-become-errors")
@pytest.mark.parametrize("calls", UNRESOLVABLE.values(), ids=UNRESOLVABLE)
def test_unresolvable(scenario: Scenario, implementation: Implementation, calls: list[dict[str, Any]]) -> None:
    """The call is reported as one error, and the model is asked again."""
    scenario.plays(solution(*calls), DONE)

    run = implementation.run(tools=TOOLS)

    goes_on(run)
    told_once(run, next(one for one in calls if one["_tool"] == "read"))
    assert "Done." == run.output


@requirement("loop010-unresolvable-references-become-errors")
def test_unresolvable_while_another_runs(scenario: Scenario, implementation: Implementation) -> None:
    """When the stream is closed, another call still runs, but does not write the path that the blocked call needs."""
    left = Gate("the first reply has left", lambda event: isinstance(event, Replied))
    blocked = _read("†state.nowhere")
    scenario.plays(solution(blocked, call("other", {"value": 1}, to="†state.other")), DONE)
    scenario.does("other", Returns("two", hold=left))

    run = implementation.run(tools=TOOLS)

    run.tool_ended("other")
    goes_on(run)
    told_once(run, blocked)
    assert "Done." == run.output


@requirement("loop010-unresolvable-references-become-errors")
def test_two_unresolvable(scenario: Scenario, implementation: Implementation) -> None:
    """Two calls refer to paths that no call writes: each is reported as one error."""
    other = call("read", {"value": "†state.elsewhere", "mark": "mark2"}, to="†state.other")
    scenario.plays(solution(_read("†state.nowhere"), count(), other), DONE)

    run = implementation.run(tools=TOOLS)

    goes_on(run)
    told_once(run, _read("†state.nowhere"), other)


def _in_a_circle(*names: str) -> list[dict[str, Any]]:
    """Calls that form a cycle: each waits for the next, and the last for the first."""
    behind_each = zip(names, [*names[1:], names[0]], strict=True)
    return [call("read", {"value": f"†state.{b}", "mark": f"mark-{a}"}, to=f"†state.{a}") for a, b in behind_each]


CYCLES = {
    "of-one": (_in_a_circle("a"), []),
    "of-two": (_in_a_circle("a", "b"), []),
    "of-three-beside-another": (_in_a_circle("a", "b", "c"), [count()]),
    "with-a-tail": (
        _in_a_circle("a", "b"),
        [call("read", {"value": "†state.a", "mark": "mark-tail"}, to="†state.tail"), count()],
    ),
}
"""Calls that wait for each other, and other calls of the same turn."""


@requirement("loop010-cycles-become-errors")
@pytest.mark.parametrize(("circle", "others"), CYCLES.values(), ids=CYCLES)
def test_cycles(
    scenario: Scenario, implementation: Implementation, circle: list[dict[str, Any]], others: list[dict[str, Any]]
) -> None:
    """None of the calls in the cycle runs, and the model is asked again; the number of Error Messages is recorded."""
    scenario.plays(solution(*circle, *others), DONE)

    run = implementation.run(tools=TOOLS)

    run.delivered(1)
    assert [] == run.arguments_of("read")
    goes_on(run)
    if others:
        sound_ran(run)
    assert "Done." == run.output
    markers = [one["mark"] for one in circle]
    reported = sum(bool(errors_about(run, marker)) for marker in markers)
    answer = {len(markers): "each is reported", 0: "none is reported"}.get(reported, "some are reported")
    implementation.diverges("calls that wait for each other", answer)


FAILED = {
    "raises": call("boom", {"value": 1}, to="†state.failed"),
    "structural": call("boom", {"mark": "no value"}, to="†state.failed"),
    "reference-to-nothing": call("boom", {"value": "†state.nowhere"}, to="†state.failed"),
}
"""Calls that fail, and that would write ``†state.failed``."""
DEPENDENTS = (
    _read("†state.failed"),
    call("read", {"value": {"deep": "†state.failed"}, "mark": "mark2"}, to="†state.read2"),
    call("read", {"value": "†state.read", "mark": "mark3"}, to="†state.read3"),
)
"""The second call has that reference inside an object; the third waits for the result of the first."""


def _dependents_did_not_run(implementation: Implementation, run: Run) -> None:
    run.delivered(1)
    sound_ran(run)
    assert [] == run.arguments_of("read")
    goes_on(run)
    assert "Done." == run.output
    reported = errors_about(run, "mark1")
    implementation.diverges("a call that depends on one that failed", "has an error" if reported else "has no error")


@requirement("loop010-dependents-of-failures-never-run")
@pytest.mark.parametrize("failed", FAILED.values(), ids=FAILED)
def test_dependents(scenario: Scenario, implementation: Implementation, failed: dict[str, Any]) -> None:
    """A call fails: calls that depend on its result, directly or indirectly, do not run.

    Whether they are reported is left open. A call that waits for another result runs.
    """
    scenario.plays(solution(*DEPENDENTS, failed, _write("well"), count(n="†state.well")), DONE)
    scenario.raises("boom", "it did not work")
    scenario.returns("write", 1)

    run = implementation.run(tools=TOOLS)

    _dependents_did_not_run(implementation, run)


@requirement("loop010-dependents-of-failures-never-run")
@on("*/stream/*")
def test_later_dependents(scenario: Scenario, implementation: Implementation) -> None:
    """The dependent calls are streamed after the call that they wait for has failed.

    The rest of the stream comes once ``other`` has begun, which waits for a result that comes after the failure.
    """
    before = (FAILED["raises"], _write("well"), call("other", {"value": "†state.well"}, to="†state.other"))
    turn = solution(*before, *DEPENDENTS, count())
    scenario.plays(Step(turn, DEFAULT.but(fragment=1), holds=(Hold(tool_began("other"), behind(turn, 3)),)), DONE)
    scenario.raises("boom", "it did not work")
    scenario.does("write", Returns("well", hold=tool_ended("boom")))

    run = implementation.run(tools=TOOLS)

    run.tool_ended("boom")
    _dependents_did_not_run(implementation, run)


LIMITS = pytest.mark.parametrize("limit", [1, 2, 5])


def _undecided(n: int) -> list[Turn]:
    """As many turns that call a tool and have no output."""
    return [solution(count(mark=f"turn{number}")) for number in range(1, n + 1)]


@requirement("loop010-turns-are-limited")
@LIMITS
def test_limit(scenario: Scenario, implementation: Implementation, limit: int) -> None:
    """A model that never gives an output is asked as often as the limit says; how the run ends then is recorded."""
    scenario.plays(*_undecided(limit), solution(output="beyond the limit"))

    run = implementation.run(tools=TOOLS, limit=limit)

    run.delivered(1)
    asked = len(run.requests)
    assert limit == asked, f"the limit is {limit}, and the model was asked {times(asked)}; the loop {run.outcome}"
    ending = f"an error ({run.outcome.reason})" if isinstance(run.outcome, Failed) else "a value"
    implementation.diverges("the end at the limit", ending if run.failed or run.output else "nothing is returned")


@requirement("loop010-turns-are-limited")
@LIMITS
def test_output_within_the_limit(scenario: Scenario, implementation: Implementation, limit: int) -> None:
    """The last turn within the limit has an output, which is returned."""
    scenario.plays(*_undecided(limit - 1), DONE, solution(output="beyond the limit"))

    run = implementation.run(tools=TOOLS, limit=limit)

    assert "Done." == run.output
    assert limit == len(run.requests)
