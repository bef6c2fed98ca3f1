"""OpenAI Responses: requests of clients, converted to the form of Chat Completions."""

from __future__ import annotations

import json
from typing import Any

from pydantic import Field

from looptck_reference.server.api.agentic import MOST_MESSAGES, AgenticBody, ToolChoice, Tools, named_function, text_of
from looptck_reference.server.errors import Refused
from looptck_reference.vocabulary.values import Json

__all__ = ["ResponsesBody", "read_responses"]

OPTIONS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_output_tokens": "max_completion_tokens",
    "parallel_tool_calls": "parallel_tool_calls",
}
ROLES = ("user", "assistant", "system", "developer")
UNKNOWN = ("previous_response_id", "conversation", "background", "max_tool_calls", "prompt")
"""Members that would change the meaning of a run, and that this server does not support."""


class ResponsesBody(AgenticBody):
    """The body of `POST /v1/responses`; `session_id` names a session, because responses are not stored."""

    input: str | list[dict[str, Any]] = Field(min_length=1)
    instructions: str | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: ToolChoice = None


def read_responses(body: ResponsesBody) -> Json:
    """The members of `RunRequest`.

    Raises:
        Refused: the type of a tool or an item is unknown, a member is not supported, or there are too many items.
    """
    if isinstance(body.input, list) and len(body.input) > MOST_MESSAGES:
        raise Refused(422, f"input: List should have at most {MOST_MESSAGES} items", param="input")
    beside = body.beside()
    for name in UNKNOWN:
        if beside.get(name):
            raise Refused(422, f"{name} is not supported; use session_id or max_tool_rounds", param=name)
    tools = Tools()
    for place, tool in enumerate(body.tools or ()):
        if tool.get("type") != "function":
            tools.add(tool, place)
            continue
        members = {name: tool.get(name) for name in ("description", "parameters", "strict")}
        tools.functions.append(named_function(tool, place, "", **members))
    system = [{"role": "system", "content": body.instructions}] if body.instructions else []
    request = body.agentic()
    request["wants_search"] |= tools.search
    return {
        **request,
        "messages": (*system, *_messages(body.input)),
        "tools": tuple(tools.functions),
        "tool_choice": _choice(body.tool_choice),
        "options": {OPTIONS[name]: beside[name] for name in OPTIONS if beside.get(name) is not None},
        "wants_code": tools.code,
    }


def _choice(choice: str | Json | None) -> str | Json | None:
    if isinstance(choice, dict) and choice.get("type") == "function":
        return {"type": "function", "function": {"name": choice.get("name")}}
    if isinstance(choice, dict):
        raise Refused(
            422, "tool_choice must be a string, or tool_choice.type must be function", param="tool_choice.type"
        )
    return choice


def _messages(given: str | list[Json]) -> list[Json]:
    """Items as messages; adjacent calls, with the text before them, are one turn of the assistant."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    messages: list[Json] = []
    for place, item in enumerate(given):
        where = f"input[{place}]"
        match item.get("type", "message"):
            case "message":
                role = text_of({"role": "user", **item}, "role", where)
                if role not in ROLES:
                    raise Refused(422, f"{where}.role must be one of {', '.join(ROLES)}", param=f"{where}.role")
                messages.append({"role": role, "content": _content(item.get("content"), place)})
            case "function_call":
                function = {name: text_of(item, name, where) for name in ("name", "arguments")}
                call = {"id": text_of(item, "call_id", where), "type": "function", "function": function}
                if not messages or messages[-1]["role"] != "assistant":
                    messages.append({"role": "assistant", "content": None})
                messages[-1]["content"] = messages[-1]["content"] or None
                messages[-1].setdefault("tool_calls", []).append(call)
            case "function_call_output":
                output = item.get("output")
                text = output if isinstance(output, str) else json.dumps(output)
                messages.append({"role": "tool", "tool_call_id": text_of(item, "call_id", where), "content": text})
            case "reasoning":
                continue
            case kind:
                message = f"{where}.type: the item type {kind!r:.100} is unknown"
                raise Refused(422, message, param=f"{where}.type")
    return messages


def _content(content: Any, place: int) -> str | list[Json]:
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        path = f"input[{place}].content"
        raise Refused(422, f"{path} is neither text nor an array of parts", param=path)
    if all("text" in part for part in content):
        return "".join(str(part["text"]) for part in content)
    return [_part(part) for part in content]


def _part(part: Json) -> Json:
    if "text" in part:
        return {"type": "text", "text": str(part["text"])}
    return {"type": "image_url", "image_url": {"url": part.get("image_url")}}
