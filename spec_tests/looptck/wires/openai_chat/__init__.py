"""The wire ``openai-chat``: OpenAI's Chat Completions API, plain and streamed."""

from __future__ import annotations

from functools import partial
from typing import Any

from looptck.values.framing import MODEL
from looptck.wires.openai_chat.compatible import BODY, STREAM, changed_body, changed_stream
from looptck.wires.openai_chat.encode import (
    FINISH,
    body,
    error_body,
    error_events,
    events,
    text_of,
    without_finish,
)
from looptck.wires.openai_chat.judge import fit, judge, refusal
from looptck.wires.openai_chat.read import echo, items, read
from looptck.wires.openai_chat.reply import turn
from looptck.wires.openai_embeddings import embeddings
from looptck.wires.stateless import Further, Stateless
from looptck.wires.wire import Changes, Wire

_MODELS = {
    "object": "list",
    "data": [{"id": MODEL, "object": "model", "created": 1_750_000_000, "owned_by": "looptck"}],
}


def _side(method: str, path: str, body: Any) -> dict[str, Any] | None:
    match method, path:
        case "GET", "/models":
            return _MODELS
        case "POST", "/embeddings":
            return embeddings(body)
        case _:
            return None


def _tells_usage(body: Any) -> bool:
    if not isinstance(body, dict) or body.get("stream") is not True:
        return True
    options = body.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def _is_usage(event: Any) -> bool:
    return isinstance(event, dict) and event.get("choices") == [] and bool(event.get("usage"))


OPENAI_CHAT = Wire(
    name="openai-chat",
    route="/chat/completions",
    request_id="x-request-id",
    stops=frozenset(FINISH),
    layouts=frozenset(
        {
            "fragment",
            "interleaved",
            "one_delta",
            "calls_first",
            "empty_deltas",
            "usage",
            "opening",
            "unknown_fields",
            "done",
        }
    ),
    quirks=frozenset(
        {
            "ids-repeated",
            "one-index",
            "index-from-one",
            "name-in-pieces",
            "finish-repeated",
            "arguments-object",
            "arguments-null",
            "calls-null",
            "calls-empty",
            *STREAM,
            *BODY,
        }
    ),
    body=body,
    events=events,
    without_finish=without_finish,
    error_body=error_body,
    error_events=error_events,
    service=lambda _stateful: Stateless(judge, read, Further("messages", fit, items)),
    refusal=refusal,
    text=text_of,
    echo=echo,
    turn=turn,
    side=_side,
    tells_usage=_tells_usage,
    is_usage=_is_usage,
    changes={
        quirk: Changes(partial(changed_body, quirk), partial(changed_stream, quirk))
        for quirk in dict.fromkeys([*STREAM, *BODY])
    },
)
