"""Profile ``agent-loop-010``: calls that fail are told to the model at the end of their turn, and end nothing."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.agents import Tool
from looptck.checks import Implementation, on, requirement
from looptck.framing import NATURAL
from looptck.kit import Scene
from looptck.provider.gates import tool_began, tool_ended
from looptck.provider.script import Hold, Step
from looptck.provider.toolbox import Raises, Returns
from looptck.run import Run
from looptck.solutions import activity, behind, call, place, solution
from looptck.spec.failures import COUNT, ERRORS, count, errors_about, goes_on, sound_ran, told_counts, words
from looptck.verdicts import NotReached

_LINES = {
    "type": "object",
    "properties": {"lines": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}},
    "required": ["lines"],
}
NAMES = ("probe", "boom", "slow", "first", "second", "later", "late")
TOOLS = [COUNT, Tool("order", "Orders lines.", _LINES), *(activity(name, value="") for name in NAMES)]
DONE = solution(output="Done.")
FIRST_AND_SECOND = (call("first", {"value": 2}, to="†state.first"), call("second", {"value": "†state.first"}))


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
"""Calls with a structural error, by what is wrong."""


@requirement("loop010-structural-errors-run-nothing")
@pytest.mark.parametrize("faulty", FAULTY.values(), ids=FAULTY)
def test_faulty_calls_do_not_run(provider: Scene, implementation: Implementation, faulty: dict[str, Any]) -> None:
    """The sound call beside the faulty one runs, and the faulty one never does."""
    provider.plays(solution(faulty, count(), call("probe", {"value": 1}, to="†state.word")), DONE)
    provider.returns("probe", "three")

    run = implementation.run(tools=TOOLS)

    run.delivered(1)
    sound_ran(run)
    sound_ran(run, "probe", {"value": 1})
    assert [] == [(tool, arguments) for tool, arguments in run.tools_ran if _is_faulty(tool, arguments)]


def _is_faulty(tool: str, arguments: Any) -> bool:
    return tool == "order" or (tool == "count" and "sound" not in words(arguments))


@requirement("loop010-raising-tools-end-nothing")
@ERRORS
def test_others_run_on(provider: Scene, implementation: Implementation, type: str, message: str) -> None:
    """A call that runs while another raises comes to its end, and what waits for it runs."""
    provider.plays(
        solution(
            call("slow", {"value": 1}, to="†state.slow"),
            _boom("boom"),
            *FIRST_AND_SECOND,
            call("later", {"value": "†state.slow"}),
        ),
        DONE,
    )
    provider.raises("boom", message, type)
    provider.does("first", Returns("one", hold=tool_ended("boom")))
    provider.does("slow", Returns("at last", hold=tool_began("second")))

    run = implementation.run(tools=TOOLS)

    run.tool_ended("boom")
    run.tool_began("slow")
    assert [{"value": "at last"}] == run.arguments_of("later"), f"the loop {run.outcome}"
    goes_on(run)


@requirement("loop010-raising-tools-end-nothing")
@ERRORS
def test_the_run_goes_on(provider: Scene, implementation: Implementation, type: str, message: str) -> None:
    """All calls of a turn raise, and the model is asked again."""
    provider.plays(solution(_boom("one"), _boom("two")), DONE)
    provider.raises("boom", message, type)

    run = implementation.run(tools=TOOLS)

    run.tool_ended("boom", 2)
    goes_on(run)
    assert "Done." == run.output


@requirement("loop010-raising-tools-end-nothing")
@on("*/stream/*")
def test_calls_that_follow_run(provider: Scene, implementation: Implementation) -> None:
    """A call that is streamed when another has raised runs.

    The rest of the stream comes when ``second`` has begun, which waits for a result behind that failure.
    """
    turn = solution(_boom("boom"), *FIRST_AND_SECOND, call("later", {"value": 1}))
    provider.plays(Step(turn, NATURAL.but(fragment=1), holds=(Hold(tool_began("second"), behind(turn, 3)),)), DONE)
    provider.raises("boom", "it did not work")
    provider.does("first", Returns("one", hold=tool_ended("boom")))

    run = implementation.run(tools=TOOLS)

    run.tool_ended("boom")
    assert [{"value": 1}] == run.arguments_of("later"), f"the loop {run.outcome}"
    goes_on(run)


FAILURES = {
    "raises": [_boom("mark1")],
    "twice-by-one-tool": [_boom("mark1"), _boom("mark2")],
    "structural": [count(mark="mark1", n="three")],
    "all-kinds": [_boom("mark1"), count(mark="mark2", n="three"), _boom("mark3"), count(mark="mark4", n=[])],
}
"""Calls that fail."""


@requirement("loop010-one-error-message-for-each-failure")
@pytest.mark.parametrize("failing", FAILURES.values(), ids=FAILURES)
def test_each_is_told_once(provider: Scene, implementation: Implementation, failing: list[dict[str, Any]]) -> None:
    """The next Request has one Error Message about each call that failed, with a reason, and none about another."""
    provider.plays(solution(*failing, count()), DONE)
    provider.raises("boom", "it did not work")
    markers = [f"mark{n}" for n, _ in enumerate(failing, 1)]

    run = implementation.run(tools=TOOLS)

    run.request(2)
    assert {**dict.fromkeys(markers, 1), "sound": 0} == told_counts(run, *markers, "sound")
    errors = [error.error for marker in markers for error in errors_about(run, marker)]
    assert [] == [error for error in errors if not error or not isinstance(error, str | dict)], "told without a reason"


@requirement("loop010-one-error-message-for-each-failure")
@ERRORS
def test_the_reason_is_told(provider: Scene, implementation: Implementation, type: str, message: str) -> None:
    """What a tool raised stands in the Error Message about its call."""
    provider.plays(solution(_boom("mark1")), DONE)
    provider.raises("boom", message, type)

    run = implementation.run(tools=TOOLS)

    told = errors_about(run, "mark1")
    assert 1 == len(told)
    said = "\n".join(words(told[0].error))
    assert message in said or repr(message)[1:-1] in said, f"{told[0].error!r} does not say {message!r}"


@requirement("loop010-one-error-message-for-each-failure")
def test_without_an_output_path(provider: Scene, implementation: Implementation) -> None:
    """Of two failing calls the one that has an output path is told; whether the other is, is recorded."""
    provider.plays(solution(_boom("mark1"), call("boom", {"value": "mark2"})), DONE)
    provider.raises("boom", "it did not work")

    run = implementation.run(tools=TOOLS)

    assert {"mark1": 1} == told_counts(run, "mark1")
    told = told_counts(run, "mark2")["mark2"]
    implementation.diverges("an error of a call without an output path", "is told" if told else "is not told")


@requirement("loop010-errors-follow-all-results")
def test_errors_follow_results(provider: Scene, implementation: Implementation) -> None:
    """A call fails at once, another one raises before, and a third between two results: all of it is told behind them.

    The first result is in the context when the third failure comes, as ``later``, which waits for it, has begun.
    """
    provider.plays(
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
    provider.does("boom", Raises("no"), Raises("no", hold=tool_began("later")))
    provider.does("slow", Returns("result-of-slow", hold=tool_ended("boom")))
    provider.returns("later", "result-of-later")
    provider.does("late", Returns("result-of-late", hold=tool_ended("boom", 2)))

    run = implementation.run(tools=TOOLS)

    results = _places(run, "result-of-slow", "result-of-later", "result-of-late")
    errors = [errors_about(run, marker) for marker in ("mark1", "mark2", "mark3")]
    assert all(errors), "the next Request does not have all Error Messages of the turn"
    first = min(error.at for told in errors for error in told)
    assert max(results) < first, "an Error Message stands before a result of its turn"


def _places(run: Run, *markers: str) -> list[int]:
    """Where these results stand in the second Request. Raises NotReached if one is not there."""
    request = run.request(2)
    places = [place(request, marker) for marker in markers]
    if None in places:
        raise NotReached(f"the next Request lacks results: of {markers} it has {places}")
    return [at for at in places if at is not None]


@requirement("loop010-errors-follow-all-results")
def test_the_next_request_has_them(provider: Scene, implementation: Implementation) -> None:
    """An error is told in the Request behind its turn; whether it is in that after it too, is recorded."""
    provider.plays(solution(_boom("mark1")), solution(count()), DONE)
    provider.raises("boom", "it did not work")

    run = implementation.run(tools=TOOLS)

    run.tool_ended("boom")
    assert errors_about(run, "mark1"), "the next Request does not have it"
    stays = bool(errors_about(run, "mark1", n=3))
    implementation.diverges("errors of earlier turns", "stay in the context" if stays else "are not told again")


@requirement("loop010-errors-hold-the-whole-call")
@pytest.mark.parametrize("tool", ["boom", "count"], ids=["raises", "structural"])
def test_the_call_is_whole(provider: Scene, implementation: Implementation, tool: str) -> None:
    """The keys of the call's own are told as written, and so are its parameters, but for what they refer to."""
    parameters = {"value": "†state.word"} if tool == "boom" else {"n": "†state.word"}
    failing = call(tool, {**parameters, "mark": "mark1"}, to="†state.out.deep", method="set", reasoning="to see")
    provider.plays(solution(call("probe", {"value": 1}, to="†state.word"), failing), DONE)
    provider.returns("probe", "three")
    provider.raises("boom", "it did not work")

    run = implementation.run(tools=[activity("boom", value="", mark="string"), COUNT, activity("probe", value="")])

    errors = errors_about(run, "mark1")
    if not errors:
        raise NotReached("the next Request has no Error Message about the call that failed")
    told = errors[0].call
    raw, resolved = failing, {**failing, **dict.fromkeys(parameters, "three")}
    known = {key: told.get(key) for key in failing}
    assert known in (raw, resolved), f"the call is told as {told}, not as {failing}"
    implementation.diverges("references of a call that failed", "as written" if known == raw else "resolved")


@requirement("loop010-output-ends-in-spite-of-errors")
@pytest.mark.parametrize(
    "failing",
    [*FAILURES.values(), [count(mark="mark1", n="†state.nowhere")]],
    ids=[*FAILURES, "reference-to-nothing"],
)
def test_output_ends(provider: Scene, implementation: Implementation, failing: list[dict[str, Any]]) -> None:
    """Calls fail beside an output: it is returned, and the model is not asked again."""
    provider.plays(solution(*failing, output={"ok": True}), solution(output="another"))
    provider.raises("boom", "it did not work")

    run = implementation.run(tools=TOOLS)

    run.delivered(1)
    for number, _ in enumerate([one for one in failing if one["_tool"] == "boom"], 1):
        run.tool_ended("boom", number)
    assert 1 == len(run.requests), "the model was asked again"
    assert {"ok": True} == run.output


@requirement("loop010-unknown-tools-are-structural-errors")
@pytest.mark.parametrize("tool", ["teleport", "Count", "boom.boom"])
def test_unknown_tools(provider: Scene, implementation: Implementation, tool: str) -> None:
    """A call of a tool that was never offered is told as an error, and its neighbour runs."""
    provider.plays(solution(call(tool, {"n": 1, "mark": "mark1"}, to="†state.x"), count()), DONE)

    run = implementation.run(tools=TOOLS)

    goes_on(run)
    sound_ran(run)
    assert {"mark1": 1} == told_counts(run, "mark1")
    assert "Done." == run.output
