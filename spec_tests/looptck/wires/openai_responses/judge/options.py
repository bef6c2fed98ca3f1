"""The rules on options that contradict each other, and on the schemas that a request carries.

Of a strict schema the top may say nothing of additional properties: two requests of that form are in the corpus with
status 200. They are hand-made, so that it is a favour; the guide and the refusals that users quote know no exception.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from looptck.values.problem import Problem
from looptck.wires import openai_schemas

RULES = {
    "choice-needs-tools": "A tool choice of required comes only with tools.",
    "forced-tool-is-offered": "A tool choice that names a tool names one of the tools.",
    "parameters-describe-an-object": (
        "A function's parameters are a JSON Schema of type object with properties, no union, and arrays with items."
    ),
    "strict-schemas-are-closed": (
        "A strict schema forbids additional properties, requires every property and keeps to the keywords of its "
        "subset, at every depth."
    ),
    "json-mode-mentions-json": "A request for a JSON object contains the word JSON in its input.",
}

_GATHERED = frozenset({"namespace", "tool_search", "mcp"})
"""Tools that provide further tools."""


def problems(body: dict[str, Any]) -> list[Problem]:
    """The contradictions between options."""
    found: list[Problem] = []
    tools = body.get("tools") or ()
    for pointer, tool in own_tools(tools):
        if tool["type"] == "function" and (parameters := tool.get("parameters")):
            found += _parameters(tool, parameters, f"{pointer}/parameters")
    choice = body.get("tool_choice")
    if choice is not None and choice != "auto":
        found += _choice(choice, tools)
    if body.get("text"):
        found += _format(body, body["text"].get("format") or {})
    return found


def own_tools(tools: Sequence[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tools of a request, each with its pointer; a namespace is replaced by its tools."""
    for place, tool in enumerate(tools):
        if tool["type"] == "namespace":
            yield from ((f"/tools/{place}/tools/{number}", inner) for number, inner in enumerate(tool["tools"]))
        else:
            yield f"/tools/{place}", tool


def _parameters(function: dict[str, Any], parameters: dict[str, Any], pointer: str) -> list[Problem]:
    rule, fault = "parameters-describe-an-object", openai_schemas.of_function(parameters)
    if not fault and function.get("strict"):
        rule, fault = "strict-schemas-are-closed", openai_schemas.strict(parameters, open_top=True)
    if not fault:
        return []
    message = f"Invalid schema for function '{function['name']}': {fault}"
    return [Problem(rule, pointer, message, code="invalid_function_parameters")]


def _choice(choice: Any, tools: Any) -> list[Problem]:
    if choice == "required" and not tools:
        message = "Tool choice 'required' must be specified with 'tools' parameter."
        return [Problem("choice-needs-tools", "/tool_choice", message)]
    if not isinstance(choice, dict) or choice["type"] not in {"function", "custom"}:
        return []
    if any(tool["type"] in _GATHERED or tool.get("name") == choice["name"] for tool in tools):
        return []
    message = f"Tool choice '{choice['name']}' not found in 'tools' parameter."
    return [Problem("forced-tool-is-offered", "/tool_choice/name", message)]


def _format(body: dict[str, Any], wanted: dict[str, Any]) -> list[Problem]:
    kind = wanted.get("type")
    alone = not any(body.get(name) for name in ("previous_response_id", "prompt", "conversation"))
    if kind == "json_object" and alone and "json" not in str(body.get("input")).lower():
        message = (
            "Response input messages must contain the word 'json' in some form to use 'text.format' of type "
            "'json_object'."
        )
        return [Problem("json-mode-mentions-json", "/input", message)]
    if kind == "json_schema" and wanted.get("strict"):
        fault = openai_schemas.strict_output(wanted["schema"], open_top=True)
        if not fault:
            return []
        message = f"Invalid schema for response_format '{wanted['name']}': {fault}"
        return [Problem("strict-schemas-are-closed", "/text/format/schema", message, code="invalid_json_schema")]
    return []
