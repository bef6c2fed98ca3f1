"""A Call: a request of the model, parsed from the object that it wrote.

Agent/Tool, Agent/Call and Agent/Output: keys that begin with an underscore belong to the call, all others are the
tool's parameters. Unknown keys of the call (`_scopes`, `_reasoningForCall` …) are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from looptck_reference.agent_loop_010.expressions import BadExpression, targets
from looptck_reference.vocabulary.values import Json

__all__ = ["METHODS", "BadCall", "Call", "Method"]

Method = Literal["set", "merge", "assign", "push", "concat"]
METHODS: tuple[Method, ...] = get_args(Method)
"""The ways to combine a result with the existing value of its path (Agent/Output)."""


class BadCall(Exception):
    """The model wrote an invalid Call; the message names the key that is wrong."""


@dataclass(frozen=True, slots=True)
class Call:
    """One Call of a Solution, with `raw`, the object as the model wrote it.

    `output_path` is an expression that can be read. `activity` is None if the tool's own name decides, and empty if the
    call is latent. If `has_output`, `output` is the result that the model wrote itself; null is a result.
    """

    raw: Json
    tool: str
    parameters: Json
    output_path: str | None = None
    method: Method = "set"
    activity: str | None = None
    instance: str | None = None
    has_output: bool = False
    output: Any = None

    @classmethod
    def read(cls, raw: Any) -> Call:
        """From JSON; a key of the call's own that is null counts as absent, but for `_output`.

        Raises:
            BadCall: it is no object, it names no tool, or a key of its own has a wrong type, method or path.
        """
        if not isinstance(raw, dict):
            raise BadCall("a call is a JSON object")
        tool = _text(raw, "_tool")
        if not tool:
            raise BadCall("_tool has to name a tool")
        return cls(
            raw=raw,
            tool=tool,
            parameters=_parameters(raw),
            output_path=_output_path(raw),
            method=_method(raw),
            activity=_text(raw, "_activity"),
            instance=_text(raw, "_instance"),
            has_output="_output" in raw,
            output=raw.get("_output"),
        )

    def changed(self, parameters: Mapping[str, Any]) -> Call:
        """The same call with these parameters in place of its own; keys with an underscore are ignored."""
        new = _parameters(parameters)
        return replace(self, raw={**self.raw, **new}, parameters={**self.parameters, **new})


def _parameters(raw: Mapping[str, Any]) -> Json:
    return {name: value for name, value in raw.items() if not name.startswith("_")}


def _text(raw: Json, key: str) -> str | None:
    value = raw.get(key)
    if value is None or isinstance(value, str):
        return value
    raise BadCall(f"{key} has to be a string")


def _output_path(raw: Json) -> str | None:
    path = _text(raw, "_outputPath")
    if path is None:
        return None
    try:
        targets(path)
    except BadExpression as error:
        raise BadCall(f"_outputPath: {error}") from error
    return path


def _method(raw: Json) -> Method:
    method = _text(raw, "_outputMethod")
    if method is None:
        return "set"
    if method not in METHODS:
        raise BadCall(f"_outputMethod is {method!r}, not one of {', '.join(METHODS)}")
    return method
