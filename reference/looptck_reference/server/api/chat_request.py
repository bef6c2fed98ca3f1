"""OpenAI Chat Completions: requests of clients."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from looptck_reference.server.api.agentic import MOST_MESSAGES, AgenticBody, ToolChoice, Tools, named_function, without
from looptck_reference.server.errors import Refused
from looptck_reference.vocabulary.values import Json

__all__ = ["ChatBody", "ChatMessage", "read_chat"]

UNHEEDED = ("stream_options", "tool_dispatch_url")
"""Members that are not passed to the model: usage is always reported, and only the server's owner sets the dispatch
URL."""


class ChatFunction(BaseModel):
    """The function of a call; the arguments are text."""

    model_config = ConfigDict(extra="allow", strict=True)

    name: str
    arguments: str


class ChatCall(BaseModel):
    """A call in a message."""

    model_config = ConfigDict(extra="allow", strict=True)

    id: str
    type: Literal["function"] = "function"
    function: ChatFunction


class ChatMessage(BaseModel):
    """A message; the model validates the other members that its role requires."""

    model_config = ConfigDict(extra="allow", strict=True)

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[dict[str, Any]] | None = None
    tool_calls: list[ChatCall] | None = None
    tool_call_id: str | None = None


class ChatBody(AgenticBody):
    """The body of `POST /v1/chat/completions`."""

    messages: list[ChatMessage] = Field(min_length=1, max_length=MOST_MESSAGES)
    tools: list[dict[str, Any]] | None = None
    tool_choice: ToolChoice = None
    n: Literal[1] | None = None


def read_chat(body: ChatBody) -> Json:
    """The members of `RunRequest`.

    Raises:
        Refused: a tool has an unknown type or no name.
    """
    tools = Tools()
    for place, tool in enumerate(body.tools or ()):
        if tool.get("type") != "function":
            tools.add(tool, place)
            continue
        function = tool.get("function")
        if not isinstance(function, dict):
            raise Refused(422, f"tools[{place}].function is not an object", param=f"tools[{place}].function")
        tools.functions.append(named_function(function, place, "function.", **without(function, "name")))
    request = body.agentic()
    request["wants_search"] |= tools.search
    return {
        **request,
        "messages": tuple(message.model_dump(exclude_unset=True) for message in body.messages),
        "tools": tuple(tools.functions),
        "tool_choice": body.tool_choice,
        "options": without(body.beside(), *UNHEEDED),
        "wants_code": tools.code,
    }
