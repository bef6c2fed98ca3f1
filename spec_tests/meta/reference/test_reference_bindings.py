"""Bindings: whatever the model writes and whatever the inputs are, a bound parameter is the input's."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from looptck_reference import OPENAI_CHAT, PROMPTY_SPEC, Agent, Ask, Loop, Run, Tool, ToolCall, Turn
from looptck_reference.vocabulary.actions import Returned, RunTools
from looptck_reference.vocabulary.tools import closed
from meta.kit.steady import STEADY

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=5)


@st.composite
def bound(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """Arguments, inputs and bindings that meet here and there."""
    arguments, inputs = draw(OBJECTS), draw(OBJECTS)
    parameters = st.sampled_from(sorted(arguments)) | NAMES if arguments else NAMES
    sources = st.sampled_from(sorted(inputs)) | NAMES if inputs else NAMES
    return arguments, inputs, draw(st.dictionaries(parameters, sources, max_size=4))


def running(arguments: str, inputs: dict[str, Any], bindings: dict[str, str]) -> tuple[Loop, Run]:
    """A loop whose model has called a tool, and the run of the tool."""
    tool = Tool("look", bindings=bindings, handler=lambda **_: "done")
    loop = Loop(Agent("m", [], [tool], inputs), wire=OPENAI_CHAT, dialect=PROMPTY_SPEC)
    loop.start()
    action = loop.model_answered(Turn(calls=(ToolCall("c1", "look", arguments),)))
    assert isinstance(action, RunTools)
    (run,) = action.runs
    return loop, run


@STEADY
@given(bound())
def test_bound_parameters_are_the_inputs(case: tuple[dict[str, Any], dict[str, Any], dict[str, str]]) -> None:
    """A bound parameter has its input's value where there is one; everything else is the model's, to the last key."""
    arguments, inputs, bindings = case

    _, run = running(json.dumps(arguments), inputs, bindings)

    effective = {name: inputs[source] for name, source in bindings.items() if source in inputs}
    assert {**arguments, **effective} == dict(run.arguments)


@STEADY
@given(bound())
def test_the_model_reads_its_own_arguments(case: tuple[dict[str, Any], dict[str, Any], dict[str, str]]) -> None:
    """What goes back is the text that the model wrote, to the letter."""
    arguments, inputs, bindings = case
    written = json.dumps(arguments, indent=3)

    loop, _ = running(written, inputs, bindings)
    asked = loop.tools_ended([Returned("done")])

    assert isinstance(asked, Ask)
    assert [written] == [call["function"]["arguments"] for call in asked.history[0]["tool_calls"]]


@STEADY
@given(OBJECTS, st.dictionaries(NAMES, NAMES, max_size=4), st.booleans())
def test_what_is_bound_is_not_offered(properties: dict[str, Any], bindings: dict[str, str], strict: bool) -> None:
    """The schema that the model sees has every parameter but the bound ones, strict or not."""
    schema = {"type": "object", "properties": {name: {} for name in properties}, "required": sorted(properties)}

    offered = Tool("look", parameters=schema, bindings=bindings, strict=strict).offered

    free = [name for name in properties if name not in bindings]
    assert (free, sorted(free)) == (list(offered["properties"]), sorted(offered["required"]))
    assert "object" == offered["type"]
    assert strict is (offered.get("additionalProperties") is False)


def test_strict_goes_all_the_way_down() -> None:
    """Objects in objects and in lists are closed too; what says nothing of properties is left as it is."""
    inner = {"type": "object", "properties": {"properties": {"type": "string"}}}
    schema = {"type": "object", "properties": {"one": inner, "many": {"type": "array", "items": inner}, "any": {}}}

    shut = {**inner, "required": ["properties"], "additionalProperties": False}
    assert {
        "type": "object",
        "properties": {"one": shut, "many": {"type": "array", "items": shut}, "any": {}},
        "required": ["one", "many", "any"],
        "additionalProperties": False,
    } == closed(schema)
