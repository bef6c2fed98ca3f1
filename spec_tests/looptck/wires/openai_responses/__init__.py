"""The wire ``openai-responses``: OpenAI's Responses API, plain and streamed."""

from __future__ import annotations

import json
from typing import Any

from looptck.values.framing import MODEL
from looptck.values.turns import Turn
from looptck.wires.openai_embeddings import embeddings
from looptck.wires.openai_responses import encrypted
from looptck.wires.openai_responses.conversations import told
from looptck.wires.openai_responses.encode import STATUS, body, error_body, text_of
from looptck.wires.openai_responses.encode_stream import error_events, events, without_finish
from looptck.wires.openai_responses.judge import refusal
from looptck.wires.openai_responses.read import echo
from looptck.wires.openai_responses.reply import turn
from looptck.wires.openai_responses.service import service
from looptck.wires.wire import Wire

_MODEL = {"id": MODEL, "object": "model", "created": 1_750_000_000, "owned_by": "looptck"}


def _side(method: str, path: str, body: Any) -> dict[str, Any] | None:
    match method, path.removeprefix("/").split("/"):
        case "GET", ["models"]:
            return {"object": "list", "data": [_MODEL]}
        case "GET", ["models", name]:
            return {**_MODEL, "id": name}
        case "POST", ["embeddings"]:
            return embeddings(body)
        case "POST", ["responses", "input_tokens"]:
            return {"object": "response.input_tokens", "input_tokens": len(json.dumps(body)) // 4}
        case _:
            return None


def _said_to(turn: Turn, body: Any) -> Turn:
    """A turn as the service says it in its reply to this request."""
    return told(encrypted.said_to(turn, body), body)


OPENAI_RESPONSES = Wire(
    name="openai-responses",
    route="/responses",
    request_id="x-request-id",
    stops=frozenset(STATUS),
    layouts=frozenset(
        {
            "fragment",
            "interleaved",
            "empty_deltas",
            "unknown_fields",
            "unknown_events",
            "no_empty_arguments",
        }
    ),
    quirks=frozenset(
        {
            "no-deltas",
            "no-arguments-done",
            "no-item-done",
            "final-output-empty",
            "early-id-differs",
            "item-ids-differ",
            "no-sequence",
            "event-behind-the-end",
            "no-usage",
            "usage-null",
            "unnamed-events",
            "end-marker",
            "model-dated",
        }
    ),
    body=body,
    events=events,
    without_finish=without_finish,
    error_body=error_body,
    error_events=error_events,
    service=service,
    said_to=_said_to,
    refusal=refusal,
    text=text_of,
    echo=echo,
    turn=turn,
    side=_side,
    named_events=True,
)
