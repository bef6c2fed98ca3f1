"""Anthropic Messages: requests of clients, converted to the form of Chat Completions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from looptck_reference.server.api.agentic import MOST_MESSAGES, AgenticBody, Tools, named_function, text_of
from looptck_reference.server.errors import Refused
from looptck_reference.vocabulary.values import Json

__all__ = ["MessagesBody", "read_messages"]

OPTIONS = {"temperature": "temperature", "top_p": "top_p", "stop_sequences": "stop"}
"""The members that both APIs have; all others are left out."""
CHOICES = {"auto": "auto", "any": "required", "none": "none"}


class MessageBody(BaseModel):
    """A message; system messages may be among them."""

    model_config = ConfigDict(extra="allow", strict=True)

    role: Literal["user", "assistant", "system"]
    content: str | list[dict[str, Any]]


class MessagesBody(AgenticBody):
    """The body of `POST /v1/messages`."""

    messages: list[MessageBody] = Field(min_length=1, max_length=MOST_MESSAGES)
    max_tokens: int = Field(ge=1)
    system: str | list[dict[str, Any]] | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: dict[str, Any] | None = None


def read_messages(body: MessagesBody) -> Json:
    """The members of `RunRequest`.

    Raises:
        Refused: the type of a tool, a choice or a block is unknown.
    """
    tools = Tools()
    for place, tool in enumerate(body.tools or ()):
        if tool.get("type", "custom") != "custom":
            tools.add(tool, place)
            continue
        members = {"description": tool.get("description"), "parameters": tool.get("input_schema")}
        tools.functions.append(named_function(tool, place, "", **members))
    system = [{"role": "system", "content": _text(body.system)}] if body.system else []
    messages = [one for place, message in enumerate(body.messages) for one in _read(message, f"messages[{place}]")]
    beside = body.beside()
    options: Json = {"max_tokens": body.max_tokens}
    options |= {OPTIONS[name]: beside[name] for name in OPTIONS if name in beside}
    if body.tool_choice and body.tool_choice.get("disable_parallel_tool_use"):
        options["parallel_tool_calls"] = False
    request = body.agentic()
    request["wants_search"] |= tools.search
    return {
        **request,
        "messages": (*system, *messages),
        "tools": tuple(tools.functions),
        "tool_choice": _choice(body.tool_choice),
        "options": options,
        "wants_code": tools.code,
    }


def _choice(choice: Json | None) -> str | Json | None:
    if choice is None:
        return None
    kind = choice.get("type")
    if kind == "tool" and isinstance(choice.get("name"), str):
        return {"type": "function", "function": {"name": choice["name"]}}
    if kind not in CHOICES:
        raise Refused(422, f"tool_choice.type must be one of {', '.join(CHOICES)}, tool", param="tool_choice.type")
    return CHOICES[kind]


def _read(message: MessageBody, where: str) -> list[Json]:
    """One message may become several: each result is a message of its own, before the rest of the message."""
    if isinstance(message.content, str):
        return [{"role": message.role, "content": message.content}]
    results: list[Json] = []
    parts: list[Json] = []
    calls: list[Json] = []
    for place, block in enumerate(message.content):
        match block.get("type"):
            case "text":
                parts.append({"type": "text", "text": str(block.get("text", ""))})
            case "image":
                parts.append({"type": "image_url", "image_url": {"url": _image(block.get("source"))}})
            case "tool_use":
                calls.append(_call(block, f"{where}.content[{place}]"))
            case "tool_result":
                content = _text(block.get("content") or "")
                call_id = text_of(block, "tool_use_id", f"{where}.content[{place}]")
                results.append({"role": "tool", "tool_call_id": call_id, "content": content})
            case "thinking" | "redacted_thinking":
                continue
            case kind:
                path = f"{where}.content[{place}].type"
                raise Refused(422, f"{path}: the block type {kind!r:.100} is unknown", param=path)
    said: Json = {"role": message.role, "content": _joined(parts)}
    if calls:
        said |= {"content": said["content"] or None, "tool_calls": calls}
    return [*results, *([said] if parts or calls or not results else [])]


def _call(block: Json, where: str) -> Json:
    arguments = json.dumps(block.get("input") or {}, separators=(",", ":"))
    function = {"name": text_of(block, "name", where), "arguments": arguments}
    return {"id": text_of(block, "id", where), "type": "function", "function": function}


def _joined(parts: list[Json]) -> str | list[Json]:
    """Text blocks alone become a string."""
    return parts if any(part["type"] != "text" for part in parts) else "".join(part["text"] for part in parts)


def _text(content: str | list[Json]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) if part.get("type") == "text" else json.dumps(part) for part in content)


def _image(source: Any) -> str:
    if not isinstance(source, Mapping):
        return ""
    if source.get("type") == "url":
        return str(source.get("url", ""))
    return f"data:{source.get('media_type', '')};base64,{source.get('data', '')}"
