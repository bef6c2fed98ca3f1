"""What the encoder writes: bodies and chunks of the service's shape, and one and the same turn in any framing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from syrupy.assertion import SnapshotAssertion

from looptck.data import fixture
from looptck.framing import NATURAL, PRESETS, Framing
from looptck.spec import strategies
from looptck.turns import Call, Refusal, Stop, Turn, calls, refuses, says, turn
from looptck.wires.openai_chat import OPENAI_CHAT
from meta.kit.steady import STEADY
from meta.wires.sse_reader import data_of, said

WEATHER = Call.of("weather", {"city": "Zürich"})
STOPS: tuple[Stop, ...] = ("end", "calls", "length", "content_filter")
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
FINISH = {"end": "stop", "calls": "tool_calls", "length": "length", "content_filter": "content_filter"}


def schema(name: str) -> Draft202012Validator:
    """The schema of what the service sends."""
    return Draft202012Validator(json.loads(fixture(f"wire-schemas/openai-chat.{name}.json").read_text("utf-8")))


RESPONSE, CHUNK = schema("response"), schema("chunk")


@pytest.fixture(name="natural")
def _natural(request: pytest.FixtureRequest) -> Framing:
    """A framing without the fields that only its name promises: no schema knows them."""
    framing: Framing = PRESETS[request.param]
    return framing.but(unknown_fields=False)


@pytest.mark.parametrize("natural", PRESETS, indirect=True)
@pytest.mark.parametrize("turn", TURNS)
def test_every_body_is_of_the_services_shape(turn: str, natural: Framing) -> None:
    """The plain reply of any turn, in any named framing, fits the schema of what the service sends."""
    body = OPENAI_CHAT.body(TURNS[turn].numbered(1), 1, natural)

    RESPONSE.validate(body)
    assert FINISH[TURNS[turn].stopped] == body["choices"][0]["finish_reason"]


@pytest.mark.parametrize("natural", PRESETS, indirect=True)
@pytest.mark.parametrize("turn", TURNS)
def test_every_chunk_is_of_the_services_shape(turn: str, natural: Framing) -> None:
    """Each chunk of any turn, in any named framing, fits the schema, and only the end marker is no chunk."""
    *chunks, last = OPENAI_CHAT.events(TURNS[turn].numbered(1), 1, natural)

    for chunk in chunks:
        CHUNK.validate(chunk)
    assert natural.done == (last == "[DONE]")


def test_unknown_fields_are_unknown() -> None:
    """The framing with unknown fields has fields in body and chunks that no schema knows."""
    framing = PRESETS["unknown-fields"]

    assert not RESPONSE.is_valid(OPENAI_CHAT.body(TURNS["call"].numbered(1), 1, framing))
    assert not CHUNK.is_valid(OPENAI_CHAT.events(TURNS["call"].numbered(1), 1, framing)[0])


@pytest.mark.parametrize("turn", ["text", "refusal", "call", "text-and-calls"])
def test_the_natural_body(turn: str, snapshot: SnapshotAssertion) -> None:
    """The plain reply, as the service was seen to write it."""
    assert snapshot == OPENAI_CHAT.body(TURNS[turn].numbered(1), 1, NATURAL)


@pytest.mark.parametrize("turn", ["text", "refusal", "call", "text-and-calls"])
def test_the_natural_stream(turn: str, snapshot: SnapshotAssertion) -> None:
    """The streamed reply, byte for byte, as the service was seen to write it."""
    assert snapshot == NATURAL.dress(OPENAI_CHAT.events(TURNS[turn].numbered(1), 1, NATURAL)).decode()


def told(turn: Turn) -> dict[str, Any]:
    """What a reader of a turn's stream should come to."""
    numbered = {
        index: {"id": call.id, "name": call.tool, "arguments": call.arguments} for index, call in enumerate(turn.calls)
    }
    return {"text": turn.text, "refusal": turn.refusal, "calls": numbered, "finish": [FINISH[turn.stopped]]}


def read(turn: Turn, framing: Framing) -> dict[str, Any]:
    """A turn, dressed in a framing, cut into pieces, and read back."""
    stream = b"".join(framing.pieces(framing.dress(OPENAI_CHAT.events(turn, 1, framing))))
    return said(data_of(stream))


@pytest.mark.parametrize("framing", PRESETS)
@pytest.mark.parametrize("turn", TURNS)
def test_a_named_framing_changes_nothing(turn: str, framing: str) -> None:
    """Any turn in any named framing is read back as the turn that it was."""
    numbered = TURNS[turn].numbered(1)

    assert told(numbered) == read(numbered, PRESETS[framing])


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)
ANY_TURN = st.builds(
    lambda text, refusal, wanted, stop: turn(*text, *refusal, *wanted, stop=stop),
    st.lists(TEXTS, max_size=1),
    st.lists(st.builds(Refusal, TEXTS), max_size=1),
    st.lists(st.builds(Call, st.sampled_from(strategies.TOOLS), strategies.argument_texts()), max_size=4),
    st.none() | st.sampled_from(STOPS),
)
ANY_FRAMING = st.builds(
    lambda framing, newline, data_lines, mark, every: framing.but(
        newline=newline, data_lines=data_lines, mark=mark, every=every
    ),
    strategies.framings(),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0, 0, 1, 5]),
)


@STEADY
@given(ANY_TURN, ANY_FRAMING)
def test_any_framing_changes_nothing(turn: Turn, framing: Framing) -> None:
    """Any turn in any framing is read back as the turn that it was: no framing says anything of its own."""
    numbered = turn.numbered(1)

    assert told(numbered) == read(numbered, framing)


@STEADY
@given(strategies.turns_with_calls(), ANY_FRAMING)
def test_without_finish_only_the_reason_is_gone(turn: Turn, framing: Framing) -> None:
    """A stream without finish says the whole turn, but not why it ended."""
    numbered = turn.numbered(1)
    kept = OPENAI_CHAT.without_finish(OPENAI_CHAT.events(numbered, 1, framing))

    assert {**told(numbered), "finish": []} == said(data_of(framing.dress(kept)))


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
def test_an_error_is_an_error_object(status: int) -> None:
    """An error has a message and a type; its other members may be null."""
    error = OPENAI_CHAT.error_body(status, "No.")["error"]

    assert ["message", "type", "param", "code"] == list(error)
    assert ("No.", True) == (error["message"], error["type"].endswith("_error"))


def test_ids_are_distinct() -> None:
    """Calls that a script gives no id have one of their own, in any turn and at any position."""
    many = calls(*[Call("ping")] * 60)
    ids = [call.id for n in (1, 2, 11) for call in many.numbered(n).calls]

    assert len(ids) == len(set(ids))
    assert "call_1a" == ids[0]


def test_an_id_that_was_given_stays() -> None:
    """A call that a script gives an id keeps it."""
    assert ["x", "call_3b"] == [call.id for call in calls(Call("ping", id="x"), Call("ping")).numbered(3).calls]
