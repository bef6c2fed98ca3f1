"""The official SDK as second opinion on the encoder of Chat Completions: its models, and its accumulator."""

from __future__ import annotations

from typing import Any

import httpx2
import openai
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import BaseModel

from looptck.spec import strategies
from looptck.values.framing import PRESETS, Framing, Quirk
from looptck.values.turns import Turn, calls
from looptck.wires.openai_chat import OPENAI_CHAT
from meta.wires.chat.samples import ANY_TURN, CUSTOM, FINISH, TURNS, WEATHER
from meta.wires.encoded import SecondOpinion
from meta.wires.strict_models import undeclared

FRAMINGS = {name: framing for name, framing in PRESETS.items() if OPENAI_CHAT.carries_out(framing)}
SEEN_BUT_NOT_DECLARED = {"/prompt_filter_results"}  # what Azure's content filter adds (34 of 34 recorded first chunks)
"""Members that recordings have and the models have not."""


def not_declared(model: type[BaseModel], raw: Any) -> list[str]:
    """The members of the JSON that neither its model nor the table above knows; raises where a value does not fit."""
    found = undeclared(model.model_validate(raw, strict=True), raw)
    return [pointer for pointer in found if pointer not in SEEN_BUT_NOT_DECLARED]


def of_chunks(stream: list[object]) -> list[str]:
    """The same for the chunks of a stream."""
    return [p for chunk in stream if chunk != "[DONE]" for p in not_declared(ChatCompletionChunk, chunk)]


REPLY: dict[str, httpx2.Response] = {}
CLIENT = openai.OpenAI(
    base_url="http://127.0.0.1/v1",
    api_key="none",
    max_retries=0,
    http_client=httpx2.Client(transport=httpx2.MockTransport(lambda _: REPLY["next"])),
)


def heard(turn: Turn, framing: Framing) -> dict[str, Any]:
    """What the SDK takes from a turn's stream."""
    stream = framing.encode(OPENAI_CHAT.events(turn, 1, framing))
    REPLY["next"] = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=stream)
    with CLIENT.chat.completions.stream(model="looptck-model", messages=[]) as source:
        source.until_done()
    choice = source.current_completion_snapshot.choices[0]  # the final completion of a turn that was cut is an error
    wanted = [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls or ()]
    message = choice.message
    return {"text": message.content, "refusal": message.refusal, "calls": wanted, "finish": choice.finish_reason}


def agrees(turn: Turn, framing: Framing) -> None:
    """The SDK comes to the turn that the stream was made from."""
    wanted = [(call.id, call.tool, call.arguments) for call in turn.calls]
    meant = {"text": turn.text, "refusal": turn.refusal, "calls": wanted, "finish": FINISH[turn.stopped]}

    assert meant == heard(turn, framing)


def _can_be_read(framing: Framing) -> bool:
    """Whether the SDK reads the framing at all (openai 3.54). The reader of ``chat/reader`` reads the others too.

    After an event with an ``id`` it takes the empty line after a comment for the end of one more event, without data,
    and stops there. A byte order mark costs it the first event.
    """
    return not (framing.comments and framing.event_names) and not framing.mark


# The SDK cannot read the other quirks (openai 3.54): it joins ids that are repeated (ids-repeated, one-index), wants an
# index that counts from zero (no-index, index-from-one) and hands out arguments that are an object as they are
# (arguments-object). The reader of ``chat/reader`` does not read those either: their place is the judged loop.
READ_ANYWAY: tuple[Quirk, ...] = ("finish-repeated", "name-in-pieces", "calls-null", "calls-empty")

CHAT_SDK = SecondOpinion(
    wire=OPENAI_CHAT,
    turns=TURNS,
    plain_only={"custom": calls(CUSTOM, WEATHER)},
    modelled=FRAMINGS,
    read={name: framing for name, framing in FRAMINGS.items() if _can_be_read(framing)},
    any_turn=ANY_TURN,
    any_framing=strategies.framings(OPENAI_CHAT.layouts),
    can_read=_can_be_read,
    undeclared_in_body=lambda body: not_declared(ChatCompletion, body),
    undeclared_in_events=of_chunks,
    agrees=agrees,
    quirks=READ_ANYWAY,
    quirk_turns=list(TURNS),
)
