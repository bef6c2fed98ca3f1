"""What is found wrong with a call before its Activity runs."""

from __future__ import annotations

from typing import Any

import pytest

from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.structure import Structure

WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"$ref": "#/$defs/few"},
        "where": {"type": "object", "properties": {"a/b": {"type": "array", "items": {"type": "integer"}}}},
        "_outputPath": {"const": "†state.weather"},
    },
    "required": ["city", "_outputPath"],
    "additionalProperties": False,
    "$defs": {"few": {"type": "integer", "maximum": 7}},
}
EITHER = {
    "properties": {"kind": {"type": "string"}, "size": {}},
    "if": {"properties": {"kind": {"const": "big"}}},
    "then": {"properties": {"size": {"type": "integer"}}},
    "else": {"required": ["size"], "properties": {"size": {"type": "string"}}},
}
STRUCTURE = Structure({"weather": WEATHER, "either": EITHER, "anything": {}})


def complaint(tool: str, **parameters: Any) -> str | None:
    """What is wrong with a call."""
    return STRUCTURE.of_call(Call.read({"_tool": tool, **parameters}))


@pytest.mark.parametrize(
    "parameters",
    [
        {"city": "Paris"},
        {"city": "Paris", "days": 7, "where": {"a/b": [1]}},
        {"city": "†state.city", "days": "†input.days || †state.days"},
        {"city": "†state.city", "where": {"a/b": ["†state.one"]}},
        {"city": "Paris", "_outputPath": "†state.elsewhere", "_output": 1},
    ],
)
def test_a_call_may_be_right(parameters: dict[str, Any]) -> None:
    """What holds a reference is judged later, what is the call's own not at all."""
    assert complaint("weather", **parameters) is None


@pytest.mark.parametrize(
    ("parameters", "places"),
    [
        ({}, ["the parameters: ", '"city"']),
        ({"city": 3}, ["/city: "]),
        ({"city": "Paris", "days": 8}, ["/days: "]),
        ({"city": "†state.city", "days": 8}, ["/days: "]),
        ({"city": "Paris", "where": {"a/b": [1, "x"]}}, ["/where/a~1b/1: "]),
        ({"city": "Paris", "unit": "C"}, ["the parameters: ", "'unit'"]),
        ({"unit": "†state.unit"}, ["the parameters: ", "'unit'", '"city"']),
        ({"city": "†", "days": "†state.days"}, ["/city: ", "'†'"]),
        ({"days": "†state.days", "city": ["†state.a", {"deep": "†state..a"}]}, ["/city: ", "'†state..a'"]),
        ({"city": "†state.a && †state.b || †state.c", "days": 8}, ["/city: ", "/days: "]),
    ],
)
def test_a_wrong_call_is_told_where(parameters: dict[str, Any], places: list[str]) -> None:
    """The tool, the place and the parameter stand in the reason."""
    reason = complaint("weather", **parameters)

    assert reason is not None
    assert reason.startswith("tool 'weather': ")
    assert [] == [place for place in places if place not in reason]


def test_an_unknown_tool_is_told_the_known_ones() -> None:
    """So that the model can choose one."""
    assert "there is no tool 'wether'; the tools are: anything, either, weather" == complaint("wether", city="Paris")
    assert "there is no tool 't'; the tools are: none" == Structure({}).of_call(Call.read({"_tool": "t"}))


def test_what_may_hang_on_a_reference_is_not_judged_early() -> None:
    """A condition on a parameter that is not known yet may come out either way."""
    assert complaint("either", kind="†state.kind", size=1) is None
    assert complaint("either", kind="†state.kind") is None
    assert complaint("either", kind="small", size=1) is not None
    assert complaint("either", kind="small") is not None


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({"city": "Paris", "days": 3}, None),
        ({"city": "†state.city"}, None),
        ({"city": None}, "/city: "),
        ({"city": "Paris", "days": "3"}, "/days: "),
        ({"days": 3}, "the parameters: "),
    ],
)
def test_resolved_arguments_are_judged_whole(arguments: dict[str, Any], place: str | None) -> None:
    """A value that a reference stood for may be of another type; a dagger in it means nothing any more."""
    call = Call.read({"_tool": "weather", "city": "†state.city", "days": "†state.days"})

    reason = STRUCTURE.of_arguments(call, arguments)

    assert (place is None) == (reason is None)
    assert (place or "") in (reason or "")


def test_what_cannot_be_judged_is_a_complaint() -> None:
    """Half a surrogate pair as a key, and arrays without a bottom, are faults of the call and not of the run."""
    deep: list[Any] = []
    for _ in range(400):
        deep = [deep]

    assert "cannot be judged" in (complaint("weather", **{"\ud800": 1}) or "")
    assert "cannot be judged" in (complaint("weather", city=deep) or "")


def test_a_tool_without_a_schema_takes_anything() -> None:
    """And still no unreadable expression."""
    assert complaint("anything", x=1, y="†state.y") is None
    assert "/x: " in (complaint("anything", x="†") or "")
