"""The rules on the server-side state that a request relies on, and then those on its whole history.

Without a memory, references to earlier responses are accepted, since the judge of a single request cannot check them.
"""

from __future__ import annotations

from typing import Any

from looptck.values.problem import Problem
from looptck.wires.openai_responses.conversations import id_of
from looptck.wires.openai_responses.judge import history, items
from looptck.wires.openai_responses.memory import Memory

RULES = {
    "one-memory": "Only one of previous_response_id and conversation is set.",
    "conversations-are-known": "The conversation that a request belongs to is one that the service has.",
    "previous-response-is-kept": "A previous_response_id is the id of a response that the service has stored.",
    "something-is-asked": "The input is not empty, or the request names a response, a prompt or a conversation.",
    **items.RULES,
    **history.RULES,
}

STATE_MEMBERS = ("previous_response_id", "prompt", "conversation")
"""The members by which a request relies on what is stored."""
_STATELESS = Memory(keeps=False)
"""The memory of a judge without server-side state."""


def problems(body: dict[str, Any], memory: Memory | None, seen: dict[str, int] | None = None) -> list[Problem]:
    """The problems in the server-side state, then in the history.

    ``seen``: how often each id is among items before those of the body; what these have is added.
    """
    refused = _unfounded(body, memory)
    if refused:
        return [refused]
    known = _STATELESS if memory is None else memory
    given = known.input(body)
    if not given and not any(body.get(name) for name in STATE_MEMBERS):
        message = "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided."
        return [Problem("something-is-asked", "/input", message, code="missing_required_parameter")]
    references = [
        (place, item.get("id", "")) for place, item in enumerate(given) if item.get("type") == "item_reference"
    ]
    if references and memory is not None:
        return [items.gone(id, f"/input/{place}", memory.sent(id)) for place, id in references]
    before = known.before(body)
    everything = [*before, *given] if before else given
    blind = bool(references) or any(body.get(name) for name in STATE_MEMBERS if memory is None or name == "prompt")
    stores = body.get("store") is not False
    found = items.problems(everything, len(before), memory, stores=stores, referred=_referred(body), seen=seen)
    return found + history.problems(everything, len(before), blind=blind)


def _referred(body: dict[str, Any]) -> set[str]:
    """The ids of the item references."""
    given = body.get("input")
    entries = given if isinstance(given, list) else []
    return {str(item.get("id")) for item in entries if isinstance(item, dict) and item.get("type") == "item_reference"}


def _unfounded(body: dict[str, Any], memory: Memory | None) -> Problem | None:
    """The problem of a request that relies on state it must not or cannot rely on; None if it has none."""
    previous, conversation = body.get("previous_response_id"), body.get("conversation")
    if previous is not None and conversation is not None:
        message = (
            "Mutually exclusive parameters: ''. Ensure you are only providing one of: 'pre..._id' or 'conversation'."
        )
        return Problem("one-memory", "/conversation", message, code="mutually_exclusive_parameters")
    if memory is None:
        return None
    if conversation is not None:
        id = str(id_of(body))
        if memory.has_conversation(id):
            return None
        message = f"Conversation with id '{id}' not found."
        return Problem("conversations-are-known", "/conversation", message, status=404, state_missing=True)
    reply = None if previous is None else memory.reply(previous)
    if previous is None or (reply is not None and reply.kept):
        return None
    return Problem(
        "previous-response-is-kept",
        "/previous_response_id",
        f"Previous response with id '{previous}' not found.",
        code=memory.lost_code or "previous_response_not_found",
        state_missing=reply is None or reply.promised,
    )
