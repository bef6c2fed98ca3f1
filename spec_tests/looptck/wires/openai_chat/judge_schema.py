"""The shape of a request: the JSON Schema, and which rule each of its errors breaks."""

from __future__ import annotations

from typing import Any

from looptck.wires import shape
from looptck.wires.openai_chat.judge_words import said
from looptck.wires.problem import Problem
from looptck.wires.shape import Fault, Path

RULES = {
    "body-is-an-object": "The body is a JSON object.",
    "model-is-named": "The request names a model.",
    "messages-are-a-filled-list": "The request has a list of messages with at least one in it.",
    "parameters-are-known": "The request has no member that the service does not know, where the service is closed.",
    "roles-are-known": "Every message has one of the roles system, developer, user, assistant, tool and function.",
    "content-is-text-or-parts": "A message's content is a string or a list of whole parts that its role may have.",
    "tool-content-is-text": "A tool message's content is a string or a list of text parts.",
    "calls-are-a-filled-list": "The tool calls of an assistant message, where it has any, are a filled list.",
    "calls-are-whole": "A tool call has an id, a type, and the function or custom object that its type asks for.",
    "arguments-are-text": "A tool call's arguments are a string.",
    "names-are-legal": "The name of a tool, call or output schema is 1 to 64 letters, digits, underscores and hyphens.",
    "participants-are-legal": "A message's name has no blanks and none of the characters < | \\ / >.",
    "tools-are-whole": "A tool has a type, and the function or custom object with a name that its type asks for.",
    "choice-is-known": "A tool choice is none, auto, required, or an object that names a tool.",
    "values-fit": "Every other member is there where it must be, has its type, and keeps within its bounds.",
}

_SCHEMA = "openai-chat.request.json"

_RULES = shape.Rules(
    at={
        "messages": "messages-are-a-filled-list",
        "messages/*/tool_calls": "calls-are-a-filled-list",
    },
    below={
        "model": "model-is-named",
        "messages/*/role": "roles-are-known",
        "messages/*/content": "content-is-text-or-parts",
        "messages/*/name": "participants-are-legal",
        "messages/*/tool_calls/*/function/arguments": "arguments-are-text",
        "messages/*/tool_calls/*/custom/input": "arguments-are-text",
        "messages/*/tool_calls/*/function/name": "names-are-legal",
        "messages/*/tool_calls/*/custom/name": "names-are-legal",
        "messages/*/tool_calls/*": "calls-are-whole",
        "messages/*/function_call/arguments": "arguments-are-text",
        "messages/*/function_call/name": "names-are-legal",
        "tools/*/function/name": "names-are-legal",
        "tools/*/custom/name": "names-are-legal",
        "tools/*": "tools-are-whole",
        "functions/*/name": "names-are-legal",
        "functions/*": "tools-are-whole",
        "tool_choice": "choice-is-known",
        "function_call": "choice-is-known",
        "response_format/json_schema/name": "names-are-legal",
    },
)

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")

_LEANS_ON = {
    "tool_choice": "tools",
    "parallel_tool_calls": "tools",
    "function_call": "functions",
    "stream_options": "stream",
    "top_logprobs": "logprobs",
    "response_format": "messages",
}
"""Options that cannot be judged once the other has a fault."""


def problems(body: dict[str, Any]) -> list[Problem]:
    """The faults in the body's shape, one for each place, in the order in which the service reports."""
    faults = shape.faults(_SCHEMA, body)
    return [_problem(body, path, faults[path]) for path in sorted(faults, key=lambda path: _turn(path, faults[path]))]


def sound_part(body: dict[str, Any], found: list[Problem]) -> dict[str, Any]:
    """What the other rules can read of a body with these faults in its shape; each message keeps its place."""
    faulty = {problem.pointer.split("/")[1] for problem in found}
    sound = {
        option: value for option, value in body.items() if option not in faulty and _LEANS_ON.get(option) not in faulty
    }
    messages = body.get("messages")
    sound["messages"] = [_sound(message) for message in messages] if isinstance(messages, list) else []
    return sound


def _turn(path: Path, fault: Fault) -> tuple[int, int, Path]:
    """When the service reports a fault: what is missing, then what is unknown, then field by field."""
    if path == ("model",):
        return 0, 0, path
    if path == ("messages",) and fault.keyword == "required":
        return 0, 1, path
    if fault.keyword == "unknown" and len(path) == 1:
        return 1, 0, path
    return 2, shape.fields(_SCHEMA).index(str(path[0])), path[1:]


def _problem(body: dict[str, Any], path: Path, fault: Fault) -> Problem:
    rule = "parameters-are-known" if fault.keyword == "unknown" else _RULES.of(path)
    if rule == "content-is-text-or-parts" and body["messages"][path[1]]["role"] == "tool":
        rule = "tool-content-is-text"
    message, code = said(body, path, fault)
    return Problem(rule, shape.pointer(path), message, code=code)


def _sound(message: object) -> dict[str, Any]:
    """What the rules on the history need of a message. What the schema has refused is made harmless, not told twice."""
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        return {"role": "", "content": ""}
    sound = {**message}
    if sound.get("tool_call_id") is not None:
        sound["tool_call_id"] = str(sound["tool_call_id"])
    calls = sound.get("tool_calls")
    listed = calls if isinstance(calls, list) else []
    sound["tool_calls"] = [{"id": str(call.get("id"))} for call in listed if isinstance(call, dict)]
    if sound["role"] == "developer" or (calls is not None and not sound["tool_calls"]):
        sound["content"] = ""
    return sound
