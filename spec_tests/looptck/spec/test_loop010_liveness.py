"""Profile ``agent-loop-010``: what can never run is told, and the run goes on; and it goes on for so long only."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.checks import Implementation, on, requirement
from looptck.framing import NATURAL
from looptck.kit import Scene
from looptck.outcome import Failed
from looptck.provider.gates import Gate, tool_began, tool_ended
from looptck.provider.script import Hold, Step
from looptck.provider.toolbox import Returns
from looptck.run import Run
from looptck.solutions import activity, behind, call, solution
from looptck.spec.failures import COUNT, count, errors_about, goes_on, sound_ran, told_counts
from looptck.transcript import Replied
from looptck.turns import Turn

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
"""Turns with a call that refers to what nobody writes."""


@requirement("loop010-unresolvable-references-become-errors")
@pytest.mark.parametrize("calls", UNRESOLVABLE.values(), ids=UNRESOLVABLE)
def test_unresolvable(provider: Scene, implementation: Implementation, calls: list[dict[str, Any]]) -> None:
    """The call is told as one error, and the model is asked again."""
    provider.plays(solution(*calls), DONE)

    run = implementation.run(tools=TOOLS)

    goes_on(run)
    assert {"mark1": 1} == told_counts(run, "mark1")
    assert "Done." == run.output


@requirement("loop010-unresolvable-references-become-errors")
def test_unresolvable_while_another_runs(provider: Scene, implementation: Implementation) -> None:
    """A call still runs when the stream is closed, and does not write what the blocked one waits for."""
    left = Gate("the first reply has left", lambda event: isinstance(event, Replied))
    provider.plays(solution(_read("†state.nowhere"), call("other", {"value": 1}, to="†state.other")), DONE)
    provider.does("other", Returns("two", hold=left))

    run = implementation.run(tools=TOOLS)

    run.tool_ended("other")
    goes_on(run)
    assert {"mark1": 1} == told_counts(run, "mark1")
    assert "Done." == run.output


def _in_a_circle(*names: str) -> list[dict[str, Any]]:
    """Calls of which each waits for the next, and the last for the first."""
    behind_each = zip(names, [*names[1:], names[0]], strict=True)
    return [call("read", {"value": f"†state.{b}", "mark": f"mark-{a}"}, to=f"†state.{a}") for a, b in behind_each]


CYCLES = {
    "of-one": (_in_a_circle("a"), []),
    "of-two": (_in_a_circle("a", "b"), []),
    "of-three-beside-another": (_in_a_circle("a", "b", "c"), [count()]),
    "with-a-tail": (_in_a_circle("a", "b"), [call("read", {"value": "†state.a", "mark": "mark-tail"}), count()]),
}
"""Calls that wait for each other, and what stands beside them."""


@requirement("loop010-cycles-become-errors")
@pytest.mark.parametrize(("circle", "beside"), CYCLES.values(), ids=CYCLES)
def test_cycles(
    provider: Scene, implementation: Implementation, circle: list[dict[str, Any]], beside: list[dict[str, Any]]
) -> None:
    """None of them runs, and the model is asked again; how many Error Messages there are is recorded."""
    provider.plays(solution(*circle, *beside), DONE)

    run = implementation.run(tools=TOOLS)

    run.delivered(1)
    assert [] == run.arguments_of("read")
    goes_on(run)
    if beside:
        sound_ran(run)
    assert "Done." == run.output
    markers = [one["mark"] for one in circle]
    told = sum(bool(count) for count in told_counts(run, *markers).values())
    answer = {len(markers): "each is told", 0: "none is told"}.get(told, "some are told")
    implementation.diverges("calls that wait for each other", answer)


FAILED = {
    "raises": call("boom", {"value": 1}, to="†state.failed"),
    "structural": call("boom", {"mark": "no value"}, to="†state.failed"),
    "reference-to-nothing": call("boom", {"value": "†state.nowhere"}, to="†state.failed"),
}
"""Calls that fail, and write ``†state.failed`` otherwise."""
DEPENDENTS = (
    _read("†state.failed"),
    call("read", {"value": {"deep": "†state.failed"}, "mark": "mark2"}),
    call("read", {"value": "†state.read", "mark": "mark3"}),
)
"""The second refers to it below; the third waits for what the first would write."""


def _dependents_did_not_run(implementation: Implementation, run: Run) -> None:
    run.delivered(1)
    sound_ran(run)
    assert [] == run.arguments_of("read")
    goes_on(run)
    assert "Done." == run.output
    told = errors_about(run, "mark1")
    implementation.diverges("a call that depends on one that failed", "has an error" if told else "has no error")


@requirement("loop010-dependents-of-failures-never-run")
@pytest.mark.parametrize("failed", FAILED.values(), ids=FAILED)
def test_dependents(provider: Scene, implementation: Implementation, failed: dict[str, Any]) -> None:
    """A call fails: those that wait for its result do not run, nor what waits for them; whether they are told is open.

    What waits for the result of another call runs.
    """
    provider.plays(solution(*DEPENDENTS, failed, _write("well"), count(n="†state.well")), DONE)
    provider.raises("boom", "it did not work")
    provider.returns("write", 1)

    run = implementation.run(tools=TOOLS)

    _dependents_did_not_run(implementation, run)


@requirement("loop010-dependents-of-failures-never-run")
@on("*/stream/*")
def test_later_dependents(provider: Scene, implementation: Implementation) -> None:
    """They are streamed when the call that they wait for has failed.

    The rest of the stream comes when ``other`` has begun, which waits for a result behind that failure.
    """
    before = (FAILED["raises"], _write("well"), call("other", {"value": "†state.well"}))
    turn = solution(*before, *DEPENDENTS, count())
    provider.plays(Step(turn, NATURAL.but(fragment=1), holds=(Hold(tool_began("other"), behind(turn, 3)),)), DONE)
    provider.raises("boom", "it did not work")
    provider.does("write", Returns("well", hold=tool_ended("boom")))

    run = implementation.run(tools=TOOLS)

    run.tool_ended("boom")
    _dependents_did_not_run(implementation, run)


LIMITS = pytest.mark.parametrize("limit", [1, 2, 5])


def _undecided(n: int) -> list[Turn]:
    """So many turns that call a tool and have no output."""
    return [solution(count(mark=f"turn{number}")) for number in range(1, n + 1)]


@requirement("loop010-turns-are-limited")
@LIMITS
def test_limit(provider: Scene, implementation: Implementation, limit: int) -> None:
    """A model that never decides is asked as often as the limit says; how the run ends then is recorded."""
    provider.plays(*_undecided(limit), solution(output="beyond the limit"))

    run = implementation.run(tools=TOOLS, limit=limit)

    run.delivered(1)
    assert limit == len(run.requests), f"the limit is {limit}; the loop {run.outcome}"
    ending = f"an error ({run.outcome.reason})" if isinstance(run.outcome, Failed) else "a value"
    implementation.diverges("the end at the limit", ending if run.failed or run.output else "nothing is returned")


@requirement("loop010-turns-are-limited")
@LIMITS
def test_output_within_the_limit(provider: Scene, implementation: Implementation, limit: int) -> None:
    """The last turn that the limit allows gives an output, which is returned."""
    provider.plays(*_undecided(limit - 1), DONE, solution(output="beyond the limit"))

    run = implementation.run(tools=TOOLS, limit=limit)

    assert "Done." == run.output
    assert limit == len(run.requests)
