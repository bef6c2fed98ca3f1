"""Profile ``prompty-spec``, bindings: parameters that take their values from inputs, not from the model (§9.5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import agent
from looptck.spec import strategies
from looptck.spec.schemas import parameters
from looptck.spec.strategies import BoundCall
from looptck.values.history import same_arguments, same_value
from looptck.values.plain import differs
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

MARK = "user-5a1e7c39"
"""An input whose value can be found wherever it appears."""
MEASURED = Call.of("measure", {"degrees": 21.5})


def _calls(scenario: Scenario, implementation: Implementation, *wanted: Call, inputs: dict[str, Any]) -> Run:
    """A run of the agent with bindings in which the model makes these calls in one turn."""
    scenario.plays(calls(*wanted), says("Done."))
    return implementation.run(agent="bound", inputs=inputs)


def _called(scenario: Scenario, implementation: Implementation, call: BoundCall) -> Run:
    """A run in which the model makes this call."""
    scenario.plays(calls(Call.of("act", call.arguments)), says("Done."))
    return implementation.run(tools=[call.tool], inputs=call.inputs)


@requirement("spec-bindings-are-injected")
def test_one_binding(scenario: Scenario, implementation: Implementation) -> None:
    """The tool gets the city from the model and the unit from the inputs."""
    call = Call.of("weather", {"city": "Paris"})

    run = _calls(scenario, implementation, call, inputs={"preferred_unit": "kelvin"})

    tools_ran(run, [{"weather": {"city": "Paris", "unit": "kelvin"}}])


@requirement("spec-bindings-are-injected")
def test_two_bindings(scenario: Scenario, implementation: Implementation) -> None:
    """Every binding of a tool is applied, not only the first."""
    run = _calls(scenario, implementation, MEASURED, inputs={"preferred_unit": "kelvin", "user_id": "ada"})

    tools_ran(run, [{"measure": {"degrees": 21.5, "unit": "kelvin", "user": "ada"}}])


@requirement("spec-bindings-are-injected")
def test_every_call_of_a_turn(scenario: Scenario, implementation: Implementation) -> None:
    """The bindings of its own tool are applied to each call of a turn."""
    wanted = Call.of("weather", {"city": "Paris"}), MEASURED, Call.of("weather", {"city": "Oslo"})

    run = _calls(scenario, implementation, *wanted, inputs={"preferred_unit": "kelvin", "user_id": "ada"})

    paris, oslo = ({"weather": {"city": city, "unit": "kelvin"}} for city in ("Paris", "Oslo"))
    tools_ran(run, [paris, {"measure": {"degrees": 21.5, "unit": "kelvin", "user": "ada"}}, oslo])


@requirement("spec-bindings-are-injected")
def test_every_round(scenario: Scenario, implementation: Implementation) -> None:
    """A binding is applied in the second and the third round as in the first."""
    cities = ("Paris", "Oslo", "Lima")
    scenario.plays(*(calls(Call.of("weather", {"city": city})) for city in cities), says("Done."))

    run = implementation.run(agent="bound", inputs={"preferred_unit": "kelvin"})

    tools_ran(run, [{"weather": {"city": city, "unit": "kelvin"}} for city in cities])


@requirement("spec-bindings-are-injected")
@pytest.mark.parametrize("value", [0, "", False, None, [], {}], ids=json.dumps)
def test_empty_values(scenario: Scenario, implementation: Implementation, value: object) -> None:
    """An input that is given is injected, even if its value is empty."""
    run = _calls(scenario, implementation, MEASURED, inputs={"preferred_unit": "kelvin", "user_id": value})

    tools_ran(run, [{"measure": {"degrees": 21.5, "unit": "kelvin", "user": value}}])


def _control(scenario: Scenario, implementation: Implementation) -> None:
    """The control of checks that a value is not injected: it is injected if its input is given."""
    run = _calls(scenario, implementation, MEASURED, inputs={"preferred_unit": "kelvin", "user_id": "ada"})
    if [("measure", {"degrees": 21.5, "unit": "kelvin", "user": "ada"})] != run.tools_ran:
        raise NotReached(f"control: both inputs should have been injected; the calls that ran: {run.tools_ran}")


@requirement("spec-binding-needs-its-input")
def test_absent_input(scenario: Scenario, implementation: Implementation) -> None:
    """If its input is absent, a bound parameter is left out of the arguments; the other binding is applied."""
    _control(scenario, implementation)

    run = _calls(scenario, implementation, MEASURED, inputs={"preferred_unit": "kelvin"})

    tools_ran(run, [{"measure": {"degrees": 21.5, "unit": "kelvin"}}])


@requirement("spec-binding-needs-its-input")
def test_absent_input_and_the_models_value(scenario: Scenario, implementation: Implementation) -> None:
    """If its input is absent, a bound parameter keeps the model's value."""
    _control(scenario, implementation)
    call = Call.of("measure", {"degrees": 21.5, "user": "grace"})

    run = _calls(scenario, implementation, call, inputs={"preferred_unit": "kelvin"})

    tools_ran(run, [{"measure": {"degrees": 21.5, "unit": "kelvin", "user": "grace"}}])


@requirement("spec-binding-needs-its-input")
def test_no_bindings(scenario: Scenario, implementation: Implementation) -> None:
    """A tool without bindings gets the model's arguments, though an input has the name of its parameter."""
    _control(scenario, implementation)
    inputs = {"preferred_unit": "kelvin", "user_id": "ada", "text": "not this"}

    run = _calls(scenario, implementation, Call.of("note", {"text": "this"}), inputs=inputs)

    tools_ran(run, [{"note": {"text": "this"}}])


@requirement("spec-binding-needs-its-input")
def test_default_of_a_bound_input(scenario: Scenario, implementation: Implementation) -> None:
    """Whether an input with only a default counts as given is open, and recorded."""
    run = _calls(scenario, implementation, Call.of("weather", {"city": "Paris"}), inputs={})

    run.delivered(1)
    assert ["weather"] == [tool for tool, _ in run.tools_ran]
    arguments = run.ran[0].arguments
    assert arguments in ({"city": "Paris"}, {"city": "Paris", "unit": "celsius"})
    implementation.diverges("default of a bound input", "injected" if "unit" in arguments else "not injected")


@requirement("spec-binding-overrides-the-model")
@pytest.mark.parametrize("written", ["fahrenheit", ""], ids=json.dumps)
def test_the_models_value(scenario: Scenario, implementation: Implementation, written: str) -> None:
    """The model's value for a bound parameter is replaced; its other arguments stay."""
    call = Call.of("weather", {"unit": written, "city": "Paris"})

    run = _calls(scenario, implementation, call, inputs={"preferred_unit": "kelvin"})

    tools_ran(run, [{"weather": {"city": "Paris", "unit": "kelvin"}}])


@requirement("spec-bindings-apply-to-any-arguments")
def test_any_arguments(scenario: Scenario, implementation: Implementation) -> None:
    """Whatever arguments, bindings and inputs contain, the tool gets the arguments with the bindings applied."""

    @implementation.every(strategies.bound_calls())
    def holds(call: BoundCall) -> None:
        run = _called(scenario, implementation, call)

        run.delivered(1)
        assert ["act"] == [tool for tool, _ in run.tools_ran], f"ran {run.tools_ran}; the loop {run.outcome}"
        got = run.ran[0].arguments
        assert same_value(call.merged, got), f"the arguments of act with its bindings: {differs(call.merged, got)}"


@requirement("spec-injected-values-are-not-echoed")
def test_secret(scenario: Scenario, implementation: Implementation) -> None:
    """No request contains a value that was injected twice, neither in calls nor in schemas."""
    scenario.plays(calls(MEASURED), calls(Call.of("measure", {"degrees": 4})), says("Done."))

    run = implementation.run(agent="bound", inputs={"preferred_unit": "kelvin", "user_id": MARK})

    run.request(3)
    bound = {"unit": "kelvin", "user": MARK}
    if [("measure", {"degrees": degrees, **bound}) for degrees in (21.5, 4)] != run.tools_ran:
        raise NotReached(f"control: the value should have been injected twice; the calls that ran: {run.tools_ran}")
    assert [] == [received.n for received in run.requests if MARK.encode() in received.raw]


@requirement("spec-injected-values-are-not-echoed")
def test_written_arguments(scenario: Scenario, implementation: Implementation) -> None:
    """The echoed call has the value that the model wrote, in any spelling; a changed spelling is recorded."""
    written = '{ "user":"caf\\u00e9",  "degrees": 2.150e1 }'

    run = _calls(scenario, implementation, Call("measure", written), inputs={"user_id": "ada"})

    run.delivered(1)
    echoed = [asked.arguments for asked in run.echoed(1)]
    assert 1 == len(echoed), f"the next request carries the call {len(echoed)} times"
    assert same_arguments(written, echoed[0]), f"the next request has {echoed[0]}, and the model wrote {written}"
    implementation.diverges("echoed arguments", "same text" if written == echoed[0] else "rewritten")


@requirement("spec-injected-values-are-not-echoed")
def test_any_echo(scenario: Scenario, implementation: Implementation) -> None:
    """Whatever is injected, the echoed arguments have the model's values."""

    @implementation.every(strategies.bound_calls())
    def holds(call: BoundCall) -> None:
        run = _called(scenario, implementation, call)

        echoed = [asked.arguments for asked in run.echoed(1)]
        assert 1 == len(echoed), f"the next request carries the call {len(echoed)} times"
        written = json.dumps(call.arguments)
        assert same_arguments(written, echoed[0]), f"the next request has {echoed[0]}, and the model wrote {written}"


@requirement("spec-bound-parameters-are-not-offered")
def test_offered_parameters(scenario: Scenario, implementation: Implementation) -> None:
    """Every request offers every tool with its unbound parameters, all of them complete."""
    run = _calls(scenario, implementation, MEASURED, inputs={"preferred_unit": "kelvin", "user_id": "ada"})

    run.request(2)
    wanted = {tool.name: parameters(tool.offered) for tool in agent("bound").tools}
    for received in run.requests:
        assert wanted == {tool.name: parameters(tool.parameters) for tool in received.request.tools}


@requirement("spec-bound-parameters-are-not-offered")
def test_any_offered_parameters(scenario: Scenario, implementation: Implementation) -> None:
    """Whichever parameters are bound, the others are offered, whether or not the inputs are given."""

    @implementation.every(strategies.bound_calls())
    def holds(call: BoundCall) -> None:
        scenario.plays(says("Done."))
        run = implementation.run(tools=[call.tool], inputs=call.inputs)

        wanted = parameters(call.tool.offered)
        offered = [parameters(tool.parameters) for tool in run.request(1).request.tools]
        bound = [name for one in offered for name in one if name not in wanted]
        assert not bound, f"request 1 offers the parameter {bound[0]} of {call.tool.name}, which is bound"
        assert [wanted] == offered
