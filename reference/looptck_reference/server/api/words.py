"""Forms of the same content in the three APIs."""

from __future__ import annotations

from collections.abc import Sequence

from looptck_reference.server.errors import Refused
from looptck_reference.server.values import Answer
from looptck_reference.vocabulary.values import Json, Stop

__all__ = ["CHAT_STOPS", "MESSAGES_STOPS", "agentic_members", "anthropic_error", "member_path", "openai_error"]

CHAT_STOPS = {
    Stop.END: "stop",
    Stop.CALLS: "tool_calls",
    Stop.LENGTH: "length",
    Stop.CONTENT_FILTER: "content_filter",
    Stop.REFUSAL: "stop",
    Stop.PAUSE: "stop",
}
MESSAGES_STOPS = {
    Stop.END: "end_turn",
    Stop.CALLS: "tool_use",
    Stop.LENGTH: "max_tokens",
    Stop.CONTENT_FILTER: "refusal",
    Stop.REFUSAL: "refusal",
    Stop.PAUSE: "pause_turn",
}


def agentic_members(answer: Answer) -> Json:
    """The members that a plain response has in addition to the API's own; empty on the client-side path."""
    if answer.tool_calls is None:
        return {}
    members: Json = {"session_id": answer.session_id, "agentic_tool_calls": list(answer.tool_calls)}
    if answer.files:
        members["files"] = list(answer.files)
    if answer.warnings:
        members["agentic_warnings"] = list(answer.warnings)
    return members


def openai_error(error: Refused) -> Json:
    """The body of an error in the OpenAI APIs; `param` names the member of the request."""
    return {"error": {"message": error.message, "type": error.type, "param": error.param, "code": error.code}}


def anthropic_error(error: Refused) -> Json:
    """The body of an error in the Messages API, with the member's name beside the message."""
    body: Json = {"type": error.type if error.type != "server_error" else "api_error", "message": error.message}
    if error.param is not None:
        body["param"] = error.param
    return {"type": "error", "error": body}


UNION_NAMES = {"str", "int", "bool"}
"""The names that pydantic gives to the members of a union in the path of an error; others have brackets."""


def member_path(places: Sequence[str | int]) -> str:
    """The path of an error, such as `messages[0].role`, without pydantic's names for members of a union."""
    path = ""
    for place in places:
        if isinstance(place, int):
            path += f"[{place}]"
        elif place not in UNION_NAMES and not any(mark in place for mark in "[("):
            path += f".{place}" if path else place
    return path
