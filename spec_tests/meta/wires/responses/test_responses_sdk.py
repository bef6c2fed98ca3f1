"""What the models of OpenAI's SDK for Responses know of errors, and what they do not know."""

from __future__ import annotations

from typing import get_args

import pytest
from openai.types.responses import Response

from looptck.values.framing import DEFAULT, PRESETS
from looptck.values.turns import Turn
from looptck.wires.openai_responses import OPENAI_RESPONSES
from meta.wires.responses.samples import KNOWN, TURNS
from meta.wires.responses.sdk import EVENTS, by_type, not_declared, objects, of_events
from meta.wires.strict_models import undeclared


@pytest.mark.parametrize("sent", [0, 2, 7])
def test_the_models_know_an_error(sent: int) -> None:
    """An error inside a stream and the response that failed of it are known."""
    before = OPENAI_RESPONSES.events(KNOWN["text-and-calls"].numbered(1), 1, DEFAULT)[:sent]

    assert {} == of_events(OPENAI_RESPONSES.error_events(before, "Down."))


def test_only_custom_calls_have_a_status_that_is_not_declared() -> None:
    """Of all items, the recorded custom calls alone have a status that their model does not name."""
    everything = Turn(tuple(piece for turn in KNOWN.values() for piece in turn.pieces)).numbered(1)
    body = OPENAI_RESPONSES.body(everything, 1, DEFAULT)
    found = undeclared(Response.model_validate(body), body)

    assert {"custom_tool_call"} == {
        body["output"][int(p.split("/")[2])]["type"] for p in found if p.endswith("/status")
    }


def test_unknown_fields_are_unknown() -> None:
    """The framing with unknown fields has fields in response, items and every event that no model knows."""
    framing = PRESETS["unknown-fields"]
    numbered = TURNS["call"].numbered(1)
    found = of_events(OPENAI_RESPONSES.events(numbered, 1, framing))

    assert ["/output/0/x_unknown", "/x_unknown"] == not_declared(Response, OPENAI_RESPONSES.body(numbered, 1, framing))
    assert {event["type"] for event in objects(OPENAI_RESPONSES.events(numbered, 1, framing))} == found.keys()


@pytest.mark.parametrize("kind", ["response.x_unknown", "x_unknown"])
def test_unknown_kinds_are_unknown(kind: str) -> None:
    """The types of the unknown events and items are in no model."""
    assert kind not in EVENTS
    assert kind not in dict(by_type(get_args(Response.model_fields["output"].annotation)[0]))
