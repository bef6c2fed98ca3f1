"""What a session of the Agent Development Kit begins with, and how a caller reads and answers its events."""

from __future__ import annotations

from typing import Any

from google.adk.events import Event
from google.genai import types

Json = dict[str, Any]

ASKS = "adk_request_confirmation"
"""The name of the call by which a run asks for the confirmation of another."""


def confirmation(decision: Json) -> types.Part:
    """A decision about a call that waits, as a part of a message of the user."""
    response = {"confirmed": decision["decision"] == "approve"}
    return types.Part(function_response=types.FunctionResponse(id=decision["id"], name=ASKS, response=response))


def history_of(messages: list[Json], agent: str) -> list[Event]:
    """Earlier turns as the events of a session."""
    names: dict[str, str] = {}
    events = []
    for message in messages:
        parts = [types.Part(text=message["content"])] if message["content"] and message["role"] != "tool" else []
        for one in message.get("calls", ()):
            names[one["id"]] = one["name"]
            call = types.FunctionCall(id=one["id"], name=one["name"], args=one["arguments"])
            parts.append(types.Part(function_call=call))
        if message["role"] == "tool":
            id = message["call_id"]
            response = types.FunctionResponse(id=id, name=names[id], response={"result": message["content"]})
            parts.append(types.Part(function_response=response))
        own = message["role"] == "assistant"
        author = "user" if message["role"] == "user" else agent
        content = types.Content(role="model" if own else "user", parts=parts)
        events.append(Event(author=author, invocation_id=f"earlier-{len(events)}", content=content))
    return events


def text_of(event: Event) -> str:
    """The text of an event, without thoughts."""
    parts = event.content.parts if event.content and event.content.parts else []
    return "".join(part.text for part in parts if part.text and not part.thought)
