"""The official SDK as second opinion on the encoder of Chat Completions: its models, and its accumulator."""

from __future__ import annotations

from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import BaseModel, ValidationError

from looptck.framing import NATURAL, PRESETS, Framing, Quirk
from looptck.spec import strategies
from looptck.turns import Call, Refusal, Stop, Text, Turn, calls, refuses, says
from looptck.wires.openai_chat import OPENAI_CHAT
from meta.kit.steady import FEWER
from meta.wires.strict_models import undeclared

WEATHER = Call.of("weather", {"city": "Zürich"})
CUSTOM = Call("note", "free text, no JSON", custom=True)
STOPS: tuple[Stop, ...] = ("end", "calls", "length", "content_filter")
FINISH = {"end": "stop", "calls": "tool_calls", "length": "length", "content_filter": "content_filter"}
TURNS: dict[str, Turn] = {
    "text": says("It is 18 °C.\n\u2028Warm."),
    "empty": says(""),
    "nothing": says(None),
    "refusal": refuses("I will not say how warm it is."),
    "call": calls(WEATHER),
    "text-and-calls": calls(WEATHER, Call("ping", ""), Call("add", '{"a": 1, "b": '), text="I look."),
    **{f"text-{stop}": says("It is", stop=stop) for stop in STOPS},
    **{f"call-{stop}": calls(WEATHER, stop=stop) for stop in STOPS},
}
FRAMINGS = {name: framing for name, framing in PRESETS.items() if OPENAI_CHAT.carries_out(framing)}
SEEN_BUT_NOT_DECLARED = {"/prompt_filter_results"}  # what Azure's content filter adds (34 of 34 recorded first chunks)
"""Members that recordings have and the models have not."""

_TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)


def turns() -> SearchStrategy[Turn]:
    """Any turn that the wire can say in a stream, as a message has its parts: text, refusal, calls."""
    text = st.lists(st.builds(Text, _TEXTS), max_size=1)
    refusal = st.lists(st.builds(Refusal, _TEXTS), max_size=1)
    wanted = st.lists(strategies.calls() | st.builds(Call, st.sampled_from(strategies.TOOLS), _TEXTS), max_size=4)
    stop = st.sampled_from([None, *STOPS])
    return st.builds(lambda *parts: Turn((*parts[0], *parts[1], *parts[2]), parts[3]), text, refusal, wanted, stop)


def not_declared(model: type[BaseModel], raw: Any) -> list[str]:
    """The members of the JSON that neither its model nor the table above knows; raises where a value does not fit."""
    found = undeclared(model.model_validate(raw, strict=True), raw)
    return [pointer for pointer in found if pointer not in SEEN_BUT_NOT_DECLARED]


def of_chunks(stream: list[object]) -> list[str]:
    """The same for the chunks of a stream."""
    return [p for chunk in stream if chunk != "[DONE]" for p in not_declared(ChatCompletionChunk, chunk)]


# -- models ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turn", [*TURNS, "custom"])
def test_the_models_know_every_body(turn: str) -> None:
    """Every member of the plain reply is a field of the SDK's model of it, and its value fits."""
    numbered = {**TURNS, "custom": calls(CUSTOM, WEATHER)}[turn].numbered(1)

    assert [] == not_declared(ChatCompletion, OPENAI_CHAT.body(numbered, 1, NATURAL))


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("turn", TURNS)
def test_the_models_know_every_chunk(turn: str, framing: str) -> None:
    """Every member of every chunk is a field of the SDK's model of it, and its value fits."""
    known = FRAMINGS[framing].but(unknown_fields=False)

    assert [] == of_chunks(OPENAI_CHAT.events(TURNS[turn].numbered(1), 1, known))


@FEWER
@given(turns(), strategies.framings(OPENAI_CHAT.shapes))
def test_the_models_know_anything(turn: Turn, framing: Framing) -> None:
    """The same for any turn in any framing, body and chunks."""
    numbered, known = turn.numbered(1), framing.but(unknown_fields=False)

    assert [] == not_declared(ChatCompletion, OPENAI_CHAT.body(numbered, 1, known))
    assert [] == of_chunks(OPENAI_CHAT.events(numbered, 1, known))


def test_unknown_fields_are_unknown() -> None:
    """The framing with unknown fields has fields in the reply, its message and every chunk that no model knows."""
    framing = PRESETS["unknown-fields"]
    numbered = TURNS["call"].numbered(1)
    chunks = OPENAI_CHAT.events(numbered, 1, framing)[:-1]
    body = OPENAI_CHAT.body(numbered, 1, framing)

    assert ["/choices/0/message/x_unknown", "/x_unknown"] == sorted(not_declared(ChatCompletion, body))
    assert ["/x_unknown"] * len(chunks) == of_chunks(chunks)


def test_no_model_knows_custom_calls_in_a_stream() -> None:
    """The SDK has custom calls in bodies and none in chunks; what we stream of them is a guess."""
    with pytest.raises(ValidationError, match="Input should be 'function'"):
        of_chunks(OPENAI_CHAT.events(calls(CUSTOM).numbered(1), 1, NATURAL))


# -- accumulator -----------------------------------------------------------------------------------------------------

REPLY: dict[str, httpx2.Response] = {}
CLIENT = openai.OpenAI(
    base_url="http://127.0.0.1/v1",
    api_key="none",
    max_retries=0,
    http_client=httpx2.Client(transport=httpx2.MockTransport(lambda _: REPLY["next"])),
)


def heard(turn: Turn, framing: Framing) -> dict[str, Any]:
    """What the SDK takes from a turn's stream."""
    stream = framing.dress(OPENAI_CHAT.events(turn, 1, framing))
    REPLY["next"] = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=stream)
    with CLIENT.chat.completions.stream(model="looptck-model", messages=[]) as source:
        source.until_done()
    choice = source.current_completion_snapshot.choices[0]  # the final completion of a turn that was cut is an error
    wanted = [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls or ()]
    message = choice.message
    return {"text": message.content, "refusal": message.refusal, "calls": wanted, "finish": choice.finish_reason}


def meant(turn: Turn) -> dict[str, Any]:
    """What a reader should take from a turn."""
    wanted = [(call.id, call.tool, call.arguments) for call in turn.calls]
    return {"text": turn.text, "refusal": turn.refusal, "calls": wanted, "finish": FINISH[turn.stopped]}


def _can_be_read(framing: Framing) -> bool:
    """Whether the SDK reads the framing at all (openai 3.54). The reader of ``test_encode`` reads the others too.

    After an event with an ``id`` it takes the empty line after a comment for the end of one more event, without data,
    and stops there. A byte order mark costs it the first event.
    """
    return not (framing.comments and framing.event_names) and not framing.mark


@pytest.mark.parametrize("framing", [name for name, framing in FRAMINGS.items() if _can_be_read(framing)])
@pytest.mark.parametrize("turn", TURNS)
def test_the_sdk_reads_a_named_framing(turn: str, framing: str) -> None:
    """The SDK reads any turn in any named framing as the turn that it was."""
    numbered = TURNS[turn].numbered(1)

    assert meant(numbered) == heard(numbered, FRAMINGS[framing])


@FEWER
@given(turns(), strategies.framings(OPENAI_CHAT.shapes).filter(_can_be_read))
def test_the_sdk_reads_any_framing(turn: Turn, framing: Framing) -> None:
    """The SDK reads any turn in any other framing as the turn that it was."""
    numbered = turn.numbered(1)

    assert meant(numbered) == heard(numbered, framing)


# The SDK cannot read the other quirks (openai 3.54): it joins ids that are repeated (ids-repeated, one-index), wants an
# index that counts from zero (no-index, index-from-one) and hands out arguments that are an object as they are
# (arguments-object). The reader of ``test_encode`` does not read those either: their place is the judged loop.
READ_ANYHOW: tuple[Quirk, ...] = ("finish-repeated", "name-in-pieces", "calls-null", "calls-empty")


@pytest.mark.parametrize("quirk", READ_ANYHOW)
@pytest.mark.parametrize("turn", TURNS)
def test_the_sdk_reads_some_quirks(turn: str, quirk: Quirk) -> None:
    """These quirks change nothing for the SDK."""
    numbered = TURNS[turn].numbered(1)

    assert meant(numbered) == heard(numbered, NATURAL.but(quirk=quirk))
