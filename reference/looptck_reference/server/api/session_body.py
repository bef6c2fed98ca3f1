"""Sessions in the form that clients read and write: messages as in a request, or tagged as in today's server."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from looptck_reference.server.api.agentic import MOST_MESSAGES
from looptck_reference.server.api.chat_request import ChatMessage
from looptck_reference.server.api.words import member_path
from looptck_reference.server.dialects import ServerDialect
from looptck_reference.server.errors import Refused
from looptck_reference.server.sessions import Session
from looptck_reference.server.values import Message
from looptck_reference.vocabulary.values import Json

__all__ = ["read_session", "session_body"]


def session_body(session: Session, dialect: ServerDialect) -> Json:
    """The body of `GET /v1/sessions/{id}`."""
    bodies = [message.body for message in session.messages]
    if dialect.session_form == "either":
        return {"messages": [_tagged(body, _names(bodies)) for body in bodies], "images": [], "videos": [], "files": []}
    return {"messages": bodies}


def read_session(body: Any, dialect: ServerDialect) -> Session:
    """Parse a session that a client has written.

    The messages of tools count as hidden until a request of the client repeats them.

    Raises:
        Refused: the body is not a session.
    """
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise Refused(400, "messages is not an array of objects", param="messages")
    if dialect.session_form == "either":
        messages = [_untagged(message, place) for place, message in enumerate(messages)]
    try:
        MESSAGES.validate_python(messages)
    except ValidationError as error:
        first = error.errors()[0]
        path = member_path(("messages", *first["loc"]))
        raise Refused(400, f"{path}: {first['msg']}", param=path) from None
    if dialect.session_form == "either":
        messages = _with_ids(messages)
    return Session(tuple(Message(message, _of_tools(message)) for message in messages))


MESSAGES = TypeAdapter(Annotated[list[ChatMessage], Field(max_length=MOST_MESSAGES)])


def _of_tools(message: Json) -> bool:
    return message["role"] == "tool" or bool(message.get("tool_calls"))


def _names(bodies: list[Json]) -> dict[str, str]:
    """The names of tools by the ids of their calls."""
    calls = [call for body in bodies for call in body.get("tool_calls") or ()]
    return {call.get("id", ""): call.get("function", {}).get("name", "") for call in calls}


def _tagged(body: Json, names: dict[str, str]) -> Json:
    """Text is on the left, any other content on the right; arguments are parsed, and a result has a name and no id."""
    content = body.get("content") or ""
    tagged: Json = {"role": {"Left": body["role"]}, "content": _side(content)}
    if body.get("tool_calls"):
        tagged["tool_calls"] = {"Right": [_parsed(call) for call in body["tool_calls"]]}
    if body["role"] == "tool":
        tagged["name"] = {"Left": names.get(body.get("tool_call_id", ""), "")}
    return tagged


def _side(value: Any) -> Json:
    return {"Left": value} if isinstance(value, str) else {"Right": value}


def _parsed(call: Json) -> Json:
    function = call["function"]
    try:
        arguments = json.loads(function["arguments"])
    except ValueError:
        arguments = function["arguments"]
    return {**call, "function": {**function, "arguments": arguments}}


def _untagged(message: Json, place: int) -> Json:
    plain: Json = {}
    for name, value in message.items():
        if not isinstance(value, dict) or len(value) != 1 or not set(value) <= {"Left", "Right"}:
            path = f"messages[{place}].{name}"
            raise Refused(400, f"{path}: expected `Left` or `Right`", param=path)
        plain[name] = next(iter(value.values()))
    calls = plain.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and not isinstance(function.get("arguments", ""), str):
            function["arguments"] = json.dumps(function["arguments"], separators=(",", ":"))
    return plain


def _with_ids(messages: list[Json]) -> list[Json]:
    """The results of a turn in the order of its calls, because they have no ids in this form."""
    waiting: list[str] = []
    for message in messages:
        if message.get("tool_calls"):
            waiting = [call.get("id", "") for call in message["tool_calls"]]
        elif message.get("role") == "tool":
            message.pop("name", None)
            message["tool_call_id"] = waiting.pop(0) if waiting else ""
    return messages
