"""Structural errors of a Call, found before its Activity runs (Agent/Loop, "The Self-Correction Loop")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.expressions import BadExpression, references
from looptck_reference.vocabulary.values import Json

__all__ = ["Structure"]

_ABOUT_NAMES = ("required", "additionalProperties")
"""The keywords of an object's schema that restrict its properties as a set, not their values."""


class Structure:
    """Validates calls against the schemas of the tools' parameters; each validator is made once.

    Keys with an underscore are removed from the schemas, because they are no parameters.

    Raises:
        ValueError: a schema is invalid.
    """

    def __init__(self, tools: Mapping[str, Mapping[str, Any]]) -> None:
        self._validators = {name: jsonschema_rs.validator_for(_of_parameters(tools[name])) for name in tools}

    def of_call(self, call: Call) -> str | None:
        """The error of a call as the model wrote it, None if it has none.

        Parameters with references can be validated only after resolution; all others are validated now.
        """
        if call.tool not in self._validators:
            known = ", ".join(sorted(self._validators)) or "none"
            return f"there is no tool {call.tool!r}; the tools are: {known}"
        unreadable, open_names = [], set()
        for name, value in call.parameters.items():
            try:
                if list(references(value)):
                    open_names.add(name)
            except BadExpression as error:
                unreadable.append(f"{_pointer([name])}: {error}")
                open_names.add(name)
        return _worded(call, unreadable + self._complaints(call.tool, call.parameters, open_names))

    def of_arguments(self, call: Call, arguments: Json) -> str | None:
        """The error in the resolved arguments of a call of a known tool, None if there is none."""
        return _worded(call, self._complaints(call.tool, arguments, set()))

    def _complaints(self, tool: str, arguments: Json, open_names: set[str]) -> list[str]:
        try:
            errors = list(self._validators[tool].iter_errors(arguments))
        except ValueError as error:  # half a surrogate pair, or bottomless nesting
            return [f"the parameters cannot be judged: {error}"]
        return [f"{_pointer(error.instance_path)}: {error.message}" for error in errors if _certain(error, open_names)]


def _certain(error: jsonschema_rs.ValidationError, open_names: set[str]) -> bool:
    """Whether an error remains whatever values the parameters with these names get."""
    match error.evaluation_path if open_names else []:
        case []:
            return True
        case ["properties", name, *_]:
            return name not in open_names
        case [keyword]:
            return keyword in _ABOUT_NAMES
        case _:
            return False


def _of_parameters(schema: Mapping[str, Any]) -> Json:
    own = dict(schema)
    if isinstance(own.get("properties"), dict):
        own["properties"] = {name: one for name, one in own["properties"].items() if not name.startswith("_")}
    if isinstance(own.get("required"), list):
        own["required"] = [name for name in own["required"] if not name.startswith("_")]
    return own


def _pointer(place: list[str | int]) -> str:
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in place)
    return "".join(f"/{part}" for part in escaped) or "the parameters"


def _worded(call: Call, complaints: list[str]) -> str | None:
    return f"tool {call.tool!r}: {'; '.join(complaints)}" if complaints else None
