"""The JSON Schema of a request: which rule each of its errors breaks, and in which order the service reports them."""

from __future__ import annotations

from typing import Any

from looptck.values.problem import Problem
from looptck.wires import schema_rules
from looptck.wires.openai_chat.judge.schema_words import message_for
from looptck.wires.schema_judge import SchemaJudge
from looptck.wires.schema_rules import Fault, Path

RULES = {
    "body-is-an-object": "The body is a JSON object.",
    "model-is-named": "The request names a model.",
    "messages-are-a-filled-list": "The request has a list of messages with at least one in it.",
    "parameters-are-known": "The request has no unknown member where the service refuses unknown members.",
    "roles-are-known": "Every message has one of the roles system, developer, user, assistant, tool and function.",
    "content-is-text-or-parts": "A message's content is a string or a list of complete parts that its role may have.",
    "tool-content-is-text": "A tool message's content is a string or a list of text parts.",
    "calls-are-a-filled-list": "The tool calls of an assistant message, if present, are a non-empty list.",
    "calls-are-whole": "A tool call has an id, a type, and the function or custom object that its type needs.",
    "arguments-are-text": "A tool call's arguments are a string.",
    "names-are-legal": "The name of a tool, call or output schema is 1 to 64 letters, digits, underscores and hyphens.",
    "participants-are-legal": "A message's name has no blanks and none of the characters < | \\ / >.",
    "tools-are-whole": "A tool has a type, and the function or custom object with a name that its type needs.",
    "choice-is-known": "A tool choice is none, auto, required, or an object that names a tool.",
    "values-fit": "Every other member is present if required, has the right type, and is within its bounds.",
}

_SCHEMA = "openai-chat.request.json"

_RULE_AT = schema_rules.Rules(
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


def _report_order(path: Path, fault: Fault) -> tuple[int, int, Path]:
    """The sort key of a fault: missing top-level members, then unknown ones, then the others, member by member."""
    if path == ("model",):
        return 0, 0, path
    if path == ("messages",) and fault.keyword == "required":
        return 0, 1, path
    if fault.keyword == "unknown" and len(path) == 1:
        return 1, 0, path
    return 2, schema_rules.fields(_SCHEMA).index(str(path[0])), path[1:]


def _problem(body: dict[str, Any], path: Path, fault: Fault) -> Problem:
    rule = "parameters-are-known" if fault.keyword == "unknown" else _RULE_AT.of(path)
    if rule == "content-is-text-or-parts" and body["messages"][path[1]]["role"] == "tool":
        rule = "tool-content-is-text"
    message, code = message_for(body, path, fault)
    return Problem(rule, schema_rules.pointer(path), message, code=code)


def _valid_message(message: object) -> dict[str, Any]:
    """The valid subset of a message, for the rules on the history."""
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        return {"role": "", "content": ""}
    valid = {**message}
    if valid.get("tool_call_id") is not None:
        valid["tool_call_id"] = str(valid["tool_call_id"])
    calls = valid.get("tool_calls")
    listed = calls if isinstance(calls, list) else []
    valid["tool_calls"] = [{"id": str(call.get("id"))} for call in listed if isinstance(call, dict)]
    if valid["role"] == "developer" or (calls is not None and not valid["tool_calls"]):
        valid["content"] = ""
    return valid


SCHEMA_JUDGE = SchemaJudge(
    schema=_SCHEMA,
    unreadable="We could not parse the JSON body of your request.",
    problem=_problem,
    report_order=_report_order,
    history="messages",
    valid_entry=_valid_message,
    depends_on={
        "tool_choice": frozenset({"tools"}),
        "parallel_tool_calls": frozenset({"tools"}),
        "function_call": frozenset({"functions"}),
        "stream_options": frozenset({"stream"}),
        "top_logprobs": frozenset({"logprobs"}),
        "response_format": frozenset({"messages"}),
    },
    least={"model": "m"},
)
