"""Names that mean something to a loop or to its language: a tool or a parameter may have them, and a call of none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from looptck.bench.assertions.results import error_is_told
from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import Tool
from looptck.spec.offered_names import takes_names
from looptck.values.plain import plain
from looptck.values.turns import Call, calls, says

PREFIXED = ["add", "notes__add", "mcp__notes__add"]
"""Names of which one is the end of the next, parted as prefixes of servers and extensions are."""
CASED = ["note", "Note", "noTe"]
NUMBERED = ["note", "note_2"]
HYPHENS = ["keep-note", "Keep-Note-2"]
MANY = [f"tool{number:02d}" for number in range(1, 31)]
INHERITED = ["constructor", "toString", "__init__", "run"]
"""Names that an object has in JavaScript, in Python or in a loop, whether or not it has a tool of that name."""
PARAMETERS = [
    ["name"],
    ["args", "kwargs"],
    ["config", "runtime"],
    ["context", "ctx", "state"],
    ["tool", "arguments", "input"],
    ["tool_name", "tool_call_id", "function"],
]
"""Names of parameters that a loop may have for itself."""


def _schema(*names: str) -> dict[str, Any]:
    """An object of texts, closed as strict tools want it."""
    members = {name: {"type": "string", "description": f"The {name}."} for name in names}
    return {"type": "object", "properties": members, "required": [*names], "additionalProperties": False}


def _each_ran(run: Run, names: Sequence[str]) -> None:
    """Each tool ran. A loop that returned before the last call came says nothing of names."""
    if not run.failed:
        run.delivered(len(names))
    tools_ran(run, [{name: {"text": name}} for name in names])


def _calls_each(scenario: Scenario, implementation: Implementation, names: Sequence[str]) -> Run:
    """A run with tools of these names, each of which is called in a turn of its own."""
    scenario.plays(*(calls(Call.of(name, {"text": name})) for name in names), says("Done."))
    return implementation.run(tools=[Tool(name, f"Adds a note to {name}.", _schema("text")) for name in names])


@requirement("calls-run-the-tool-they-name")
@pytest.mark.parametrize("names", [PREFIXED, NUMBERED, HYPHENS], ids=["prefix", "number", "hyphens"])
def test_names_with_other_signs(scenario: Scenario, implementation: Implementation, names: list[str]) -> None:
    """Names have underscores or hyphens, and one is the end or the beginning of another; each is called, and runs."""
    run = _calls_each(scenario, implementation, names)

    takes_names(run, names, lambda usual: _calls_each(scenario, implementation, usual))
    _each_ran(run, names)


@requirement("calls-run-the-tool-they-name")
def test_names_that_differ_in_case(scenario: Scenario, implementation: Implementation) -> None:
    """Three tools have names that differ in capitals alone; each is called in a turn of its own, and runs."""
    run = _calls_each(scenario, implementation, CASED)

    _each_ran(run, CASED)


@requirement("tools-are-offered-every-time")
def test_many_tools(scenario: Scenario, implementation: Implementation) -> None:
    """Thirty tools are offered, and the service accepts the request; the last one is called and runs."""
    scenario.plays(calls(Call.of(MANY[-1], {"text": "last"})), says("Done."))

    run = implementation.run(tools=[Tool(name, f"Does {name}.", _schema("text")) for name in MANY])

    offered = {tool.name for tool in run.request(1).request.tools}
    missing = [name for name in MANY if name not in offered]
    others = ", ".join(sorted(offered)) or "no tools"
    assert [] == missing, f"request 1 does not offer {', '.join(missing)}; it offers {others}"
    refused = [problem.message for problem in run.request(1).problems if problem.pointer.startswith("/tools")]
    assert [] == refused, f"the service refuses so many tools: {refused[0]}"
    tools_ran(run, [{MANY[-1]: {"text": "last"}}])


@requirement("inherited-names-are-no-tools")
@pytest.mark.parametrize("name", INHERITED)
def test_inherited_names(scenario: Scenario, implementation: Implementation, name: str) -> None:
    """A call of a tool that was not offered has a name that objects have anyway."""
    scenario.plays(calls(Call.of(name, {"city": "Paris"})), says("I cannot do that."))

    run = implementation.run()

    error_is_told(run, {"turn": 1, "holds": name, "or_reads_as_error": True})


@requirement("arguments-arrive-whatever-their-shape")
def test_spelling_of_parameters(scenario: Scenario, implementation: Implementation) -> None:
    """Parameters have capitals and underscores, and lists in lists; the tool gets them under the names that it has."""
    row = {"type": "array", "items": {"type": "integer"}}
    members = {
        "cityName": {"type": "string", "description": "The city's name."},
        "street_name": {"type": "string", "description": "The street's name."},
        "X1": {"type": "integer", "description": "A coordinate."},
        "rows": {"type": "array", "items": row, "description": "Rows of numbers."},
    }
    schema = {"type": "object", "properties": members, "required": [*members]}
    arguments = {"cityName": "Paris", "street_name": "Rue X", "X1": 3, "rows": [[1, 2], [], [3]]}
    scenario.plays(calls(Call.of("place", arguments)), says("Placed."))

    run = implementation.run(tools=[Tool("place", "Places something on a map.", schema)])

    tools_ran(run, [{"place": arguments}])


KEYS = {name: f"the {name}" for name in ("__proto__", "constructor", "prototype", "toString", "__class__", "plain")}
OPEN = {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}
FIELDS = {"fields": {**OPEN, "description": "Any fields."}}


@requirement("keys-that-objects-inherit-are-kept")
@pytest.mark.parametrize(
    ("schema", "arguments"),
    [(OPEN, KEYS), ({"type": "object", "properties": FIELDS, "required": ["fields"]}, {"fields": KEYS})],
    ids=["at-the-top", "in-a-member"],
)
def test_keys_that_objects_inherit(
    scenario: Scenario, implementation: Implementation, schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    """An open object has keys that objects have anyway in some languages; the call runs with them, or does not run.

    `__proto__` may be left out on purpose, as libraries for schemas do in JavaScript.
    """
    scenario.plays(calls(Call.of("keep", arguments)), says("Kept."))

    run = implementation.run(tools=[Tool("keep", "Keeps what it is given.", schema)])

    run.delivered(1)
    if not run.ran:
        error_is_told(run, {"turn": 1, "holds": "keep", "or_reads_as_error": True})
        return
    found = [_harmless(one) for one in run.arguments_of("keep")]
    wanted = _harmless(arguments)
    assert [wanted] == found, f"`keep` was called with {plain(arguments)}, and has run with {plain(found)}"


def _harmless(value: Any) -> Any:
    """Objects without `__proto__`."""
    if not isinstance(value, dict):
        return value
    return {name: _harmless(one) for name, one in value.items() if name != "__proto__"}


@requirement("left-out-parameters-stay-out")
def test_left_out_parameters(scenario: Scenario, implementation: Implementation) -> None:
    """Of three parameters one is required; the model gives it alone, and then with one of the others."""
    schema = {**_schema("city", "unit", "language"), "required": ["city"]}
    given = [{"city": "Paris"}, {"city": "Oslo", "unit": "kelvin"}]
    scenario.plays(*(calls(Call.of("measure", one)) for one in given), says("Measured."))

    run = implementation.run(tools=[Tool("measure", "Measures how warm it is.", schema)])

    tools_ran(run, [{"measure": one} for one in given])


@requirement("parameters-may-have-any-name")
@pytest.mark.parametrize("names", PARAMETERS, ids="-".join)
def test_parameters_of_any_name(scenario: Scenario, implementation: Implementation, names: list[str]) -> None:
    """Parameters are called like what a loop may have beside them; the tool gets each of them."""
    arguments = {name: f"the {name}" for name in names}
    scenario.plays(calls(Call.of("keep", arguments)), says("Kept."))

    run = implementation.run(tools=[Tool("keep", "Keeps what it is given.", _schema(*names))])

    tools_ran(run, [{"keep": arguments}])
