"""Profile ``prompty-spec``, bindings: parameters that take their value from inputs and not from the model (§9.5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.agents import agent
from looptck.checks import Implementation, requirement
from looptck.expectations import tools_ran
from looptck.history import same_arguments, same_value
from looptck.kit import Scene
from looptck.plain import differs
from looptck.run import Run
from looptck.spec import strategies
from looptck.spec.schemas import parameters
from looptck.spec.strategies import BoundCall
from looptck.turns import Call, calls, says
from looptck.verdicts import NotReached

MARK = "user-5a1e7c39"
"""An input whose value is found wherever it goes."""
MEASURED = Call.of("measure", {"degrees": 21.5})


def _calls(provider: Scene, implementation: Implementation, *wanted: Call, inputs: dict[str, Any]) -> Run:
    """A run of the agent with bindings in which the model makes these calls in one turn."""
    provider.plays(calls(*wanted), says("Done."))
    return implementation.run(agent="bound", inputs=inputs)


def _called(provider: Scene, implementation: Implementation, call: BoundCall) -> Run:
    """A run in which the model makes this call."""
    provider.plays(calls(Call.of("act", call.arguments)), says("Done."))
    return implementation.run(tools=[call.tool], inputs=call.inputs)


@requirement("spec-bindings-are-injected")
def test_one_binding(provider: Scene, implementation: Implementation) -> None:
    """The tool gets the city from the model and the unit from the inputs."""
    call = Call.of("weather", {"city": "Paris"})

    run = _calls(provider, implementation, call, inputs={"preferred_unit": "kelvin"})

    tools_ran(run, [{"weather": {"city": "Paris", "unit": "kelvin"}}])


@requirement("spec-bindings-are-injected")
def test_two_bindings(provider: Scene, implementation: Implementation) -> None:
    """Every binding of a tool is applied, and not the first of them alone."""
    run = _calls(provider, implementation, MEASURED, inputs={"preferred_unit": "kelvin", "user_id": "ada"})

    tools_ran(run, [{"measure": {"degrees": 21.5, "unit": "kelvin", "user": "ada"}}])


@requirement("spec-bindings-are-injected")
def test_every_call_of_a_turn(provider: Scene, implementation: Implementation) -> None:
    """Each call of a turn has the bindings of its own tool applied."""
    wanted = Call.of("weather", {"city": "Paris"}), MEASURED, Call.of("weather", {"city": "Oslo"})

    run = _calls(provider, implementation, *wanted, inputs={"preferred_unit": "kelvin", "user_id": "ada"})

    paris, oslo = ({"weather": {"city": city, "unit": "kelvin"}} for city in ("Paris", "Oslo"))
    tools_ran(run, [paris, {"measure": {"degrees": 21.5, "unit": "kelvin", "user": "ada"}}, oslo])


@requirement("spec-bindings-are-injected")
def test_every_round(provider: Scene, implementation: Implementation) -> None:
    """A binding is applied in the second and in the third round as in the first."""
    cities = ("Paris", "Oslo", "Lima")
    provider.plays(*(calls(Call.of("weather", {"city": city})) for city in cities), says("Done."))

    run = implementation.run(agent="bound", inputs={"preferred_unit": "kelvin"})

    tools_ran(run, [{"weather": {"city": city, "unit": "kelvin"}} for city in cities])


@requirement("spec-bindings-are-injected")
@pytest.mark.parametrize("value", [0, "", False, None, [], {}], ids=json.dumps)
def test_empty_values(provider: Scene, implementation: Implementation, value: object) -> None:
    """An input that is there is injected, however empty its value is."""
    run = _calls(provider, implementation, MEASURED, inputs={"preferred_unit": "kelvin", "user_id": value})

    tools_ran(run, [{"measure": {"degrees": 21.5, "unit": "kelvin", "user": value}}])


def _control(provider: Scene, implementation: Implementation) -> None:
    """The control of checks that something is not injected: where its input is there, it is."""
    run = _calls(provider, implementation, MEASURED, inputs={"preferred_unit": "kelvin", "user_id": "ada"})
    if [("measure", {"degrees": 21.5, "unit": "kelvin", "user": "ada"})] != run.tools_ran:
        raise NotReached(f"control: with both inputs, both should have been injected; what ran is {run.tools_ran}")


@requirement("spec-binding-needs-its-input")
def test_absent_input(provider: Scene, implementation: Implementation) -> None:
    """Without its input a bound parameter stays out of the arguments; the other binding is applied."""
    _control(provider, implementation)

    run = _calls(provider, implementation, MEASURED, inputs={"preferred_unit": "kelvin"})

    tools_ran(run, [{"measure": {"degrees": 21.5, "unit": "kelvin"}}])


@requirement("spec-binding-needs-its-input")
def test_absent_input_and_the_models_value(provider: Scene, implementation: Implementation) -> None:
    """Without its input a bound parameter keeps what the model wrote for it."""
    _control(provider, implementation)
    call = Call.of("measure", {"degrees": 21.5, "user": "grace"})

    run = _calls(provider, implementation, call, inputs={"preferred_unit": "kelvin"})

    tools_ran(run, [{"measure": {"degrees": 21.5, "unit": "kelvin", "user": "grace"}}])


@requirement("spec-binding-needs-its-input")
def test_no_bindings(provider: Scene, implementation: Implementation) -> None:
    """A tool without bindings gets the model's arguments, though an input has the name of its parameter."""
    _control(provider, implementation)
    inputs = {"preferred_unit": "kelvin", "user_id": "ada", "text": "not this"}

    run = _calls(provider, implementation, Call.of("note", {"text": "this"}), inputs=inputs)

    tools_ran(run, [{"note": {"text": "this"}}])


@requirement("spec-binding-needs-its-input")
def test_default_of_a_bound_input(provider: Scene, implementation: Implementation) -> None:
    """Whether an input that has its default counts as one that is there is open, and recorded."""
    run = _calls(provider, implementation, Call.of("weather", {"city": "Paris"}), inputs={})

    run.delivered(1)
    assert ["weather"] == [tool for tool, _ in run.tools_ran]
    arguments = run.ran[0].arguments
    assert arguments in ({"city": "Paris"}, {"city": "Paris", "unit": "celsius"})
    implementation.diverges("default of a bound input", "injected" if "unit" in arguments else "not injected")


@requirement("spec-binding-overrides-the-model")
@pytest.mark.parametrize("written", ["fahrenheit", ""], ids=json.dumps)
def test_the_models_value(provider: Scene, implementation: Implementation, written: str) -> None:
    """What the model wrote for a bound parameter is replaced; what it wrote beside it stays."""
    call = Call.of("weather", {"unit": written, "city": "Paris"})

    run = _calls(provider, implementation, call, inputs={"preferred_unit": "kelvin"})

    tools_ran(run, [{"weather": {"city": "Paris", "unit": "kelvin"}}])


@requirement("spec-bindings-apply-to-any-arguments")
def test_any_arguments(provider: Scene, implementation: Implementation) -> None:
    """Whatever stands in arguments, bindings and inputs, the tool gets the arguments with the bindings applied."""

    @implementation.every(strategies.bound_calls())
    def holds(call: BoundCall) -> None:
        run = _called(provider, implementation, call)

        run.delivered(1)
        assert ["act"] == [tool for tool, _ in run.tools_ran], f"ran {run.tools_ran}; the loop {run.outcome}"
        assert same_value(call.merged, run.ran[0].arguments), differs(call.merged, run.ran[0].arguments)


@requirement("spec-injected-values-are-not-echoed")
def test_secret(provider: Scene, implementation: Implementation) -> None:
    """A value that was injected twice stands in no request, neither in calls nor in schemas."""
    provider.plays(calls(MEASURED), calls(Call.of("measure", {"degrees": 4})), says("Done."))

    run = implementation.run(agent="bound", inputs={"preferred_unit": "kelvin", "user_id": MARK})

    run.request(3)
    bound = {"unit": "kelvin", "user": MARK}
    if [("measure", {"degrees": degrees, **bound}) for degrees in (21.5, 4)] != run.tools_ran:
        raise NotReached(f"control: the value should have been injected twice; what ran is {run.tools_ran}")
    assert [] == [received.n for received in run.requests if MARK.encode() in received.raw]


@requirement("spec-injected-values-are-not-echoed")
def test_written_arguments(provider: Scene, implementation: Implementation) -> None:
    """What goes back is the value that the model wrote, in whatever spelling; where that is its own is recorded."""
    written = '{ "user":"caf\\u00e9",  "degrees": 2.150e1 }'

    run = _calls(provider, implementation, Call("measure", written), inputs={"user_id": "ada"})

    run.delivered(1)
    echoed = [asked.arguments for asked in run.echoed(1)]
    assert 1 == len(echoed), f"the next request carries the call {len(echoed)} times"
    assert same_arguments(written, echoed[0]), f"{echoed[0]}, and the model wrote {written}"
    implementation.diverges("echoed arguments", "same text" if written == echoed[0] else "written anew")


@requirement("spec-injected-values-are-not-echoed")
def test_any_echo(provider: Scene, implementation: Implementation) -> None:
    """Whatever is injected, the echoed arguments have the value that the model gave them."""

    @implementation.every(strategies.bound_calls())
    def holds(call: BoundCall) -> None:
        run = _called(provider, implementation, call)

        echoed = [asked.arguments for asked in run.echoed(1)]
        assert 1 == len(echoed), f"the next request carries the call {len(echoed)} times"
        written = json.dumps(call.arguments)
        assert same_arguments(written, echoed[0]), f"{echoed[0]}, and the model wrote {written}"


@requirement("spec-bound-parameters-are-not-offered")
def test_offered_parameters(provider: Scene, implementation: Implementation) -> None:
    """Every request offers every tool with the parameters that have no binding, and nothing of these is lost."""
    run = _calls(provider, implementation, MEASURED, inputs={"preferred_unit": "kelvin", "user_id": "ada"})

    run.request(2)
    wanted = {tool.name: parameters(tool.offered) for tool in agent("bound").tools}
    for received in run.requests:
        assert wanted == {tool.name: parameters(tool.parameters) for tool in received.request.tools}


@requirement("spec-bound-parameters-are-not-offered")
def test_any_offered_parameters(provider: Scene, implementation: Implementation) -> None:
    """Whichever parameters are bound, the others are offered, whether or not the inputs are there."""

    @implementation.every(strategies.bound_calls())
    def holds(call: BoundCall) -> None:
        provider.plays(says("Done."))
        run = implementation.run(tools=[call.tool], inputs=call.inputs)

        assert [parameters(call.tool.offered)] == [parameters(tool.parameters) for tool in run.request(1).request.tools]
