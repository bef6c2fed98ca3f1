"""The shape of a request: which rule each fault in it breaks, and what of a faulty body the other rules can read."""

from __future__ import annotations

from typing import Any

from looptck.wires import shape
from looptck.wires.openai_responses.judge_words import said
from looptck.wires.problem import Problem
from looptck.wires.shape import Fault, Path

RULES = {
    "body-is-an-object": "The body is a JSON object.",
    "model-is-named": "The request names a model.",
    "input-is-text-or-items": "The request has an input, which is a string or a list of items.",
    "parameters-are-known": "The request has no member that the service does not know, where the service is closed.",
    "items-are-of-known-kinds": "Every input item has a type that the service knows, or none, as messages may.",
    "item-ids-fit-their-kind": "The id of an item begins as the ids of its type do.",
    "roles-are-known": "Every message has one of the roles assistant, system, developer and user.",
    "content-is-text-or-parts": "A message's content is a string or a list of whole parts that its role may have.",
    "calls-are-whole": "A call has a call_id, a name, and arguments or an input.",
    "arguments-are-text": "A call's arguments are a string.",
    "outputs-are-whole": "The output of a call has a call_id, and is a string or a list of parts.",
    "thoughts-are-whole": "A reasoning item has a list as its summary, with whole parts.",
    "names-are-legal": "The name of a tool, call or output schema is 1 to 64 letters, digits, underscores and hyphens.",
    "tools-are-whole": (
        "A tool has a type, and beside it a name if it is the caller's own, and a list of tools if it is a namespace."
    ),
    "choice-is-known": "A tool choice is none, auto, required, or an object that names a tool.",
    "values-fit": "Every other member is there where it must be, has its type, and keeps within its bounds.",
}

_SCHEMA = "openai-responses.request.json"

_RULES = shape.Rules(
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

_LEANS_ON = {"tool_choice": "tools", "text": "input"}
"""Options that cannot be judged once the other has a fault."""


def problems(body: dict[str, Any]) -> list[Problem]:
    """The faults in the body's shape, one for each place, in the order in which the service reports."""
    faults = shape.faults(_SCHEMA, body)
    return [_problem(body, path, faults[path]) for path in sorted(faults, key=lambda path: _turn(path, faults[path]))]


def sound_part(body: dict[str, Any], found: list[Problem]) -> dict[str, Any]:
    """What the other rules can read of a body with these faults in its shape; each item keeps its place."""
    faulty = {problem.pointer.split("/")[1] for problem in found}
    sound = {name: value for name, value in body.items() if name not in faulty and _LEANS_ON.get(name) not in faulty}
    if "input" in faulty:
        items = body.get("input")
        sound["input"] = [_sound(item) for item in items] if isinstance(items, list) else [{}]
    return sound


def _turn(path: Path, fault: Fault) -> tuple[int, int, Path]:
    """When the service reports a fault: what is missing, then what is unknown, then field by field."""
    if len(path) == 1 and fault.keyword == "required":
        return 0, shape.fields(_SCHEMA).index(str(path[0])), path
    if len(path) == 1 and fault.keyword == "unknown":
        return 1, 0, path
    told_of_the_item = path[0] == "input" and path[2:] in {("type",), ("role",)}
    return 2, shape.fields(_SCHEMA).index(str(path[0])), path[1:2] if told_of_the_item else path[1:]


def _problem(body: dict[str, Any], path: Path, fault: Fault) -> Problem:
    place, message, code = said(body, path, fault)
    return Problem(_rule(body, path, fault), shape.pointer(place), message, code=code)


def _rule(body: dict[str, Any], path: Path, fault: Fault) -> str:
    if fault.keyword == "unknown":
        return "parameters-are-known"
    nameless = fault.keyword == "required" and path[-1] in {"id", "name"}
    rule = _RULES.of(path[:-1] if nameless else path)
    if rule == _RULES.otherwise and path[0] == "input" and len(path) > 2:
        return _RULE_FOR.get(body["input"][path[1]].get("type"), rule)
    return rule


def _sound(item: object) -> dict[str, str]:
    """What the rules on the history need of an item, of the type that they expect."""
    members = item.items() if isinstance(item, dict) else ()
    return {name: str(value) for name, value in members if name in _READ and value is not None}
