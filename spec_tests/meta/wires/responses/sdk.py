"""The official SDK as second opinion on the encoder of Responses: its models, and its accumulator."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import Annotated, Any, Union, get_args, get_origin

import httpx2
import openai
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel

from looptck.values.framing import Framing, Quirk
from looptck.values.turns import Turn
from looptck.wires.openai_responses import OPENAI_RESPONSES
from meta.wires.encoded import SecondOpinion
from meta.wires.responses import samples
from meta.wires.responses.reader import meant, said
from meta.wires.responses.samples import FRAMINGS, KNOWN
from meta.wires.strict_models import undeclared

SEEN_BUT_NOT_DECLARED = re.compile(
    "/obfuscation"  # on the deltas of 438 of 498 recorded streams of the service, in no model of an event
    "|(/response)?/store"  # in every recorded response of the service; a model names it on the request only
    "|(/response)?/(frequency|presence)_penalty"  # in every recorded response of the service since January 2026
    "|/billing"  # in 121 of 122 plain responses of August 2026, and in no stream
    "|((/response)?/output/[0-9]+|/item)/status"  # every other kind of call declares it: see the custom calls below
)
"""Members that recordings have and the models have not."""


def by_type(union: Any) -> Iterator[tuple[str, type[BaseModel]]]:
    """The models of a union, each with its ``type``."""
    if get_origin(union) in {Annotated, Union}:
        members = get_args(union)
        yield from chain.from_iterable(map(by_type, members if get_origin(union) is Union else members[:1]))
    else:
        yield from ((type, union) for type in get_args(union.model_fields["type"].annotation))


EVENTS = dict(by_type(ResponseStreamEvent))


def not_declared(model: type[BaseModel], raw: Any) -> list[str]:
    """The members of the JSON that neither its model nor the table above knows; raises where a value does not fit."""
    found = undeclared(model.model_validate(raw, strict=True), raw)
    return [pointer for pointer in found if not SEEN_BUT_NOT_DECLARED.fullmatch(pointer)]


def of_events(stream: list[object]) -> dict[str, list[str]]:
    """The same for the events of a stream, by their type, where there is anything."""
    found = {event["type"]: not_declared(EVENTS[event["type"]], event) for event in objects(stream)}
    return {type: pointers for type, pointers in found.items() if pointers}


def objects(stream: list[object]) -> list[dict[str, Any]]:
    """The events of a stream that are objects."""
    return [event for event in stream if isinstance(event, dict)]


REPLY: dict[str, httpx2.Response] = {}
CLIENT = openai.OpenAI(
    base_url="http://127.0.0.1/v1",
    api_key="none",
    max_retries=0,
    http_client=httpx2.Client(transport=httpx2.MockTransport(lambda _: REPLY["next"])),
)


def heard(turn: Turn, framing: Framing) -> tuple[list[Any], dict[str, Any] | None]:
    """The events of a turn's stream as the SDK hands them out, and the response that the last of them carries."""
    stream = framing.encode(OPENAI_RESPONSES.events(turn, 1, framing), named=True)
    REPLY["next"] = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=stream)
    with CLIENT.responses.stream(model="looptck-model", input="Hello.") as source:
        events = list(source)
    last = events[-1]
    if last.type == "response.completed":
        return events, json.loads(source.get_final_response().to_json())
    return events, json.loads(last.response.to_json()) if last.type in {
        "response.incomplete",
        "response.failed",
    } else None


def joined(events: list[Any]) -> dict[int, str]:
    """By output index, the text or arguments that the SDK has joined by the last delta."""
    return {event.output_index: event.snapshot for event in events if hasattr(event, "snapshot")}


def texts(turn: Turn) -> dict[int, str]:
    """By output index, the texts and arguments of a turn."""
    pieces = {index: piece for index, piece in enumerate(meant(turn)) if piece[0] in {"output_text", "call"}}
    return {index: piece[1] if piece[0] == "output_text" else piece[3] for index, piece in pieces.items()}


def agrees(turn: Turn, framing: Framing) -> None:
    """The SDK comes to the turn that the stream was made from."""
    events, response = heard(turn, framing)
    body = OPENAI_RESPONSES.body(turn, 1, framing)

    if turn.stopped in {"cancelled", "queued", "in_progress"}:
        assert response is None
    else:
        assert response is not None
        assert said(body) == said(response)
        assert meant(turn) == said(response)["pieces"]
    if turn.stopped != "queued":
        wanted = {index: text for index, text in texts(turn).items() if text.strip() not in {"", "{}"}}
        assert wanted == {index: text for index, text in joined(events).items() if index in wanted}


def _can_be_read(framing: Framing) -> bool:
    """Whether the SDK reads the framing at all.

    After an event with an ``id`` it takes the empty line after a comment for the end of one more event, without data,
    and stops there (openai 3.54). The reader of these tests reads that.
    """
    return not (framing.comments and framing.event_names)


# The SDK cannot read the other quirks (openai 3.54): it refuses a second item without a place (no-sequence) and a call
# that changes its id (early-id-differs), believes an empty final output (final-output-empty), and has nothing to join
# (no-deltas). The reader of these tests reads those; so it does items and events of unknown types, for which the SDK
# takes a model of another type.
READ_ANYWAY: tuple[Quirk, ...] = ("no-item-done", "no-arguments-done", "unnamed-events", "end-marker")

RESPONSES_SDK = SecondOpinion(
    wire=OPENAI_RESPONSES,
    turns=KNOWN,
    plain_only={},
    modelled=FRAMINGS,
    read=FRAMINGS,
    any_turn=samples.known_turns(),
    any_framing=samples.framings(),
    can_read=_can_be_read,
    undeclared_in_body=lambda body: not_declared(Response, body),
    undeclared_in_events=of_events,
    agrees=agrees,
    quirks=READ_ANYWAY,
    quirk_turns=("text-and-calls", "custom-calls", "thinking", "hosted"),
)
