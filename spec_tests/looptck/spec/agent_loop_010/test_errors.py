"""Profile ``agent-loop-010``: failed calls are reported to the model after their turn, and the run continues."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import activity, behind, call, place, solution
from looptck.catalogue.agents import Tool
from looptck.provider.gates import tool_began, tool_ended
from looptck.provider.script import Hold, Step
from looptck.provider.toolbox import Raises, Returns
from looptck.spec.agent_loop_010.failures import (
    COUNT,
    ERRORS,
    count,
    described,
    errors_about,
    goes_on,
    sound_ran,
    told_once,
    words,
)
from looptck.values.framing import DEFAULT
from looptck.values.plain import plain
from looptck.values.verdicts import NotReached

_LINES = {
    "type": "object",
    "properties": {"lines": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}},
    "required": ["lines"],
}
NAMES = ("probe", "boom", "slow", "first", "second", "later", "late")
TOOLS = [COUNT, Tool("order", "Orders lines.", _LINES), *(activity(name, value="") for name in NAMES)]
DONE = solution(output="Done.")
FIRST_AND_SECOND = (
    call("first", {"value": 2}, to="†state.first"),
    call("second", {"value": "†state.first"}, to="†state.second"),
)


def _boom(marker: str) -> dict[str, Any]:
    return call("boom", {"value": marker}, to=f"†state.{marker}")


FAULTY = {
    "missing": call("count", {"mark": "faulty"}, to="†state.faulty"),
    "wrong-type": count(mark="faulty", n="three"),
    "null": count(mark="faulty", n=None),
    "unknown-parameter": count(mark="faulty", more=True),
    "nested-wrong-type": call("order", {"lines": [{"n": 1}, {"n": "faulty"}]}, to="†state.faulty"),
    "referred-to-of-wrong-type": count(mark="faulty", n="†state.word"),
    "reference-to-nothing": count(mark="faulty", n="†state.nowhere"),
}
"""Calls with a structural error, by the kind of error."""


@requirement("loop010-structural-errors-run-nothing")
@pytest.mark.parametrize("faulty", FAULTY.values(), ids=FAULTY)
def test_faulty_calls_do_not_run(scenario: Scenario, implementation: Implementation, faulty: dict[str, Any]) -> None:
    """The valid call in the same turn runs, and the faulty call never does."""
    scenario.plays(solution(faulty, count(), call("probe", {"value": 1}, to="†state.word")), DONE)
    scenario.returns("probe", "three")

    run = implementation.run(tools=TOOLS)

    run.delivered(1)
    sound_ran(run)
    sound_ran(run, "probe", {"value": 1})
    ran = [(tool, arguments) for tool, arguments in run.tools_ran if _is_faulty(tool, arguments)]
    assert [] == ran, f"a call with a structural error ran: {plain(ran[0])}"


def _is_faulty(tool: str, arguments: Any) -> bool:
    return tool == "order" or (tool == "count" and "sound" not in words(arguments))


@requirement("loop010-raising-tools-end-nothing")
@ERRORS
def test_others_run_on(scenario: Scenario, implementation: Implementation, type: str, message: str) -> None:
    """A call that is running when another one raises still completes, and the calls that wait for it run."""
    scenario.plays(
        solution(
            call("slow", {"value": 1}, to="†state.slow"),
            _boom("boom"),
            *FIRST_AND_SECOND,
            call("later", {"value": "†state.slow"}, to="†state.later"),
        ),
        DONE,
    )
    scenario.raises("boom", message, type)
    scenario.does("first", Returns("one", hold=tool_ended("boom")))
    scenario.does("slow", Returns("at last", hold=tool_began("second")))

    run = implementation.run(tools=TOOLS)

    run.tool_ended("boom")
    run.tool_began("slow")
    _later_ran(run, {"value": "at last"}, "waits only for `slow`")
    goes_on(run)


@requirement("loop010-raising-tools-end-nothing")
@ERRORS
def test_the_run_goes_on(scenario: Scenario, implementation: Implementation, type: str, message: str) -> None:
    """All calls of a turn raise, and the model is asked again."""
    scenario.plays(solution(_boom("one"), _boom("two")), DONE)
    scenario.raises("boom", message, type)

    run = implementation.run(tools=TOOLS)

    run.tool_ended("boom", 2)
    goes_on(run)
    assert "Done." == run.output


@requirement("loop010-raising-tools-end-nothing")
@on("*/stream/*")
def test_calls_that_follow_run(scenario: Scenario, implementation: Implementation) -> None:
    """A call that is streamed after another has raised runs.

    The rest of the stream comes once ``second`` has begun, which waits for a result that comes after the failure.
    """
    turn = solution(_boom("boom"), *FIRST_AND_SECOND, call("later", {"value": 1}, to="†state.later"))
    scenario.plays(Step(turn, DEFAULT.but(fragment=1), holds=(Hold(tool_began("second"), behind(turn, 3)),)), DONE)
    scenario.raises("boom", "it did not work")
    scenario.does("first", Returns("one", hold=tool_ended("boom")))

    run = implementation.run(tools=TOOLS)

    run.tool_ended("boom")
    _later_ran(run, {"value": 1}, "was streamed after that")
    goes_on(run)


def _later_ran(run: Run, arguments: dict[str, Any], what: str) -> None:
    """Assert that ``later``, which does not depend on ``boom``, ran with these arguments."""
    ran = run.arguments_of("later")
    how = f"ran with {plain(ran)}, not with {plain(arguments)}" if ran else "never ran"

    assert [arguments] == ran, f"`boom` raised, and `later`, which {what}, {how}; the loop {run.outcome}"


FAILURES = {
    "raises": [_boom("mark1")],
    "twice-by-one-tool": [_boom("mark1"), _boom("mark2")],
    "structural": [count(mark="mark1", n="three")],
    "all-kinds": [_boom("mark1"), count(mark="mark2", n="three"), _boom("mark3"), count(mark="mark4", n=[])],
}
"""Calls that fail."""


@requirement("loop010-one-error-message-for-each-failure")
@pytest.mark.parametrize("failing", FAILURES.values(), ids=FAILURES)
def test_each_is_told_once(scenario: Scenario, implementation: Implementation, failing: list[dict[str, Any]]) -> None:
    """The next Request has one Error Message with a reason for each failed call, and none for another call."""
    scenario.plays(solution(*failing, count()), DONE)
    scenario.raises("boom", "it did not work")

    run = implementation.run(tools=TOOLS)

    run.request(2)
    told_once(run, *failing)
    assert [] == errors_about(run, "sound"), f"request 2 has an Error Message about {described(count())}, which ran"
    errors = [error.error for n, _ in enumerate(failing, 1) for error in errors_about(run, f"mark{n}")]
    assert [] == [error for error in errors if not error or not isinstance(error, str | dict)], "a reason is missing"


@requirement("loop010-one-error-message-for-each-failure")
@ERRORS
def test_the_reason_is_told(scenario: Scenario, implementation: Implementation, type: str, message: str) -> None:
    """The Error Message of a call contains the message of the error that its tool raised."""
    scenario.plays(solution(_boom("mark1")), DONE)
    scenario.raises("boom", message, type)

    run = implementation.run(tools=TOOLS)

    told_once(run, _boom("mark1"))
    [reported] = errors_about(run, "mark1")
    said = "\n".join(words(reported.error))
    assert message in said or repr(message)[1:-1] in said, (
        f"the Error Message says {plain(reported.error)}, and the tool raised {plain(message)}"
    )


@requirement("loop010-one-error-message-for-each-failure")
def test_without_an_output_path(scenario: Scenario, implementation: Implementation) -> None:
    """Of two failing calls, the one with an output path is reported; whether the other is reported is recorded."""
    scenario.plays(solution(_boom("mark1"), call("boom", {"value": "mark2"})), DONE)
    scenario.raises("boom", "it did not work")

    run = implementation.run(tools=TOOLS)

    told_once(run, _boom("mark1"))
    reported = errors_about(run, "mark2")
    implementation.diverges(
        "an error of a call without an output path", "is reported" if reported else "is not reported"
    )


@requirement("loop010-errors-follow-all-results")
def test_errors_follow_results(scenario: Scenario, implementation: Implementation) -> None:
    """Calls fail at once, before a result, and between two results: all errors come after the results.

    The first result is in the context when the third failure comes, because ``later``, which waits for it, has begun.
    """
    scenario.plays(
        solution(
            count(mark="mark1", n="three"),
            _boom("mark2"),
            call("slow", {"value": 1}, to="†state.slow"),
            call("later", {"value": "†state.slow"}, to="†state.later"),
            _boom("mark3"),
            call("late", {"value": 1}, to="†state.late"),
        ),
        DONE,
    )
    scenario.does("boom", Raises("no"), Raises("no", hold=tool_began("later")))
    scenario.does("slow", Returns("result-of-slow", hold=tool_ended("boom")))
    scenario.returns("later", "result-of-later")
    scenario.does("late", Returns("result-of-late", hold=tool_ended("boom", 2)))

    run = implementation.run(tools=TOOLS)

    results = _places(run, "result-of-slow", "result-of-later", "result-of-late")
    failing = {"mark1": count(mark="mark1", n="three"), "mark2": _boom("mark2"), "mark3": _boom("mark3")}
    errors = {marker: errors_about(run, marker) for marker in failing}
    missing = [described(one) for marker, one in failing.items() if not errors[marker]]
    assert not missing, f"request 2 has no Error Message about {' and '.join(missing)}"
    first = min(error.at for reported in errors.values() for error in reported)
    assert max(results) < first, "an Error Message comes before a result of its turn"


def _places(run: Run, *markers: str) -> list[int]:
    """The places of these results in the second Request. Raises NotReached if one is missing."""
    request = run.request(2)
    places = [place(request, marker) for marker in markers]
    if missing := [marker for marker, at in zip(markers, places, strict=True) if at is None]:
        raise NotReached(f"request 2 lacks {' and '.join(missing)}")
    return [at for at in places if at is not None]


@requirement("loop010-errors-follow-all-results")
def test_the_next_request_has_them(scenario: Scenario, implementation: Implementation) -> None:
    """An error is in the Request after its turn; whether it is in the one after that too is recorded."""
    scenario.plays(solution(_boom("mark1")), solution(count()), DONE)
    scenario.raises("boom", "it did not work")

    run = implementation.run(tools=TOOLS)

    run.tool_ended("boom")
    assert errors_about(run, "mark1"), "the next Request does not contain the Error Message"
    stays = bool(errors_about(run, "mark1", n=3))
    implementation.diverges("errors of earlier turns", "stay in the context" if stays else "are not repeated")


@requirement("loop010-errors-hold-the-whole-call")
@pytest.mark.parametrize("tool", ["boom", "count"], ids=["raises", "structural"])
def test_the_call_is_whole(scenario: Scenario, implementation: Implementation, tool: str) -> None:
    """The Error Message has the call's keys and parameters as written; references may be resolved."""
    parameters = {"value": "†state.word"} if tool == "boom" else {"n": "†state.word"}
    failing = call(tool, {**parameters, "mark": "mark1"}, to="†state.out.deep", method="set", reasoning="to see")
    scenario.plays(solution(call("probe", {"value": 1}, to="†state.word"), failing), DONE)
    scenario.returns("probe", "three")
    scenario.raises("boom", "it did not work")

    run = implementation.run(tools=[activity("boom", value="", mark="string"), COUNT, activity("probe", value="")])

    errors = errors_about(run, "mark1")
    if not errors:
        raise NotReached("the next Request has no Error Message about the call that failed")
    reported = errors[0].call
    raw, resolved = failing, {**failing, **dict.fromkeys(parameters, "three")}
    known = {key: reported.get(key) for key in failing}
    assert known in (raw, resolved), f"the Error Message has the call {plain(reported)}, not {plain(failing)}"
    implementation.diverges("references of a call that failed", "as written" if known == raw else "resolved")


@requirement("loop010-output-ends-in-spite-of-errors")
@pytest.mark.parametrize(
    "failing",
    [*FAILURES.values(), [count(mark="mark1", n="†state.nowhere")]],
    ids=[*FAILURES, "reference-to-nothing"],
)
def test_output_ends(scenario: Scenario, implementation: Implementation, failing: list[dict[str, Any]]) -> None:
    """Calls fail in a turn with an output: the output is returned, and the model is not asked again."""
    scenario.plays(solution(*failing, output={"ok": True}), solution(output="another"))
    scenario.raises("boom", "it did not work")

    run = implementation.run(tools=TOOLS)

    run.delivered(1)
    for number, _ in enumerate([one for one in failing if one["_tool"] == "boom"], 1):
        run.tool_ended("boom", number)
    assert 1 == len(run.requests), "the model was asked again"
    assert {"ok": True} == run.output


@requirement("loop010-unknown-tools-are-structural-errors")
@pytest.mark.parametrize("tool", ["teleport", "Count", "boom.boom"])
def test_unknown_tools(scenario: Scenario, implementation: Implementation, tool: str) -> None:
    """A call of a tool that was never offered is reported as an error, and its neighbour runs."""
    unknown = call(tool, {"n": 1, "mark": "mark1"}, to="†state.x")
    scenario.plays(solution(unknown, count()), DONE)

    run = implementation.run(tools=TOOLS)

    goes_on(run)
    sound_ran(run)
    told_once(run, unknown)
    assert "Done." == run.output
