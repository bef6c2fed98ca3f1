"""`looptck.signatures`: the functions that drivers hand to frameworks, and what they pass on to the kit."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError, validate_call

from looptck import signatures

Json = dict[str, Any]
PLACE = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}, "required": ["x"]}


def _tool(properties: Json, required: list[str] | None = None, **more: Any) -> Json:
    schema = {"type": "object", "properties": properties, "required": list(required or []), **more}
    return {"name": "probe", "description": "Tries things.", "parameters": schema, "url": "http://127.0.0.1:9/"}


def _written(tool: Json) -> Callable[..., Any]:
    """The function of a tool, which returns what is passed on, with arguments checked as the frameworks do it."""
    function = signatures.written(tool, lambda **arguments: arguments)

    assert function is not None
    return validate_call(function)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "array", "items": {"type": "string"}},
        {"type": "object", "additionalProperties": True},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"enum": ["c", "f"], "type": "string"},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {},
    ],
)
def test_a_signature_says_the_schema(schema: Json) -> None:
    """What a framework makes of the function is the schema that it was made from."""
    function = _written(_tool({"value": schema}, ["value"]))
    checked: Any = function
    made = TypeAdapter(checked).json_schema()
    value = {key: one for key, one in made["properties"]["value"].items() if key != "title"}

    assert (schema, ["value"]) == (value, made["required"])


def test_a_function_is_documented() -> None:
    """Name and docstring are those that a user writes for the tool."""
    function = _written(_tool({"city": {"type": "string", "description": "Where."}}, ["city"]))

    assert "probe" == function.__name__
    assert "Tries things.\n\nArgs:\n    city: Where." == function.__doc__


def test_descriptions_may_be_annotations() -> None:
    """Frameworks that read descriptions of parameters in annotations find them there, and not in the docstring."""
    tool = _tool({"city": {"type": "string", "description": "Where."}, "days": {"type": "integer"}}, ["city"])
    function = signatures.written(tool, lambda **arguments: arguments, annotated=True)

    assert function is not None
    assert "Tries things." == function.__doc__
    assert ("Where.",) == inspect.signature(function).parameters["city"].annotation.__metadata__
    assert Annotated[str, "Where."] == function.__annotations__["city"]
    assert int | None == function.__annotations__["days"]


def test_each_class_has_its_own_name() -> None:
    """A framework that files classes under their names takes none of a signature for another one."""
    shapes = {"anyOf": [PLACE, {"type": "object", "properties": {"r": {"type": "integer"}}, "required": ["r"]}]}
    annotation = inspect.signature(_written(_tool({"shape": shapes}, ["shape"]))).parameters["shape"].annotation

    assert ["Shape", "Shape2"] == [one.__name__ for one in annotation.__args__]


def test_a_framework_may_read_no_models() -> None:
    """Then a tool with an object that has members is offered by its schema, and all others as functions."""

    def is_written(schema: Json) -> bool:
        tool = _tool({"value": schema})
        return signatures.written(tool, lambda **arguments: arguments, models=False) is not None

    assert not is_written(PLACE)
    assert is_written({"type": "object", "additionalProperties": True})


@pytest.mark.parametrize(
    ("properties", "arguments"),
    [
        ({"city": {"type": "string"}}, {"city": "Paris"}),
        ({"place": PLACE}, {"place": {"x": 1}}),
        ({"places": {"type": "array", "items": PLACE}}, {"places": [{"x": 1, "y": 2}, {"x": 3}]}),
        ({"any": {}}, {"any": {"a": [None, {"b": 1}]}}),
    ],
)
def test_arguments_are_passed_on(properties: Json, arguments: Json) -> None:
    """The kit gets what the model wrote, whatever the framework made of it in between."""
    function = _written(_tool(properties, list(properties)))

    assert arguments == function(**arguments)
    assert arguments == function(*arguments.values())


def test_what_was_not_given_is_not_passed_on() -> None:
    """An optional parameter that the model left out does not reach the kit; a required null does."""
    nothing = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    function = _written(_tool({"days": {"type": "integer"}, "note": nothing}, ["note"]))

    assert {"note": None} == function(note=None)
    assert {"note": "x", "days": 2} == function(note="x", days=2)


@pytest.mark.parametrize("arguments", [{}, {"city": 1}, {"city": "Paris", "days": 2}])
def test_arguments_are_checked(arguments: Json) -> None:
    """What does not fit the schema does not get through."""
    with pytest.raises(ValidationError):
        _written(_tool({"city": {"type": "string"}}, ["city"]))(**arguments)


@pytest.mark.parametrize(
    "tool",
    [
        _tool({"class": {"type": "string"}}),
        _tool({"_private": {"type": "string"}}),
        _tool({"a-b": {"type": "string"}}),
        _tool({"tree": {"$ref": "#/$defs/tree"}}),
        _tool({"short": {"type": "string", "maxLength": 3}}),
        _tool({}, additionalProperties=True),
        _tool({"x": {"type": "object", "properties": {}, "additionalProperties": False}}),
    ],
    ids=lambda tool: str(tool["parameters"]),
)
def test_what_no_signature_says_has_none(tool: Json) -> None:
    """A schema that a function cannot have is left to the framework's own way to take one."""
    assert None is signatures.written(tool, lambda **_: None)


def test_a_coroutine_function_stays_one() -> None:
    """An async handler becomes a coroutine function, which frameworks await."""

    async def call(**arguments: Any) -> Json:
        return arguments

    function = signatures.written(_tool({"city": {"type": "string"}}, ["city"]), call)

    assert function is not None
    assert inspect.iscoroutinefunction(function)
    assert {"city": "Paris"} == asyncio.run(function("Paris"))
