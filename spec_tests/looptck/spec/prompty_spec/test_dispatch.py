"""Profile ``prompty-spec``, dispatch: which handler runs a tool, by its name or by its kind (§9.2 step 5d)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from looptck.bench.assertions.caller import error_says
from looptck.bench.assertions.tool_runs import model_calls, tools_ran
from looptck.bench.checks import Implementation, control, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import Tool
from looptck.provider.gate import Gate
from looptck.provider.script import Step
from looptck.spec.python_errors import no_handler, of_python, raised, reached_the_caller
from looptck.values.plain import plain
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, no_capability

SEARCH = Tool(
    "search",
    "Searches a collection.",
    {"type": "object", "properties": {"words": {"type": "string"}, "shelf": {"type": "string"}}, "required": ["words"]},
    kind="collection",
)
"""A tool with a handler for its name."""
BROWSE = replace(SEARCH, name="browse", handled=False)
"""A tool without a handler for its name."""
WORDS = {"words": "fjords"}


def _calls(scenario: Scenario, implementation: Implementation, *tools: Tool, **how: Any) -> Run:
    """A run in which the model calls each of these tools once, in one turn."""
    scenario.plays(calls(*(Call.of(tool.name, WORDS) for tool in tools)), says("Done."))
    return implementation.run(tools=tools, **how)


@requirement("spec-name-registry-wins")
@pytest.mark.parametrize("kind", ["collection", "function"])
def test_name_before_kind(scenario: Scenario, implementation: Implementation, kind: str) -> None:
    """The name's handler runs a tool that also has a kind's handler; the control is that the latter can run."""
    control(_calls(scenario, implementation, replace(BROWSE, kind=kind), kinds=[kind]), "browse")

    run = _calls(scenario, implementation, replace(SEARCH, kind=kind), kinds=[kind])

    tools_ran(run, [{"search": WORDS}])
    assert run.ran[0].by_kind is None, "the handler of the kind ran"


@requirement("spec-name-registry-wins")
def test_name_beside_kind(scenario: Scenario, implementation: Implementation) -> None:
    """Of two tools of a kind, the name's handler runs the one that has it, and the kind's handler the other."""
    run = _calls(scenario, implementation, SEARCH, BROWSE, kinds=["collection"])

    run.delivered(1)
    ran = {ran.tool: ran.by_kind.kind if ran.by_kind else None for ran in run.ran}
    assert {"search": None, "browse": "collection"} == ran


@requirement("spec-kind-handler-is-the-fallback")
def test_kind_handler(scenario: Scenario, implementation: Implementation) -> None:
    """The handler of the kind gets the tool, the arguments and the agent, and its return value is the result."""
    run = _calls(scenario, implementation, BROWSE, kinds=["collection"])

    tools_ran(run, [{"browse": WORDS}])
    assert run.ran[0].by_kind is not None
    assert ("collection", "assistant") == (run.ran[0].by_kind.kind, run.ran[0].by_kind.agent)
    assert ["result 1 of browse"] == [answer.text for answer in run.new_answers(1)]


@requirement("spec-kind-handler-is-the-fallback")
def test_inputs_of_a_kind_handler(scenario: Scenario, implementation: Implementation) -> None:
    """The handler of the kind gets the inputs of the run; whether defaults are included is recorded."""
    inputs = {"user_id": "ada", "tags": ["x", None]}

    run = _calls(scenario, implementation, BROWSE, kinds=["collection"], agent="bound", inputs=inputs)

    tools_ran(run, [{"browse": WORDS}])
    assert run.ran[0].by_kind is not None
    given, got = {"question": "Go.", **inputs}, run.ran[0].by_kind.inputs
    assert got in (given, {"preferred_unit": "celsius", **given})
    implementation.diverges("inputs of a kind's handler", "as given" if got == given else "with defaults")


@requirement("spec-kind-handler-is-the-fallback")
def test_tools_of_a_kind(scenario: Scenario, implementation: Implementation) -> None:
    """Several tools of a kind share its handler, which gets each of them with its own arguments."""
    scenario.plays(calls(Call.of("browse", {"words": "a"}), Call.of("leaf", {"words": "b"})), says("Done."))

    run = implementation.run(tools=[BROWSE, replace(BROWSE, name="leaf")], kinds=["collection"])

    tools_ran(run, [{"browse": {"words": "a"}}, {"leaf": {"words": "b"}}])
    assert ["collection", "collection"] == [ran.by_kind.kind for ran in run.ran if ran.by_kind]
    assert {"result 1 of browse", "result 1 of leaf"} == {answer.text for answer in run.new_answers(1)}


@requirement("spec-raising-kind-handler-ends-the-loop")
def test_raising_kind_handler(scenario: Scenario, implementation: Implementation) -> None:
    """The error of a kind's handler reaches the caller with its type and message."""
    scenario.raises("browse", "the collection is closed", "LookupError")

    run = _calls(scenario, implementation, BROWSE, kinds=["collection"])

    control(run, "browse")
    reached_the_caller(implementation, run, "LookupError", "the collection is closed")
    model_calls(run, 1)


@requirement("spec-bindings-come-before-dispatch")
@pytest.mark.parametrize("tool", [SEARCH, BROWSE], ids=["by-name", "by-kind"])
def test_bindings_before_dispatch(scenario: Scenario, implementation: Implementation, tool: Tool) -> None:
    """Both kinds of handlers get the arguments with the bindings applied."""
    bound = replace(tool, bindings={"shelf": "user_id"})

    run = _calls(scenario, implementation, bound, kinds=["collection"], inputs={"user_id": "ada"})

    tools_ran(run, [{tool.name: {**WORDS, "shelf": "ada"}}])


def _unhandled(scenario: Scenario, implementation: Implementation, *kinds: str) -> Run:
    """A run that calls a tool of a new kind, while only these kinds have a handler."""
    if not implementation.started.can("kinds"):
        raise NotApplicable(no_capability("kinds"))
    run = _calls(scenario, implementation, replace(BROWSE, name="fetch"), kinds=kinds)
    run.delivered(1)
    return run


@requirement("spec-missing-handler-raises")
@pytest.mark.parametrize("kinds", [(), ("library", "function")], ids=["no-kind", "other-kinds"])
def test_missing_handler_of_a_kind(scenario: Scenario, implementation: Implementation, kinds: tuple[str, ...]) -> None:
    """A tool without a handler for its name or kind ends the loop with a ValueError, though other kinds have one."""
    of_python(implementation, "ValueError")

    run = _unhandled(scenario, implementation, *kinds)

    raised(run, "ValueError", no_handler(run))
    assert [] == run.tools_ran


@requirement("spec-missing-handler-error-has-the-documents-text")
def test_missing_handler_of_a_kind_text(scenario: Scenario, implementation: Implementation) -> None:
    """The message names the tool and its kind."""
    run = _unhandled(scenario, implementation)

    error_says(run, "No handler registered for tool: fetch (kind: collection)")


@requirement("spec-runtime-tools-last-one-run")
def test_handler_of_an_earlier_run(scenario: Scenario, implementation: Implementation) -> None:
    """A tool with a handler in an earlier run is treated in this run like a tool that never had one."""
    never, early = (replace(SEARCH, name=name, kind="function") for name in ("never", "early"))
    without = _calls(scenario, implementation, replace(never, handled=False))
    without.delivered(1)
    control(_calls(scenario, implementation, early), "early")

    run = _calls(scenario, implementation, replace(early, handled=False))

    run.delivered(1)
    assert [] == run.tools_ran
    assert len(without.requests) == len(run.requests)
    assert str(without.outcome).replace("never", "early") == str(run.outcome)


@requirement("spec-runtime-tools-do-not-mix")
def test_handlers_of_two_runs(scenario: Scenario, implementation: Implementation) -> None:
    """Two runs begin before either calls its tool; each calls its own handler under the same name.

    A loop that makes one model request at a time is not held for long.
    """
    asked = Gate("the first run has asked"), Gate("the second run has asked", patience=3.0)
    runs = []
    for own, other in ((0, 1), (1, 0)):
        scenario.plays(
            Step(calls(Call.of("note", {"text": f"of {own}"})), before=asked[other]), says("Done."), signal=asked[own]
        )
        scenario.returns("note", f"result of {own}")
        runs.append(implementation.begin())

    for number, run in enumerate([implementation.end(running) for running in runs]):
        run.delivered(1)
        its_call = [("note", {"text": f"of {number}"})]
        assert its_call == run.tools_ran, (
            f"run {number + 1} of two has the tool runs {plain(run.tools_ran)}, not its own call"
        )
        answered = [answer.text for answer in run.new_answers(1)]
        assert [True] == [f"result of {number}" in text for text in answered], (
            f"run {number + 1} of two gets {plain(answered)}, not its own handler's 'result of {number}'"
        )
