"""The wire ``anthropic-messages``: Anthropic's Messages API, plain and streamed."""

from __future__ import annotations

import json
from typing import Any

from looptck.values.framing import MODEL
from looptck.wires.anthropic_messages.encode import STOPS, body, error_body, text_of
from looptck.wires.anthropic_messages.encode_stream import error_events, events, without_finish
from looptck.wires.anthropic_messages.judge import refusal
from looptck.wires.anthropic_messages.read import echo
from looptck.wires.anthropic_messages.reply import turn
from looptck.wires.anthropic_messages.service import service
from looptck.wires.wire import Wire

_MODEL = {
    "type": "model",
    "id": MODEL,
    "display_name": "looptck",
    "created_at": "2025-06-15T00:00:00Z",
    "lifecycle": "active",
    "max_input_tokens": 200_000,
    "max_tokens": 64_000,
}


def _side(method: str, path: str, body: Any) -> dict[str, Any] | None:
    match method, path.removeprefix("/").split("/"):
        case "GET", ["models"]:
            return {"data": [_MODEL], "has_more": False, "first_id": _MODEL["id"], "last_id": _MODEL["id"]}
        case "GET", ["models", name]:
            return {**_MODEL, "id": name}
        case "POST", ["messages", "count_tokens"]:
            return {"input_tokens": len(json.dumps(body)) // 4}
        case _:
            return None


ANTHROPIC_MESSAGES = Wire(
    name="anthropic-messages",
    route="/messages",
    request_id="request-id",
    stops=frozenset(STOPS),
    layouts=frozenset(
        {
            "fragment",
            "interleaved",
            "empty_deltas",
            "unknown_fields",
            "unknown_events",
            "pings",
            "split_end",
            "no_empty_arguments",
        }
    ),
    quirks=frozenset(
        {
            "input-at-start",
            "no-input-at-start",
            "text-at-start",
            "block-not-stopped",
            "indices-with-gaps",
            "start-repeated",
            "stop-repeated",
            "counts-null",
            "counts-missing",
            "counts-grow",
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
    refusal=refusal,
    text=text_of,
    echo=echo,
    turn=turn,
    side=_side,
    parsed_arguments=True,
    named_events=True,
)
