"""What the encoder of Chat Completions writes: bodies and chunks that fit the service's schemas, errors and ids."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from looptck.catalogue.data import fixture
from looptck.spec import strategies
from looptck.values.framing import PRESETS, Framing
from looptck.values.turns import Call, Turn, calls
from looptck.wires.openai_chat import OPENAI_CHAT
from meta.kit.each import each
from meta.wires.all_wires import by_names
from meta.wires.chat.reader import said
from meta.wires.chat.samples import ANY_FRAMING, FINISH, TURNS, meant
from meta.wires.sse_reader import data_of


def schema(name: str) -> Draft202012Validator:
    """The schema of what the service sends."""
    return Draft202012Validator(json.loads(fixture(f"wire-schemas/openai-chat.{name}.json").read_text("utf-8")))


RESPONSE, CHUNK = schema("response"), schema("chunk")


KNOWN = {name: framing.but(unknown_fields=False) for name, framing in PRESETS.items()}
"""The named framings without the fields that only a name promises: no schema knows them."""


def test_every_body_fits_the_schema() -> None:
    """The plain reply of any turn, in any named framing, fits the schema of what the service sends."""

    def fits(turn: Turn, framing: Framing) -> None:
        body = OPENAI_CHAT.body(turn.numbered(1), 1, framing)

        RESPONSE.validate(body)
        assert FINISH[turn.stopped] == body["choices"][0]["finish_reason"]

    each(by_names(TURNS, KNOWN), fits)


def test_every_chunk_fits_the_schema() -> None:
    """Each chunk of any turn, in any named framing, fits the schema, and only the end marker is no chunk."""

    def fits(turn: Turn, framing: Framing) -> None:
        *chunks, last = OPENAI_CHAT.events(turn.numbered(1), 1, framing)

        for chunk in chunks:
            CHUNK.validate(chunk)
        assert framing.done == (last == "[DONE]")

    each(by_names(TURNS, KNOWN), fits)


def test_unknown_fields_are_unknown() -> None:
    """The framing with unknown fields has fields in body and chunks that no schema knows."""
    framing = PRESETS["unknown-fields"]

    assert not RESPONSE.is_valid(OPENAI_CHAT.body(TURNS["call"].numbered(1), 1, framing))
    assert not CHUNK.is_valid(OPENAI_CHAT.events(TURNS["call"].numbered(1), 1, framing)[0])


@given(strategies.turns_with_calls(), ANY_FRAMING)
def test_without_finish_only_the_reason_is_gone(turn: Turn, framing: Framing) -> None:
    """A stream without finish says the whole turn, but not why it ended."""
    numbered = turn.numbered(1)
    kept = OPENAI_CHAT.without_finish(OPENAI_CHAT.events(numbered, 1, framing))

    assert {**meant(numbered), "finish": []} == said(data_of(framing.encode(kept)))


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
