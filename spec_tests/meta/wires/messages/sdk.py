"""The second opinion on what the Messages encoder writes: the official SDK's own client and models.

The client is given our bytes by a transport in its own process, so it reads them as it would read the service's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import anthropic
import httpx2
from anthropic.pagination import SyncPage
from anthropic.types import Message, ModelInfo, RawMessageStreamEvent
from anthropic.types.beta import BetaMessage, BetaRawMessageStreamEvent
from anthropic.types.shared import ErrorResponse
from pydantic import TypeAdapter, ValidationError

from looptck.values.framing import DEFAULT, Framing
from looptck.values.turns import Turn
from looptck.wires.anthropic_messages import ANTHROPIC_MESSAGES
from meta.wires.encoded import SecondOpinion
from meta.wires.messages.samples import ANY_FRAMING, ANY_TURN, CUT, FRAMINGS, TURNS
from meta.wires.strict_models import undeclared

BETA_WORDS = frozenset({"mcp_tool_use", "mcp_tool_result", "compaction"})
"""The words that only the models of the beta API know: the MCP connector's blocks, and the stop after compaction."""

_MODELS: dict[str, TypeAdapter[Any]] = {
    "message": TypeAdapter(Message),
    "event": TypeAdapter(RawMessageStreamEvent),
    "error": TypeAdapter(ErrorResponse),
    "models": TypeAdapter(SyncPage[ModelInfo]),
    "model": TypeAdapter(ModelInfo),
}
_BETA_MODELS: dict[str, TypeAdapter[Any]] = {
    "message": TypeAdapter(BetaMessage),
    "event": TypeAdapter(BetaRawMessageStreamEvent),
}
_ASKED: dict[str, Any] = {
    "model": "looptck-model",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Hello."}],
}


class Replies:
    """What the service answers next; side routes answer as the wire does."""

    status = 200
    content_type = "application/json"
    pieces: Iterable[bytes] = ()

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        """Answer one request."""
        if request.url.path != "/v1/messages":
            body = json.loads(request.content or "null")
            side = ANTHROPIC_MESSAGES.side(request.method, request.url.path.removeprefix("/v1"), body)
            return httpx2.Response(404 if side is None else 200, json=side)
        return httpx2.Response(self.status, headers={"content-type": self.content_type}, content=b"".join(self.pieces))


REPLIES = Replies()
CLIENT = anthropic.Anthropic(
    api_key="looptck",
    base_url="http://127.0.0.1",
    max_retries=0,
    http_client=httpx2.Client(transport=httpx2.MockTransport(REPLIES)),
)


def read(body: object, *, status: int = 200, beta: bool = False) -> dict[str, Any]:
    """The message that the client reads from a plain reply."""
    REPLIES.status, REPLIES.content_type = status, "application/json"
    REPLIES.pieces = [json.dumps(body).encode()]
    message: Message | BetaMessage = CLIENT.beta.messages.create(**_ASKED) if beta else CLIENT.messages.create(**_ASKED)
    return message.to_dict()


def accumulated(pieces: Iterable[bytes], *, beta: bool = False) -> dict[str, Any]:
    """The message that the client's accumulator makes of a stream."""
    REPLIES.status, REPLIES.content_type = 200, "text/event-stream; charset=utf-8"
    REPLIES.pieces = pieces
    if beta:
        with CLIENT.beta.messages.stream(**_ASKED) as beta_stream:
            return beta_stream.get_final_message().to_dict()
    with CLIENT.messages.stream(**_ASKED) as stream:
        return stream.get_final_message().to_dict()


def is_beta(value: object) -> bool:
    """Whether a JSON value holds a word that only the beta API has."""
    match value:
        case dict():
            return any(map(is_beta, value.values()))
        case list():
            return any(map(is_beta, value))
        case _:
            return value in BETA_WORDS


def strangers(kind: str, value: dict[str, Any]) -> list[str]:
    """JSON pointers to what the models that know its words do not declare in a ``message``, an ``event``, an ``error``.

    Raises ValidationError where they would not parse it, and AssertionError where those of the stable API parse what
    only those of the beta API should.
    """
    text = json.dumps(value)
    if not is_beta(value):
        return undeclared(_MODELS[kind].validate_json(text, strict=True), value)
    try:
        _MODELS[kind].validate_json(text, strict=True)
    except ValidationError:
        return undeclared(_BETA_MODELS[kind].validate_json(text, strict=True), value)
    raise AssertionError(f"the stable API knows it too by now: {text}")


READABLE = {**TURNS, "cut": CUT}
SHAPED = [name for name, framing in FRAMINGS.items() if framing == DEFAULT or framing.layout]
"""The framings that change the event layout, and the default one: the others change the encoding only."""
UNREAD = {
    "byte-order-mark": "its decoder takes the mark for a part of the first field's name, and so loses message_start",
    "unnamed-events": "its stream leaves out every event without an event line",
}
"""The framings that the SDK's client does not read: the reader of these tests does."""


def body(turn: Turn, framing: Framing = DEFAULT) -> dict[str, Any]:
    """The plain reply that is a turn, the first of its run."""
    return ANTHROPIC_MESSAGES.body(turn, 1, framing)


def of_stream(turn: Turn, framing: Framing) -> dict[str, Any]:
    """The message that the client makes of a turn's stream."""
    stream = framing.encode(ANTHROPIC_MESSAGES.events(turn, 1, framing), named=True)
    return accumulated(framing.pieces(stream), beta=is_beta(body(turn)))


def _of_events(events: list[Any]) -> list[str]:
    """What no model declares in a stream; pings the client leaves out before it parses, and no model has the word."""
    return [pointer for event in events if event != {"type": "ping"} for pointer in strangers("event", event)]


def _agrees(turn: Turn, framing: Framing) -> None:
    """A stream, accumulated, is the plain reply: member by member, unknown ones and the usage included."""
    assert body(turn, framing) == of_stream(turn, framing)


MESSAGES_SDK = SecondOpinion(
    wire=ANTHROPIC_MESSAGES,
    turns=READABLE,
    plain_only={},
    modelled={name: FRAMINGS[name] for name in SHAPED},
    read={name: framing for name, framing in FRAMINGS.items() if name not in UNREAD},
    any_turn=ANY_TURN,
    any_framing=ANY_FRAMING,
    undeclared_in_body=lambda body: strangers("message", body),
    undeclared_in_events=_of_events,
    agrees=_agrees,
    quirks=("input-at-start", "block-not-stopped", "end-marker"),
    quirk_turns=list(READABLE),
)
