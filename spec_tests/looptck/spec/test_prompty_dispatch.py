"""Profile ``prompty-spec``, dispatch: whose handler runs a tool, by its name or by its kind (§9.2 step 5d)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from looptck.agents import Tool
from looptck.checks import Implementation, control, requirement
from looptck.expectations import error, tools_ran
from looptck.kit import Scene
from looptck.outcome import Failed
from looptck.provider.gates import Gate
from looptck.provider.script import Step
from looptck.run import Run
from looptck.turns import Call, calls, says
from looptck.verdicts import NotApplicable

SEARCH = Tool(
    "search",
    "Searches a collection.",
    {"type": "object", "properties": {"words": {"type": "string"}, "shelf": {"type": "string"}}, "required": ["words"]},
    kind="collection",
)
"""Has a handler of its name."""
BROWSE = replace(SEARCH, name="browse", handled=False)
"""Has none."""
WORDS = {"words": "fjords"}


def _calls(provider: Scene, implementation: Implementation, *tools: Tool, **how: Any) -> Run:
    """A run in which the model calls each of these tools once, in one turn."""
    provider.plays(calls(*(Call.of(tool.name, WORDS) for tool in tools)), says("Done."))
    return implementation.run(tools=tools, **how)


@requirement("spec-name-registry-wins")
@pytest.mark.parametrize("kind", ["collection", "function"])
def test_name_before_kind(provider: Scene, implementation: Implementation, kind: str) -> None:
    """A tool with handlers for its name and its kind is run by the first; that the second can run is the control."""
    control(_calls(provider, implementation, replace(BROWSE, kind=kind), kinds=[kind]), "browse")

    run = _calls(provider, implementation, replace(SEARCH, kind=kind), kinds=[kind])

    tools_ran(run, [{"search": WORDS}])
    assert run.ran[0].by_kind is None, "the handler of the kind ran"


@requirement("spec-name-registry-wins")
def test_name_beside_kind(provider: Scene, implementation: Implementation) -> None:
    """Of two tools of one kind that with a handler of its name is run by it, the other by the handler of the kind."""
    run = _calls(provider, implementation, SEARCH, BROWSE, kinds=["collection"])

    run.delivered(1)
    ran = {ran.tool: ran.by_kind.kind if ran.by_kind else None for ran in run.ran}
    assert {"search": None, "browse": "collection"} == ran


@requirement("spec-kind-handler-is-the-fallback")
def test_kind_handler(provider: Scene, implementation: Implementation) -> None:
    """The handler of the kind gets the tool, the arguments and the agent, and its value is the result."""
    run = _calls(provider, implementation, BROWSE, kinds=["collection"])

    tools_ran(run, [{"browse": WORDS}])
    assert run.ran[0].by_kind is not None
    assert ("collection", "assistant") == (run.ran[0].by_kind.kind, run.ran[0].by_kind.agent)
    assert ["result 1 of browse"] == [answer.text for answer in run.new_answers(1)]


@requirement("spec-kind-handler-is-the-fallback")
def test_inputs_of_a_kind_handler(provider: Scene, implementation: Implementation) -> None:
    """The handler of the kind gets the inputs of the run; whether with the defaults of the others is recorded."""
    inputs = {"user_id": "ada", "tags": ["x", None]}

    run = _calls(provider, implementation, BROWSE, kinds=["collection"], agent="bound", inputs=inputs)

    tools_ran(run, [{"browse": WORDS}])
    assert run.ran[0].by_kind is not None
    given, got = {"question": "Go.", **inputs}, run.ran[0].by_kind.inputs
    assert got in (given, {"preferred_unit": "celsius", **given})
    implementation.diverges("inputs of a kind's handler", "as given" if got == given else "with defaults")


@requirement("spec-kind-handler-is-the-fallback")
def test_tools_of_a_kind(provider: Scene, implementation: Implementation) -> None:
    """Several tools of a kind share its handler, which gets each of them with its own arguments."""
    provider.plays(calls(Call.of("browse", {"words": "a"}), Call.of("leaf", {"words": "b"})), says("Done."))

    run = implementation.run(tools=[BROWSE, replace(BROWSE, name="leaf")], kinds=["collection"])

    tools_ran(run, [{"browse": {"words": "a"}}, {"leaf": {"words": "b"}}])
    assert ["collection", "collection"] == [ran.by_kind.kind for ran in run.ran if ran.by_kind]
    assert {"result 1 of browse", "result 1 of leaf"} == {answer.text for answer in run.new_answers(1)}


@requirement("spec-raising-kind-handler-ends-the-loop")
def test_raising_kind_handler(provider: Scene, implementation: Implementation) -> None:
    """The error of a kind's handler, type and message, reaches the caller."""
    provider.raises("browse", "the collection is closed", "LookupError")

    run = _calls(provider, implementation, BROWSE, kinds=["collection"])

    control(run, "browse")
    assert isinstance(run.outcome, Failed), f"the loop {run.outcome}"
    assert ("LookupError", True) == (run.outcome.type, "the collection is closed" in run.outcome.message)
    assert 1 == len(run.requests)


@requirement("spec-bindings-come-before-dispatch")
@pytest.mark.parametrize("tool", [SEARCH, BROWSE], ids=["by-name", "by-kind"])
def test_bindings_before_dispatch(provider: Scene, implementation: Implementation, tool: Tool) -> None:
    """Either handler gets the arguments with the bindings applied."""
    bound = replace(tool, bindings={"shelf": "user_id"})

    run = _calls(provider, implementation, bound, kinds=["collection"], inputs={"user_id": "ada"})

    tools_ran(run, [{tool.name: {**WORDS, "shelf": "ada"}}])


def _unhandled(provider: Scene, implementation: Implementation, *kinds: str) -> Run:
    """A run in which a tool of a kind of its own is called, and only these kinds have a handler."""
    if not implementation.started.can("kinds"):
        raise NotApplicable("the driver declares no capability `kinds`")
    run = _calls(provider, implementation, replace(BROWSE, name="fetch"), kinds=kinds)
    run.delivered(1)
    return run


@requirement("spec-missing-handler-raises")
@pytest.mark.parametrize("kinds", [(), ("library", "function")], ids=["no-kind", "other-kinds"])
def test_missing_handler_of_a_kind(provider: Scene, implementation: Implementation, kinds: tuple[str, ...]) -> None:
    """A tool whose name and kind have no handler ends the loop with a ValueError, though other kinds have one."""
    run = _unhandled(provider, implementation, *kinds)

    error(run, {"type": "ValueError"})
    assert [] == run.tools_ran


@requirement("spec-missing-handler-error-has-the-documents-text")
def test_missing_handler_of_a_kind_text(provider: Scene, implementation: Implementation) -> None:
    """The message names the tool and its kind."""
    run = _unhandled(provider, implementation)

    error(run, {"message": r"No handler registered for tool: fetch \(kind: collection\)"})


@requirement("spec-runtime-tools-last-one-run")
def test_handler_of_an_earlier_run(provider: Scene, implementation: Implementation) -> None:
    """A tool that had a handler in the run before fares in this one like a tool that never had one."""
    never, early = (replace(SEARCH, name=name, kind="function") for name in ("never", "early"))
    without = _calls(provider, implementation, replace(never, handled=False))
    without.delivered(1)
    control(_calls(provider, implementation, early), "early")

    run = _calls(provider, implementation, replace(early, handled=False))

    run.delivered(1)
    assert [] == run.tools_ran
    assert len(without.requests) == len(run.requests)
    assert str(without.outcome).replace("never", "early") == str(run.outcome)


@requirement("spec-runtime-tools-do-not-mix")
def test_handlers_of_two_runs(provider: Scene, implementation: Implementation) -> None:
    """Two runs that have both begun before either calls its tool call each its own handler under the same name."""
    asked = Gate("the first run has asked"), Gate("the second run has asked")
    runs = []
    for own, other in ((0, 1), (1, 0)):
        provider.plays(
            Step(calls(Call.of("note", {"text": f"of {own}"})), before=asked[other]), says("Done."), signal=asked[own]
        )
        provider.returns("note", f"result of {own}")
        runs.append(implementation.begin())

    for number, run in enumerate([implementation.end(running) for running in runs]):
        run.delivered(1)
        assert [] == run.gave_up
        assert [("note", {"text": f"of {number}"})] == run.tools_ran
        assert [f"result of {number}"] == [answer.text for answer in run.new_answers(1)]
