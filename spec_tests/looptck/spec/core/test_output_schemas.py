"""Schemas of outputs: the caller gives a JSON Schema of the answer, and the service or the model gets it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from looptck.bench.checks import Implementation, refusable, requirement
from looptck.bench.choices import chosen
from looptck.bench.offers import described_otherwise, differences
from looptck.bench.outputs import FORM, MEMBERS, Schema, format_of, place
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.spec import outputs
from looptck.spec.outputs import GOOD, SCHEMA, gives, run_for
from looptck.values.outcome import Failed, Value
from looptck.values.plain import plain
from looptck.values.turns import says
from looptck.values.verdicts import NotApplicable

FITS = gives(GOOD)


@requirement("output-schema-reaches-the-service")
def test_schema(scenario: Scenario, implementation: Implementation) -> None:
    """Types, enumerations, members within members and what is required are as the caller has declared them."""
    run = run_for(scenario, implementation, FITS)

    run.request(1)
    refused = _refused(run)
    assert not refused, refused
    found = outputs.places(run, outputs.wanted())
    assert found, outputs.shows_none(run)
    received, at = found[0]
    if at.schema is None:
        return
    wrong = differences(SCHEMA, at.inner, strict=True)
    assert not wrong, f"request {received.n} has the schema in {at.words}, and says something else: {wrong[0]}"


def _refused(run: Run) -> str:
    """What the service says where it refuses a request for its format; empty if it does not."""
    found = [
        f"request {one.n} {problem.refusal}: {problem.reported} ({problem.rule})"
        for one in run.requests
        for problem in one.problems
        if MEMBERS & {*problem.pointer.split("/")}
    ]
    return f"{run.cell.wire} has a format as {FORM[run.cell.wire]}; {found[0]}" if found else ""


@requirement("output-descriptions-reach-the-model")
def test_descriptions(scenario: Scenario, implementation: Implementation) -> None:
    """The description of a member is in the format, in the tool, or in words."""
    run = run_for(scenario, implementation, FITS)

    received, at = outputs.given(run, outputs.wanted())
    if at.schema is None:
        text = SCHEMA["properties"]["station_name"]["description"]
        assert text in json.dumps(received.body), f"request {received.n} does not have the description {text!r}"
        return
    wrong = described_otherwise(SCHEMA, at.inner)
    assert not wrong, f"request {received.n} has the schema in {at.words}, without a description: {wrong[0]}"


def _object(members: Mapping[str, Any], *required: str, **more: Any) -> Schema:
    return {"type": "object", "properties": members, "required": list(required), **more}


TEXT = {"type": "string"}
PLACE = _object({"city_name": TEXT}, "city_name")
TAKEN: Mapping[str, tuple[Schema, Any]] = {
    "optional": (
        _object({"city_name": TEXT, "floor_number": {"type": "integer"}}, "city_name"),
        {"city_name": "Paris"},
    ),
    "open-within": (_object({"from_place": PLACE, "to_places": {"type": "array", "items": PLACE}}, "from_place"), {
        "from_place": {"city_name": "Paris"},
        "to_places": [{"city_name": "Lyon"}],
    }),
    "definitions": (
        {**_object({"from_place": {"$ref": "#/$defs/Place"}}, "from_place"), "$defs": {"Place": PLACE}},
        {"from_place": {"city_name": "Paris"}},
    ),
    "bounds": (
        _object({"city_name": {**TEXT, "maxLength": 40}, "degrees": {"type": "number", "minimum": -90}}, "degrees"),
        {"city_name": "Paris", "degrees": 18.5},
    ),
    "nullable": (
        _object({"floor_number": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}, "floor_number"),
        {"floor_number": None},
    ),
}  # fmt: skip
"""Schemas as the generators of common libraries write them, each with a value."""


@requirement("output-schema-is-taken")
@refusable("A loop may pass the schema of its caller on as it was given, and a service may refuse that.")
@pytest.mark.parametrize(("schema", "good"), TAKEN.values(), ids=TAKEN)
def test_schema_is_taken(scenario: Scenario, implementation: Implementation, schema: Schema, good: Any) -> None:
    """The service takes the request, and the caller gets the value that the model gives."""
    asked = outputs.wanted(schema, good)

    run = run_for(scenario, implementation, gives(good), of=asked)

    if isinstance(run.outcome, Failed) and not run.requests:
        implementation.run().request(1)
        raise NotApplicable(f"the loop takes no such schema, and {run.outcome}")
    for received in run.requests:
        problems = [f"{one.refusal}: {one.reported} ({one.rule})" for one in received.problems]
        assert not problems, f"the caller's schema is {plain(schema)}, and request {received.n} {problems[0]}"
    outputs.given(run, asked)
    outputs.returns(run, good, nulls=True)


@requirement("output-leaves-tools-callable")
def test_tools_are_callable(scenario: Scenario, implementation: Implementation) -> None:
    """The first request offers the tools and lets the model call them."""
    run = run_for(scenario, implementation, FITS)

    found = chosen(run, run.request(1))
    missing = [name for name in run.offered if name not in found.callable]
    assert not missing, f"the model cannot call {missing[0]} before it gives its output: request 1 {found.words}"


@requirement("output-schema-is-of-its-run")
@pytest.mark.parametrize("goes_on", [False, True], ids=["apart", "conversation"])
def test_next_run_is_free(scenario: Scenario, implementation: Implementation, goes_on: bool) -> None:
    """A run with a schema is followed by one without, whose answer is a text."""
    if goes_on:
        implementation.needs("conversations")
    asked = outputs.play(scenario, implementation, FITS)
    talk = Talk(implementation, named=goes_on)
    outputs.given(talk.run(**outputs.options(implementation, asked)), asked)
    scenario.plays(says("It is noon."))

    run = talk.run("What time is it?")

    body, wire = run.request(1).body, run.cell.wire
    assert format_of(body, wire) is None, "a run without a schema asks for a format: that of the run before"
    at = place(body, wire, asked)
    assert at is None or at.kind != "tool", f"a run without a schema offers the tool {at and at.tool} of the run before"
    run.delivered(1)
    assert isinstance(run.outcome, Value), f"the model answered in words, and the loop {run.outcome}"
