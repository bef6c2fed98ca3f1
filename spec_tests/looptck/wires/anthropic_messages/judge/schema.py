"""The JSON Schema of a request: which rule each of its errors breaks, and in which order the service reports them."""

from __future__ import annotations

from typing import Any

from looptck.values.problem import Problem
from looptck.wires import schema_rules
from looptck.wires.anthropic_messages.judge.schema_words import message_for
from looptck.wires.schema_judge import SchemaJudge
from looptck.wires.schema_rules import Fault, Path, Rules

RULES = {
    "body-is-an-object": "The body is a JSON object.",
    "model-is-named": "The request names a model.",
    "tokens-are-limited": "The request limits the tokens that the model may write.",
    "messages-are-a-filled-list": "The request has a list of messages with at least one in it.",
    "parameters-are-known": "No object has an unknown member where the service refuses unknown members.",
    "roles-are-known": "Every message has one of the roles user, assistant and system.",
    "content-is-text-or-blocks": "A message's content is a string or a list of complete blocks.",
    "blocks-are-known": "A content block is of a kind that the service accepts, or has sent itself.",
    "texts-are-filled": "A text block has text.",
    "calls-are-whole": "A tool_use block has an id, a name of 1 to 200 characters and an input.",
    "input-is-an-object": "A tool_use block's input is an object, never the text that the model wrote.",
    "ids-are-legal": "The id of a call consists of letters, digits, underscores and hyphens.",
    "results-carry-a-call-id": "A tool_result block has the id of a call.",
    "results-are-text-or-blocks": "A tool_result block's content is a string, a list of complete blocks, or absent.",
    "thinking-is-whole": "A thinking block has its text and signature, a redacted one its data.",
    "tools-are-whole": (
        "A custom tool has a legal name and a schema of type object, a toolset the name of its MCP server, any other a "
        "type with its date."
    ),
    "choice-is-known": "A tool choice is an object of the type auto, any, tool with a name, or none.",
    "values-fit": "Every other member is present if required, has the right type, and is within its bounds.",
}

_SCHEMA = "anthropic-messages.request.json"

_BLOCK = "messages/*/content/*"

_RULE_AT = Rules(
    at={
        "messages": "messages-are-a-filled-list",
        f"{_BLOCK}/type": "blocks-are-known",
        f"{_BLOCK}/text": "texts-are-filled",
        f"{_BLOCK}/content/*/text": "texts-are-filled",
        "system/*/text": "texts-are-filled",
    },
    below={
        "model": "model-is-named",
        "max_tokens": "tokens-are-limited",
        "messages/*/role": "roles-are-known",
        "tools/*": "tools-are-whole",
        "tool_choice": "choice-is-known",
    },
)

_BLOCK_RULES = {
    "tool_use": Rules(
        at={f"{_BLOCK}/input": "input-is-an-object", f"{_BLOCK}/id": "ids-are-legal"}, otherwise="calls-are-whole"
    ),
    "tool_result": Rules(
        at={f"{_BLOCK}/tool_use_id": "results-carry-a-call-id"},
        below={f"{_BLOCK}/content": "results-are-text-or-blocks"},
    ),
    "thinking": Rules(otherwise="thinking-is-whole"),
    "redacted_thinking": Rules(otherwise="thinking-is-whole"),
}
"""The rules of the members of a block, by its type."""

_CONTENT = Rules(below={"messages/*/content": "content-is-text-or-blocks"})

_ROLES = ("user", "assistant", "system")


def _report_order(path: Path, fault: Fault) -> tuple[int, int, tuple[str, ...]]:
    """The sort key of a fault: missing top-level members, then others, member by member, then unknown members."""
    steps = tuple(f"{step:06}" if isinstance(step, int) else step for step in path)
    fields = schema_rules.fields(_SCHEMA)
    if path[0] not in fields:
        return 2, 0, steps
    return (0 if fault.keyword == "required" and len(path) == 1 else 1), fields.index(str(path[0])), steps[1:]


def _problem(body: dict[str, Any], path: Path, fault: Fault) -> Problem:
    rule = "parameters-are-known" if fault.keyword == "unknown" else _rule(body, path)
    return Problem(rule, schema_rules.pointer(path), message_for(body, path, fault))


def _rule(body: dict[str, Any], path: Path) -> str:
    rule = _RULE_AT.of(path)
    if rule != "values-fit" or path[0] != "messages":
        return rule
    block = schema_rules.value_at(body, path[:4])
    kind = block.get("type") if isinstance(block, dict) and len(path) > 4 else None
    if isinstance(kind, str) and kind in _BLOCK_RULES:
        rule = _BLOCK_RULES[kind].of(path)
    return _CONTENT.of(path) if rule == "values-fit" else rule


def _valid_message(message: object) -> dict[str, Any]:
    """The valid subset of a message, for the rules on the history."""
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        return {"role": "", "content": "-"}
    content = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [_valid_block(block) for block in content]}
    return {**message, "content": content if isinstance(content, str) else "-"}


def _valid_block(block: object) -> dict[str, Any]:
    fields = block if isinstance(block, dict) else {}
    kind = fields.get("type")
    text = fields.get("text")
    return {
        **fields,
        "type": kind if isinstance(kind, str) else "",
        "id": str(fields.get("id")),
        "tool_use_id": str(fields.get("tool_use_id")),
        "text": text if text and isinstance(text, str) else "-",
    }


_OFFERS = frozenset({"tools", "mcp_servers"})
"""Toolsets name MCP servers, and a choice names a tool."""

SCHEMA_JUDGE = SchemaJudge(
    schema=_SCHEMA,
    unreadable="The request body is not valid JSON.",
    problem=_problem,
    report_order=_report_order,
    history="messages",
    valid_entry=_valid_message,
    depends_on=dict.fromkeys((*_OFFERS, "tool_choice"), _OFFERS),
    least={"model": "m", "max_tokens": 1},
)
