"""OpenAI Chat Completions: what plain replies and streams have in common when they become a turn."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from looptck_reference.errors import MalformedReply
from looptck_reference.values import Stop, ToolCall, Turn

__all__ = ["call_parts", "chat_turn", "refuse_unsupported"]

STOPS = {
    "stop": Stop.END,
    "tool_calls": Stop.CALLS,
    "function_call": Stop.CALLS,
    "length": Stop.LENGTH,
    "content_filter": Stop.CONTENT_FILTER,
}


def chat_turn(
    *, content: str, refusal: str, calls: Sequence[ToolCall], finish_reason: str | None, usage: Mapping[str, Any] | None
) -> Turn:
    """The turn. A refusal comes with an ordinary finish reason, so the refusal itself is the stop.

    Raises:
        MalformedReply: content that is no text, or a call that could not be answered because it lacks id or name.
    """
    if not isinstance(content, str):
        raise MalformedReply(f"the content of the reply is no text: {content!r:.200}")
    stop = Stop.REFUSAL if refusal else STOPS.get(finish_reason or "", Stop.END)
    if not stop.cut:
        for call in calls:
            if not call.id or not call.name:
                raise MalformedReply(f"the call of tool {call.name!r} with id {call.id!r} lacks one of the two")
    return Turn(refusal or content, tuple(calls), stop, usage)


def call_parts(call: Any) -> tuple[str, str, str]:
    """Id, name and arguments of a call or of a piece of one, "" for each that is not there.

    Some compatible servers send the arguments as an object, which then stands for its JSON.

    Raises:
        MalformedReply: it is no function tool call.
    """
    if not isinstance(call, dict):
        raise MalformedReply(f"a tool call of the reply is no object: {call!r:.200}")
    refuse_unsupported(call)
    function = call.get("function") or {}
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
    return call.get("id") or "", function.get("name") or "", text


def refuse_unsupported(part: Mapping[str, Any]) -> None:
    """A kind of call that this wire does not run must not be lost silently.

    Some compatible servers send each member that there is, the deprecated call with nothing in it: that is no call.

    Raises:
        MalformedReply: `part`, a message, delta or call, holds a custom tool call or a call in the deprecated form.
    """
    deprecated = part.get("function_call")
    if (any(deprecated.values()) if isinstance(deprecated, dict) else deprecated) or part.get("type") == "custom":
        raise MalformedReply("the model made a call that is no function tool call; offer it function tools only")
