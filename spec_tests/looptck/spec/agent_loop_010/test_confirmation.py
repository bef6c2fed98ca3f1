"""Profile ``agent-loop-010``: a person is asked about each call just before it runs, and may change it."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.assertions.tool_runs import same_runs
from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import activity, call, error_messages, place, solution
from looptck.provider.confirmation import Approve, Change, Decision, Reject, Replace
from looptck.provider.gates import ABSENCE, tool_began
from looptck.provider.toolbox import Returns
from looptck.spec.agent_loop_010.failures import COUNT, count, errors_about, goes_on, sound_ran, words
from looptck.values.plain import plain
from looptck.values.verdicts import NotReached

WEATHER = activity("weather", city="string", days="integer", exact="boolean", optional=("exact",))
NAMES = ("produce", "consume", "one", "two", "three", "four")
TOOLS = [COUNT, WEATHER, *(activity(name, value="") for name in NAMES)]
DONE = solution(output="Done.")
PARIS = {"city": "Paris", "days": 2}
CHAIN = (
    call("one", {"value": 1}, to="†state.one"),
    call("two", {"value": "†state.one"}, to="†state.two"),
    call("three", {"value": "†state.two"}, to="†state.three"),
    call("four", {"value": "†state.three"}, to="†state.four"),
)
"""Calls that wait for each other: when the last begins, every call that could begin with the first has begun."""


def _weather(to: str = "†state.weather", **parameters: Any) -> dict[str, Any]:
    return call("weather", {**PARIS, **parameters}, to=to)


def _asked(run: Run, tool: str) -> int:
    """How often the person was asked about a tool. Raises NotReached if the first answer never came."""
    questions = [question for question in run.questions if question.call.get("_tool") == tool]
    if not questions or questions[0].decision is None:
        raise NotReached(
            f"no confirmation was requested for {tool}; {plain(run.tools_ran)} ran, and the loop {run.outcome}"
        )
    return len(questions)


def _reported(run: Run) -> str:
    """The end of a message: what the model reads about a call that failed, if anything."""
    reported = error_messages(run.request(2)) if len(run.requests) > 1 else []
    return f"; the model reads of an error: {plain(reported[0].error)}" if reported else ""


@requirement("loop010-only-unblocked-calls-are-confirmed")
def test_blocked_calls_are_not_asked_about(scenario: Scenario, implementation: Implementation) -> None:
    """A blocked call is asked about once its dependency has ended, though it was written first."""
    blocked = call("consume", {"value": "†state.produced"}, to="†state.consumed")
    scenario.plays(solution(blocked, call("produce", {"value": 1}, to="†state.produced"), *CHAIN), DONE)
    scenario.does("produce", Returns("here", hold=tool_began("four")))

    run = implementation.run(tools=TOOLS, confirms=True)

    produced = run.tool_ended("produce")
    _asked(run, "consume")
    early = [question.call for question in run.questions if question.asked < produced and question.call == blocked]
    assert [] == early, "confirmation was requested for a call that was still blocked"


@requirement("loop010-only-unblocked-calls-are-confirmed")
def test_calls_that_never_run_are_not_asked_about(scenario: Scenario, implementation: Implementation) -> None:
    """No confirmation is requested for a call with an unresolvable reference; for its neighbour one is."""
    scenario.plays(solution(call("consume", {"value": "†state.nowhere"}, to="†state.consumed"), count()), DONE)

    run = implementation.run(tools=TOOLS, confirms=True)

    _asked(run, "count")
    sound_ran(run)
    asked = {question.call["_tool"] for question in run.questions}
    assert "consume" not in asked, "confirmation was requested for a call that reads what nothing writes"


@requirement("loop010-only-unblocked-calls-are-confirmed")
@on("openai-chat")
def test_calls_without_an_activity(scenario: Scenario, implementation: Implementation) -> None:
    """Whether confirmation is requested for a call whose result the model has written is left open."""
    implementation.needs("latent")
    scenario.plays(solution(call("guess", to="†state.guess", output="a thought"), count()), DONE)

    run = implementation.run(tools=[*TOOLS, activity("guess", latent=True)], confirms=True)

    _asked(run, "count")
    asked = any(question.call["_tool"] == "guess" for question in run.questions)
    implementation.diverges("a call without an Activity", "is asked about" if asked else "is not asked about")


@requirement("loop010-calls-wait-for-their-confirmation")
def test_calls_wait(scenario: Scenario, implementation: Implementation) -> None:
    """A call runs once its question is answered; whether other calls run before that is recorded."""
    others_ran = tool_began("four")
    others_ran.patience, others_ran.of_silence = ABSENCE, True
    scenario.plays(solution(_weather(), *CHAIN), DONE)
    scenario.decides(Approve(hold=others_ran), about="weather")

    run = implementation.run(tools=TOOLS, confirms=True)

    _asked(run, "weather")
    decided = next(question.decided for question in run.questions if question.call["_tool"] == "weather")
    assert decided is not None
    assert decided < run.tool_began("weather"), "the call ran before it was confirmed"
    implementation.diverges("an open question", "delays other calls" if run.gave_up else "delays no other call")


@requirement("loop010-calls-wait-for-their-confirmation")
def test_calls_after_the_first(scenario: Scenario, implementation: Implementation) -> None:
    """A call that a result unblocks, and a call of the next turn, are asked about as the first one is."""
    first = call("produce", {"value": 1}, to="†state.town")
    scenario.plays(solution(first, call("consume", {"value": "†state.town"}, to="†state.out")), solution(count()), DONE)

    run = implementation.run(tools=TOOLS, confirms=True)

    _asked(run, "produce")
    run.delivered(2)
    asked = {question.call.get("_tool") for question in run.questions}
    unasked = [tool for tool, _ in run.tools_ran if tool not in asked]
    assert [] == unasked, f"no confirmation was requested for {' and '.join(unasked)}, which ran"


CHANGES = {
    "one": (_weather(), {"city": "Oslo"}, {"city": "Oslo", "days": 2}),
    "all": (_weather(), {"city": "Oslo", "days": 3}, {"city": "Oslo", "days": 3}),
    "falsy": (_weather(exact=True), {"days": 0, "exact": False}, {"city": "Paris", "days": 0, "exact": False}),
    "a-reference": (_weather(city="†state.town"), {"city": "Oslo"}, {"city": "Oslo", "days": 2}),
    "beside-a-reference": (_weather(city="†state.town"), {"days": 3}, {"city": "Bergen", "days": 3}),
}
"""Calls, their changed parameters, and the resulting arguments."""


@requirement("loop010-changed-parameters-are-used")
@pytest.mark.parametrize(("asked", "changes", "wanted"), CHANGES.values(), ids=CHANGES)
def test_changes(
    scenario: Scenario,
    implementation: Implementation,
    asked: dict[str, Any],
    changes: dict[str, Any],
    wanted: dict[str, Any],
) -> None:
    """The tool runs once, with the changed parameters and with the others as they were."""
    scenario.plays(solution(asked, call("produce", {"value": 1}, to="†state.town")), DONE)
    scenario.returns("produce", "Bergen")
    scenario.decides(Change(changes), Approve(), about="weather")

    run = implementation.run(tools=TOOLS, confirms=True)

    again = _asked(run, "weather") > 1
    assert run.arguments_of("weather"), f"the changed call never ran{_reported(run)}"
    same_runs([("weather", wanted)], [one for one in run.tools_ran if one[0] == "weather"])
    implementation.diverges("a call that was changed", "is asked about again" if again else "is not asked about again")


@requirement("loop010-changed-parameters-are-used")
def test_a_change_to_a_reference(scenario: Scenario, implementation: Implementation) -> None:
    """A parameter is changed to a reference, which the tool never gets; whether it gets the value is recorded."""
    scenario.plays(solution(_weather(), count()), DONE)
    scenario.decides(Change({"city": "†state.town"}), Approve(), about="weather")

    run = implementation.run(tools=TOOLS, confirms=True, context=[{"type": "state", "town": "Bergen"}])

    _asked(run, "weather")
    sound_ran(run)
    ran = run.arguments_of("weather")
    resolved = {"city": "Bergen", "days": 2}
    assert ran in ([], [resolved]), f"the reference stands for Bergen, and the tool ran with {plain(ran)}"
    implementation.diverges("a reference in a changed parameter", "is resolved" if ran else "does not run")


REPLACEMENTS = {
    "of-the-same-tool": (_weather(city="Oslo", to="†state.instead"), ("weather", {"city": "Oslo", "days": 2})),
    "of-another-tool": (call("produce", {"value": 7}, to="†state.instead"), ("produce", {"value": 7})),
}
"""Replacements of a call, and the tool that runs then."""


@requirement("loop010-replacements-run-instead")
@pytest.mark.parametrize(("replacement", "wanted"), REPLACEMENTS.values(), ids=REPLACEMENTS)
def test_replacements(
    scenario: Scenario, implementation: Implementation, replacement: dict[str, Any], wanted: tuple[str, dict[str, Any]]
) -> None:
    """Only the replacement runs; its result is stored at its own path and unblocks the calls that wait for it."""
    consume = call("consume", {"value": "†state.instead"}, to="†state.consumed")
    scenario.plays(solution(_weather(), consume, *CHAIN[:2]), DONE)
    scenario.returns("one", "first")
    scenario.returns(wanted[0], "instead")
    scenario.decides(Replace(replacement), Approve(), about="weather")

    run = implementation.run(tools=TOOLS, confirms=True)

    again = _asked(run, "weather") > 1 or any(one.call["_tool"] == "produce" for one in run.questions)
    sound_ran(run, "two", {"value": "first"})
    ran = [one for one in run.tools_ran if one[0] in {"weather", "produce"}]
    assert ("weather", PARIS) not in ran, "the call that the person replaced ran"
    assert ran, f"the replacement never ran{_reported(run)}"
    same_runs([wanted], ran)
    assert [{"value": "instead"}] == run.arguments_of("consume")
    implementation.diverges("a replacement", "is asked about" if again else "is not asked about")


@requirement("loop010-replacements-run-instead")
def test_a_replacement_that_refers(scenario: Scenario, implementation: Implementation) -> None:
    """A replacement refers to what another call is yet to write: it waits for that, or the model is told of it."""
    consume = call("consume", {"value": "†state.instead"}, to="†state.consumed")
    scenario.plays(solution(_weather(), consume, *CHAIN[:2]), DONE)
    scenario.returns("one", "first")
    scenario.returns("produce", "instead")
    scenario.decides(Replace(call("produce", {"value": "†state.one"}, to="†state.instead")), Approve(), about="weather")

    run = implementation.run(tools=TOOLS, confirms=True)

    _asked(run, "weather")
    sound_ran(run, "two", {"value": "first"})
    assert [] == run.arguments_of("weather")
    told = len(run.requests) > 1 and [error for name in ("produce", "weather") for error in errors_about(run, name)]
    if not (told and [] == run.arguments_of("produce")):
        same_runs([("produce", {"value": "first"})], [one for one in run.tools_ran if one[0] == "produce"])
        assert [{"value": "instead"}] == run.arguments_of("consume")
    implementation.diverges("a replacement that refers to what is not there", "is an error" if told else "waits for it")


CORRECTIONS: dict[str, tuple[Decision, dict[str, Any]]] = {
    "changed-to-a-wrong-type": (Change({"days": "many"}), {"city": "Paris", "days": "many"}),
    "changed-to-null": (Change({"city": None}), {"city": None, "days": 2}),
    "replaced-by-a-wrong-type": (Replace(_weather(days="many")), {"city": "Paris", "days": "many"}),
    "replaced-without-a-parameter": (Replace(call("weather", {"city": "Oslo"})), {"city": "Oslo"}),
}
"""Corrections with a structural error, and the arguments that no tool may get."""


@requirement("loop010-corrected-calls-are-checked-again")
@pytest.mark.parametrize(("correction", "faulty"), CORRECTIONS.values(), ids=CORRECTIONS)
def test_corrections_are_checked(
    scenario: Scenario, implementation: Implementation, correction: Decision, faulty: dict[str, Any]
) -> None:
    """A correction that violates the tool's schema does not run, its neighbour does, and the run continues."""
    scenario.plays(solution(_weather(), count()), DONE)
    scenario.decides(correction, Approve(), about="weather")

    run = implementation.run(tools=TOOLS, confirms=True)

    _asked(run, "weather")
    sound_ran(run)
    assert faulty not in run.arguments_of("weather")
    goes_on(run)
    assert "Done." == run.output


@requirement("loop010-rejected-calls-do-not-run")
def test_rejections(scenario: Scenario, implementation: Implementation) -> None:
    """The call does not run, its neighbour does, and the next Request contains the reason; its form is recorded."""
    scenario.plays(solution(_weather(), count()), DONE)
    scenario.decides(Reject("toomuchrain"), about="weather")

    run = implementation.run(tools=TOOLS, confirms=True)

    _asked(run, "weather")
    sound_ran(run)
    assert [] == run.arguments_of("weather")
    goes_on(run)
    assert place(run.request(2), "toomuchrain") is not None, "the next Request does not contain the reason"
    errors = [one for one in errors_about(run, "Paris") if any("toomuchrain" in text for text in words(one.error))]
    implementation.diverges("a rejection", "an Error Message" if errors else "reported without an Error Message")
