"""OpenAI Responses: parsing a response and its output items."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from looptck_reference.vocabulary.errors import MalformedReply, ProviderError
from looptck_reference.vocabulary.values import Json, Stop, ToolCall
from looptck_reference.wires.text import joined, text_at

__all__ = ["call_of", "output_of", "refuse_unanswerable", "refuse_unfinished", "said", "stop_of"]

# Calls that the client has to run, of kinds that this wire never offers.
UNSUPPORTED = {"custom_tool_call", "computer_call", "local_shell_call", "apply_patch_call"}


def refuse_unfinished(reply: Json) -> None:
    """Raise an error for an unfinished response. Compatible servers leave the status out of finished ones.

    Raises:
        ProviderError: the response failed, was cancelled, or is still in progress.
    """
    status = reply.get("status") or "completed"
    if status not in ("completed", "incomplete"):
        raise ProviderError(f"the provider reported a response that is {status}; nothing of it was used")


def output_of(reply: Json) -> list[Json]:
    """The response's items.

    Raises:
        MalformedReply: there is no list of items, or it has a call of an unsupported kind.
    """
    output = reply.get("output")
    if not isinstance(output, list) or not all(isinstance(item, dict) for item in output):
        raise MalformedReply("the reply has no output items; is the base URL that of a responses API?")
    for item in output:
        if item.get("type") in UNSUPPORTED:
            raise MalformedReply(
                f"the model made a {item['type']}, which is not a function call; offer it functions only"
            )
    return output


def stop_of(reply: Json, output: Sequence[Json]) -> Stop:
    """The reason why the response ended. A call may itself be marked as incomplete, whatever the response's status."""
    if reply.get("status") == "incomplete":
        details = reply.get("incomplete_details") or {}
        return Stop.CONTENT_FILTER if details.get("reason") == "content_filter" else Stop.LENGTH
    calls = [item for item in output if item.get("type") == "function_call"]
    if any(call.get("status") == "incomplete" for call in calls):
        return Stop.LENGTH
    return Stop.CALLS if calls else Stop.END


def said(output: Sequence[Json]) -> tuple[str, str]:
    """Text and refusal of all messages."""
    parts = list(_parts(output))
    text = joined(text_at(part, "text") for part in parts if part.get("type") == "output_text")
    refusal = joined(text_at(part, "refusal") for part in parts if part.get("type") == "refusal")
    return text, refusal


def call_of(item: Json) -> ToolCall:
    """The call in an item. Some compatible servers send the arguments as an object, which is converted to JSON."""
    arguments = item.get("arguments")
    text = arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
    return ToolCall(text_at(item, "call_id"), text_at(item, "name"), text)


def refuse_unanswerable(calls: Sequence[ToolCall]) -> None:
    """A call without id or name cannot be answered.

    Raises:
        MalformedReply: there is one.
    """
    for call in calls:
        if not call.id or not call.name:
            raise MalformedReply(
                f"a call with the name {call.name!r} and the id {call.id!r} cannot be answered; both are needed"
            )


def _parts(output: Sequence[Json]) -> Iterator[Json]:
    for item in output:
        if item.get("type") == "message":
            for part in item.get("content") or ():
                if not isinstance(part, dict):
                    raise MalformedReply(f"the content of a message is not a list of parts: {item!r:.200}")
                yield part
