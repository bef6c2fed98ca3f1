"""Loops that are correct but have their own ways with arguments and results: validated, encoded anew, wrapped."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jsonschema import Draft202012Validator

from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import End, Fail, Run
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult, Turn


class Validating(Driver):
    """Validates arguments against the offered schema, and answers an invalid call with an error.

    Unknown members are an error too, as with a strict model of the arguments.
    """

    class loop(Loop):  # noqa: N801  the driver's attribute
        """Validates before it runs a call."""

        def prepare(self, call: ToolCall) -> Run | ToolResult | Fail:
            step = super().prepare(call)
            if not isinstance(step, Run) or call.name not in self.tools:
                return step
            tool = self.tools[call.name]
            arguments = self.parse_arguments(call.arguments)
            wrong = _wrong(tool, {name: value for name, value in arguments.items() if name not in tool.bindings})
            return (
                step if wrong is None else ToolResult(self.answer_id(call), call.name, f"Error: {wrong}", failed=True)
            )


def _wrong(tool: Tool, arguments: Json) -> str | None:
    errors = Draft202012Validator(_strict(tool.offered)).iter_errors(arguments)
    return next((error.message for error in errors), None)


def _strict(schema: Mapping[str, Any]) -> Json:
    shut = dict(schema)
    if "properties" in shut:
        shut["properties"] = {name: _strict(one) for name, one in shut["properties"].items()}
        shut.setdefault("additionalProperties", False)
    if "items" in shut:
        shut["items"] = _strict(shut["items"])
    return shut


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(_numbers(value), ensure_ascii=False, separators=(",", ":"))


class JavaScript(Driver):
    """Has one number type, and re-encodes all JSON: echoed turns, tool arguments and tool results."""

    dialects = {name: replace(one, result_text=_text) for name, one in Driver.dialects.items()}  # noqa: RUF012

    class loop(Loop):  # noqa: N801
        """Writes numbers as `JSON.stringify` does."""

        def parse_arguments(self, text: str) -> Json:
            parsed: Json = _numbers(super().parse_arguments(text))
            return parsed

        def append_turn(self, turn: Turn) -> None:
            before = len(self.history)
            super().append_turn(turn)
            self.history[before:] = [_anew(message) for message in self.history[before:]]


def _numbers(value: Any) -> Any:
    """The value after `JSON.parse`: every number is a double, and is written as such."""
    match value:
        case bool() | None | str():
            return value
        case int() | float():
            double = float(value)
            return int(double) if math.isfinite(double) and double.is_integer() and abs(double) < 1e21 else double
        case dict():
            return {key: _numbers(inner) for key, inner in value.items()}
        case _:
            return [_numbers(inner) for inner in value]


def _anew(value: Any) -> Any:
    match value:
        case {"type": "mcp_call"}:
            return value
        case dict():
            return {
                key: _rewritten(inner) if key == "arguments" and isinstance(inner, str) else _anew(inner)
                for key, inner in value.items()
            }
        case list():
            return [_anew(inner) for inner in value]
        case bool() | None | str():
            return value
        case _:
            return _numbers(value)


def _rewritten(arguments: Any) -> Any:
    """The text of arguments, parsed and encoded again; unchanged if it is not JSON."""
    try:
        return _text(json.loads(arguments)) if arguments.strip() else arguments
    except ValueError:
        return arguments


class Escaping(Driver):
    """Encodes structured results as ASCII JSON."""

    dialects = {  # noqa: RUF012
        name: replace(one, result_text=lambda value: value if isinstance(value, str) else json.dumps(value))
        for name, one in Driver.dialects.items()
    }


class WrapsResults(Driver):
    """Wraps what a tool returns in an object, as frameworks do whose results have to be objects."""

    class loop(Loop):  # noqa: N801
        """Wraps each text."""

        def result(self, call: ToolCall, end: End) -> ToolResult | Fail:
            made = super().result(call, end)
            if isinstance(made, Fail) or made.failed or made.text.startswith("{"):
                return made
            return replace(made, text=json.dumps({"result": made.text}))


class SaysAroundResults(Driver):
    """Says around each result where it comes from, and has words for a tool that returned nothing but blanks."""

    class loop(Loop):  # noqa: N801
        """Marks what a tool returned as nobody's instructions."""

        def result(self, call: ToolCall, end: End) -> ToolResult | Fail:
            made = super().result(call, end)
            if isinstance(made, Fail) or made.failed:
                return made
            text = (
                f'<output of="{call.name}" trust="none">\n{made.text}\n</output>'
                if made.text.strip()
                else "(no output)"
            )
            return replace(made, text=text)
