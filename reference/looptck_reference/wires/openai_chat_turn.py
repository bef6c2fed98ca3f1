"""OpenAI Chat Completions: the common part of making a turn from plain replies and from streams."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from looptck_reference.vocabulary.errors import MalformedReply
from looptck_reference.vocabulary.values import Json, Stop, ToolCall, Turn

__all__ = ["call_extra", "call_parts", "chat_turn", "joined_details", "refuse_unsupported"]

GROWING = frozenset({"text", "summary", "data"})
"""What grows piece by piece of a detail of reasoning."""

STOPS = {
    "stop": Stop.END,
    "tool_calls": Stop.CALLS,
    "function_call": Stop.CALLS,
    "length": Stop.LENGTH,
    "content_filter": Stop.CONTENT_FILTER,
}


def chat_turn(
    *,
    content: str,
    refusal: str,
    calls: Sequence[ToolCall],
    finish_reason: str | None,
    usage: Mapping[str, Any] | None,
    reasoning: str = "",
    details: Sequence[Json] = (),
) -> Turn:
    """The turn. A refusal comes with an ordinary finish reason, so the refusal itself is the stop.

    Compatible servers send reasoning, and those that reason between calls demand it back beside the calls.

    Raises:
        MalformedReply: the content is not a string, or a call cannot be answered because it lacks id or name.
    """
    if not isinstance(content, str):
        raise MalformedReply(f"the content of the reply is not a string: {content!r:.200}")
    stop = Stop.REFUSAL if refusal else STOPS.get(finish_reason or "", Stop.END)
    if not stop.truncated:
        for call in calls:
            if not call.id or not call.name:
                raise MalformedReply(
                    f"a call with the name {call.name!r} and the id {call.id!r} cannot be answered; both are needed"
                )
    members = {"reasoning_content": reasoning, "reasoning_details": joined_details(details)}
    kept = tuple({name: value} for name, value in members.items() if value)
    return Turn(refusal or content, tuple(calls), stop, usage, kept)


def joined_details(pieces: Sequence[Json]) -> list[Json]:
    """Details of reasoning: pieces of a stream with the same type and index, one behind the other, are one."""
    found: list[Json] = []
    for piece in pieces:
        last = found[-1] if found else {}
        if "index" not in piece or any(last.get(name) != piece.get(name) for name in ("type", "index")):
            found.append(dict(piece))
            continue
        for name, value in piece.items():
            written = name in GROWING and isinstance(value, str)
            last[name] = (last.get(name) or "") + value if written else value
    return found


def call_parts(call: Any) -> tuple[str, str, str]:
    """Id, name and arguments of a call or of a piece of one, "" for each that is missing.

    Some compatible servers send the arguments as an object, which is converted to JSON.

    Raises:
        MalformedReply: it is not a function tool call.
    """
    if not isinstance(call, dict):
        raise MalformedReply(f"a tool call of the reply is not an object: {call!r:.200}")
    refuse_unsupported(call)
    function = call.get("function") or {}
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
    return call.get("id") or "", function.get("name") or "", text


def call_extra(call: Mapping[str, Any]) -> Json:
    """What a server has sent with a call, or with a piece of one, and expects back with it: Gemini's signatures."""
    extra = call.get("extra_content")
    return {} if extra is None else {"extra_content": extra}


def refuse_unsupported(part: Mapping[str, Any]) -> None:
    """Raise an error for a kind of call that this wire does not run, so that it is not lost silently.

    Some compatible servers send every documented member; an empty deprecated call is no call.

    Raises:
        MalformedReply: `part`, a message, delta or call, holds a custom tool call or a call in the deprecated form.
    """
    deprecated = part.get("function_call")
    if (any(deprecated.values()) if isinstance(deprecated, dict) else deprecated) or part.get("type") == "custom":
        raise MalformedReply("the model made a call that is not a function tool call; offer it function tools only")
