"""The JSON Schema of a request: which rule each of its errors breaks, and in which order the service reports them."""

from __future__ import annotations

from typing import Any

from looptck.values.problem import Problem
from looptck.wires import schema_rules
from looptck.wires.openai_responses.judge.schema_words import message_for
from looptck.wires.schema_judge import SchemaJudge
from looptck.wires.schema_rules import Fault, Path

RULES = {
    "body-is-an-object": "The body is a JSON object.",
    "model-is-named": "The request names a model.",
    "input-is-text-or-items": "The request has an input, which is a string or a list of items.",
    "parameters-are-known": "The request has no unknown member where the service refuses unknown members.",
    "items-are-of-known-kinds": "Every input item has a type that the service knows, or none, as messages may.",
    "item-ids-fit-their-kind": "The id of an item begins with the prefix of its type.",
    "roles-are-known": "Every message has one of the roles assistant, system, developer and user.",
    "content-is-text-or-parts": "A message's content is a string or a list of complete parts that its role may have.",
    "calls-are-whole": "A call has a call_id, a name, and arguments or an input.",
    "arguments-are-text": "A call's arguments are a string.",
    "outputs-are-whole": "The output of a call has a call_id, and is a string or a list of parts.",
    "thoughts-are-whole": "A reasoning item has a list of complete parts as its summary.",
    "names-are-legal": "The name of a tool, call or output schema is 1 to 64 letters, digits, underscores and hyphens.",
    "tools-are-whole": (
        "A tool has a type; a tool of the caller's own also has a name, and a namespace a list of tools."
    ),
    "choice-is-known": "A tool choice is none, auto, required, or an object that names a tool.",
    "values-fit": "Every other member is present if required, has the right type, and is within its bounds.",
}

_SCHEMA = "openai-responses.request.json"

_RULE_AT = schema_rules.Rules(
    at={"input": "input-is-text-or-items"},
    below={
        "model": "model-is-named",
        "input/*/type": "items-are-of-known-kinds",
        "input/*/role": "roles-are-known",
        "input/*/id": "item-ids-fit-their-kind",
        "input/*/content": "content-is-text-or-parts",
        "input/*/arguments": "arguments-are-text",
        "input/*/input": "arguments-are-text",
        "input/*/name": "names-are-legal",
        "input/*/output": "outputs-are-whole",
        "tools/*/name": "names-are-legal",
        "tools/*/tools/*/name": "names-are-legal",
        "tools/*": "tools-are-whole",
        "tool_choice": "choice-is-known",
        "text/format/name": "names-are-legal",
    },
)

_RULE_FOR = {
    "function_call": "calls-are-whole",
    "custom_tool_call": "calls-are-whole",
    "function_call_output": "outputs-are-whole",
    "custom_tool_call_output": "outputs-are-whole",
    "reasoning": "thoughts-are-whole",
}
"""By the type of an item: the rule that its other members break."""

_READ = frozenset({"type", "role", "id", "call_id", "encrypted_content", "execution"})
"""What the rules on the history read of an item."""


def _report_order(path: Path, fault: Fault) -> tuple[int, int, Path]:
    """The sort key of a fault: missing top-level members, then unknown ones, then the others, member by member."""
    fields = schema_rules.fields(_SCHEMA)
    if len(path) == 1 and fault.keyword == "required":
        return 0, fields.index(str(path[0])), path
    if len(path) == 1 and fault.keyword == "unknown":
        return 1, 0, path
    placed_at_the_item = path[0] == "input" and path[2:] in {("type",), ("role",)}
    return 2, fields.index(str(path[0])), path[1:2] if placed_at_the_item else path[1:]


def _problem(body: dict[str, Any], path: Path, fault: Fault) -> Problem:
    place, message, code = message_for(body, path, fault)
    return Problem(_rule(body, path, fault), schema_rules.pointer(place), message, code=code)


def _rule(body: dict[str, Any], path: Path, fault: Fault) -> str:
    if fault.keyword == "unknown":
        return "parameters-are-known"
    nameless = fault.keyword == "required" and path[-1] in {"id", "name"}
    rule = _RULE_AT.of(path[:-1] if nameless else path)
    if rule == _RULE_AT.otherwise and path[0] == "input" and len(path) > 2:
        return _RULE_FOR.get(body["input"][path[1]].get("type"), rule)
    return rule


def _valid_item(item: object) -> dict[str, Any]:
    """The valid subset of an item, for the rules on the history."""
    members = item.items() if isinstance(item, dict) else ()
    return {name: str(value) for name, value in members if name in _READ and value is not None}


SCHEMA_JUDGE = SchemaJudge(
    schema=_SCHEMA,
    unreadable="We could not parse the JSON body of your request.",
    problem=_problem,
    report_order=_report_order,
    history="input",
    valid_entry=_valid_item,
    depends_on={"tool_choice": frozenset({"tools"}), "text": frozenset({"input"})},
    least={"model": "m"},
)
