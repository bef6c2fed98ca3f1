"""The tools that a request offers: their names, descriptions and schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from looptck.bench.checks import Implementation, requirement
from looptck.bench.offers import described_otherwise, differences, own_members, without
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import Tool, agent
from looptck.spec.describing import is_no_word
from looptck.spec.functions_alone import takes_functions_alone
from looptck.spec.offered_names import takes_names, weather
from looptck.spec.unrunnable import UNRUNNABLE
from looptck.values.history import Offered
from looptck.values.plain import plain
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable


@requirement("tools-are-offered-every-time")
def test_tools_are_offered(scenario: Scenario, implementation: Implementation) -> None:
    """Each request has the names, descriptions and parameters of all tools."""
    scenario.plays(calls(Call.of("weather", {"city": "Paris"})), calls(Call.of("ping")), says("That is all."))

    run = implementation.run("What is the weather?")

    run.request(3)
    for received in run.requests:
        offered = {tool.name: tool for tool in received.request.tools}
        own = _own(agent("assistant").tools, offered)
        for tool in agent("assistant").tools:
            others = ", ".join(sorted(offered)) or "nothing"
            assert tool.name in offered, f"request {received.n} does not offer {tool.name}; it offers {others}"
            said = offered[tool.name].description
            assert tool.description in said, f"request {received.n} offers {tool.name} with the description {said!r}"
            wanted, there = sorted(tool.parameters["properties"]), sorted(_names(offered[tool.name].parameters) - own)
            told = f"request {received.n} offers {tool.name} with the parameters {plain(there)}, not {plain(wanted)}"
            assert wanted == there, told


@requirement("tools-are-offered-every-time")
@pytest.mark.parametrize(
    "call",
    [
        pytest.param(Call.of("weather", {"city": "Atlantis"}), id="raising"),
        pytest.param(Call.of("note", {"text": "nothing"}), id="returning-nothing"),
        *UNRUNNABLE,
    ],
)
def test_tools_are_offered_after_a_failure(scenario: Scenario, implementation: Implementation, call: Call) -> None:
    """A tool raises or returns nothing, or a call cannot run: if the model is asked again it may call all tools.

    A loop may switch off the one tool that has failed, so that the model does not call it again and again.
    """
    scenario.raises("weather", "no such place")
    scenario.returns("note", None)
    scenario.plays(calls(call), says("So be it."))

    run = implementation.run("What is the weather?")

    run.delivered(1)
    if run.ended and len(run.requests) == 1:
        raise NotApplicable(f"the loop does not ask again: it {run.outcome}")
    offered = {tool.name for tool in run.request(2).request.tools}
    missing = [tool.name for tool in agent("assistant").tools if tool.name not in offered]
    if missing == [call.tool] and call.tool != "note":
        raise NotApplicable(f"the loop no longer offers {call.tool}, the one tool that has failed")
    assert not missing, (
        f"after the call of {call.tool}, which has brought nothing, request 2 no longer offers {', '.join(missing)}"
    )


@requirement("tools-are-offered-every-time")
def test_names_with_hyphens_are_offered(scenario: Scenario, implementation: Implementation) -> None:
    """Tools whose names have hyphens and capitals are all offered, under names that say which is which."""
    scenario.plays(says("Hello."))

    run = implementation.run(agent="hyphens")

    names = [tool.name for tool in agent("hyphens").tools]
    takes_names(run, names, lambda usual: implementation.run(tools=[*map(weather, usual)]))
    offered = {tool.name for tool in run.request(1).request.tools}
    missing = [name for name in names if name not in offered]
    assert not missing, f"the request does not offer {', '.join(missing)}; it offers {', '.join(sorted(offered))}"


LONG = """Looks up what a station has measured.

It knows the stations of the last hundred years by the names that people gave them.
    Where several have the same name, the nearest one is meant."""


@requirement("descriptions-are-offered-whole")
def test_descriptions_of_several_lines(scenario: Scenario, implementation: Implementation) -> None:
    """A description of several lines is offered in one piece, however its blanks are written; a loop may say more."""
    scenario.plays(says("Hello."))
    city = {"type": "string", "description": "The station's name."}
    station = Tool("station", LONG, {"type": "object", "properties": {"name": city}, "required": ["name"]})

    run = implementation.run(tools=[station])

    offered = {tool.name: tool.description for tool in run.request(1).request.tools}
    assert "station" in offered, f"the request offers {plain(sorted(offered))}"
    assert offered["station"], "the request offers the tool `station` without a description"
    words = " ".join(offered["station"].split())
    assert " ".join(LONG.split()) in words, f"the description of `station` is not whole; the request has: {words}"


@requirement("missing-description-is-no-word")
def test_missing_description(scenario: Scenario, implementation: Implementation) -> None:
    """A tool has an empty description; a loop may refuse it, leave it empty, leave it out, or write one itself."""
    scenario.plays(says("Hello."))
    city = {"type": "string", "description": "The station's name."}
    schema = {"type": "object", "properties": {"name": city}, "required": ["name"]}

    weather = Tool("weather", "Tells the weather.", schema)

    run = implementation.run(tools=[Tool("station", "", schema), weather])

    if run.failed and not run.requests:
        implementation.run(tools=[Tool("station", "Tells about a station.", schema), weather]).request(1)
        raise NotApplicable("the loop takes no tool without a description")
    for tool in run.request(1).request.tools:
        if tool.name == "station":
            is_no_word(tool.description)


def _member(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "description": f"Takes a {kind}.", **more}


def _tool(name: str, required: Sequence[str], /, **members: dict[str, Any]) -> Tool:
    return Tool(name, f"Does {name}.", {"type": "object", "properties": members, "required": [*required]})


AWKWARD = _tool(
    "file",
    ("title", "type", "properties", "required", "description", "items", "enum"),
    title=_member("string"),
    type=_member("string"),
    properties=_member("boolean"),
    required=_member("boolean"),
    description=_member("string"),
    items=_member("integer"),
    enum=_member("number"),
)
"""A tool whose parameters have the names of JSON Schema keywords."""
SOME = _tool(
    "choose",
    ("who",),
    who=_member("string"),
    speed=_member("string", enum=["slow", "usual", "fast"]),
    count=_member("integer"),
    where={
        "type": "object",
        "description": "The place.",
        "properties": {"city": _member("string"), "floor": _member("integer")},
        "required": ["city"],
    },
)
"""A tool with required and optional parameters, at the top level and below it."""
SCHEMAS = {"nested": agent("clerk").tools, "awkward-names": [AWKWARD], "some-required": [SOME]}


def _own(tools: Sequence[Tool], offered: Mapping[str, Offered]) -> frozenset[str]:
    """The parameters that the loop adds to all tools alike."""
    return own_members(
        [tool.parameters for tool in tools], [offered[tool.name].parameters for tool in tools if tool.name in offered]
    )


def _offers(
    scenario: Scenario, implementation: Implementation, tools: Sequence[Tool]
) -> Iterator[tuple[Tool, Offered]]:
    """Each of these tools in the form that the first request offers, without the loop's own parameters."""
    scenario.plays(says("Hello."))
    run = implementation.run(tools=tools)
    offered = {tool.name: tool for tool in run.request(1).request.tools}
    own = _own(tools, offered)
    for tool in tools:
        takes_functions_alone(implementation, tool, offered)
        assert tool.name in offered, f"the request offers {plain(sorted(offered))}"
        yield tool, replace(offered[tool.name], parameters=without(offered[tool.name].parameters, own))


@requirement("offered-schema-is-the-declared-one")
@pytest.mark.parametrize("tools", SCHEMAS.values(), ids=SCHEMAS)
def test_schemas_are_offered(scenario: Scenario, implementation: Implementation, tools: Sequence[Tool]) -> None:
    """Types, required members, enums, nested members and array items are those that the tools declare."""
    for tool, offered in _offers(scenario, implementation, tools):
        found = differences(tool.parameters, offered.parameters, strict=offered.strict)
        assert not found, f"{tool.name}: {found[0]}"


@requirement("parameter-descriptions-are-offered")
@pytest.mark.parametrize("tools", SCHEMAS.values(), ids=SCHEMAS)
def test_descriptions_are_offered(scenario: Scenario, implementation: Implementation, tools: Sequence[Tool]) -> None:
    """Each parameter is offered with its description, or the tool with one that has it, as docstrings do."""
    for tool, offered in _offers(scenario, implementation, tools):
        found = described_otherwise(tool.parameters, offered.parameters, offered.description)
        assert not found, f"{tool.name}{found[0]}"


@requirement("open-schemas-are-offered")
def test_open_schemas_are_offered(scenario: Scenario, implementation: Implementation) -> None:
    """An object that accepts any members stays open, and a tool without declared members is offered."""
    for tool, offered in _offers(scenario, implementation, agent("archive").tools):
        found = differences(tool.parameters, offered.parameters, strict=offered.strict)
        assert not found, f"{tool.name}: {found[0]}"


def _names(parameters: object) -> set[str]:
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    return set(properties or {})
