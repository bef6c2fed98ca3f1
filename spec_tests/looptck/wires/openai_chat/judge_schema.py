"""The shape of a request: the JSON Schema, and which rule each of its errors breaks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema_rs

from looptck.data import json_fixture
from looptck.wires.openai_chat.judge_words import Path, pointer, said
from looptck.wires.problem import Problem

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

_RULE_AT = {
    "messages": "messages-are-a-filled-list",
    "messages/*/tool_calls": "calls-are-a-filled-list",
}
"""The rule that a fault at this very place breaks."""

_RULE_BELOW = {
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
}
"""The rule that a fault at or below this place breaks; of two places that fit, the first."""

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
    if _validator().is_valid(body):
        return []
    faults: dict[Path, tuple[str, Any]] = {}
    for error in _validator().iter_errors(body):
        for path, keyword, wanted in _places(error):
            if path not in faults or faults[path][0] == "pattern":  # of an empty name, say that it is empty
                faults[path] = (keyword, wanted)
    return [_problem(body, path, *faults[path]) for path in sorted(faults, key=lambda path: _turn(path, faults))]


def sound_part(body: dict[str, Any], found: list[Problem]) -> dict[str, Any]:
    """What the other rules can read of a body with these faults in its shape; each message keeps its place."""
    faulty = {problem.pointer.split("/")[1] for problem in found}
    sound = {
        option: value for option, value in body.items() if option not in faulty and _LEANS_ON.get(option) not in faulty
    }
    messages = body.get("messages")
    sound["messages"] = [_sound(message) for message in messages] if isinstance(messages, list) else []
    return sound


@cache
def _validator() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(json_fixture("wire-schemas/openai-chat.request.json"))


@cache
def _fields() -> tuple[str, ...]:
    return tuple(json_fixture("wire-schemas/openai-chat.request.json")["properties"])


def _places(error: jsonschema_rs.ValidationError) -> Iterator[tuple[Path, str, Any]]:
    """Where the error's faults lie; a missing or unknown member lies where it would be or is."""
    path = tuple(error.instance_path)
    keyword, wanted = error.kind.name, error.kind.value
    if keyword == "required":
        yield (*path, wanted), keyword, None
    elif keyword == "additionalProperties":
        for name in wanted:
            yield (*path, name), "unknown", None
    else:
        yield path, keyword, wanted


def _turn(path: Path, faults: dict[Path, tuple[str, Any]]) -> tuple[int, int, Path]:
    """When the service reports a fault: what is missing, then what is unknown, then field by field."""
    keyword = faults[path][0]
    if path == ("model",):
        return 0, 0, path
    if path == ("messages",) and keyword == "required":
        return 0, 1, path
    if keyword == "unknown" and len(path) == 1:
        return 1, 0, path
    return 2, _fields().index(str(path[0])), path[1:]


def _problem(body: dict[str, Any], path: Path, keyword: str, wanted: Any) -> Problem:
    rule = "parameters-are-known" if keyword == "unknown" else _rule(body, path)
    message, code = said(body, path, keyword, wanted)
    return Problem(rule, pointer(path), message, code=code)


def _rule(body: dict[str, Any], path: Path) -> str:
    place = "/".join("*" if isinstance(step, int) else step for step in path)
    if place in _RULE_AT:
        return _RULE_AT[place]
    for below, rule in _RULE_BELOW.items():
        if place == below or place.startswith(f"{below}/"):
            if below == "messages/*/content" and body["messages"][path[1]]["role"] == "tool":
                return "tool-content-is-text"
            return rule
    return "values-fit"


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
