"""The ids of requests: each reply of the model names its request in a header, as the real services do."""

from __future__ import annotations

import pytest

from looptck.catalogue.dialects import dialect
from looptck.provider import faults
from looptck.provider.mock_run import MockRun
from looptck.provider.script import Recorded, Script, Step, step
from looptck.provider.toolbox import Toolbox
from looptck.values.turns import Turn, says
from looptck.wires import WIRES, Wire
from looptck.wires.spoken import spoken
from meta.mock.clients import body
from meta.provider.mock_runs import STREAMS, mock_run, parsed_reply, reply

HEADERS = {"openai-chat": "x-request-id", "openai-responses": "x-request-id", "anthropic-messages": "request-id"}


def _ids(wire: Wire, *steps: Turn, header: str) -> list[str | None]:
    """The ids in the replies to as many requests as there are steps, plain ones and streams."""
    played = MockRun(wire, Script(tuple(step(one) for one in steps), None), Toolbox({}))
    asked = [body(wire.name, "Hi.", stream=n % 2 == 1) for n in range(len(steps))]
    return [parsed_reply(reply(played, one, f"/v1{wire.route}"))[1].get(header) for one in asked]


@pytest.mark.parametrize("name", HEADERS)
def test_each_reply_names_its_request(name: str) -> None:
    """Plain replies and streams, each with an id of its own."""
    assert ["req_looptck0000000000000001", "req_looptck0000000000000002"] == _ids(
        WIRES[name], says("One."), says("Two."), header=HEADERS[name]
    )


def test_an_error_names_it_as_its_body_does() -> None:
    """The header has the id of the body."""
    status, headers, raw = parsed_reply(
        reply(
            MockRun(WIRES["anthropic-messages"], Script((Step(None, fault=faults.HttpError(529)),), None), Toolbox({})),
            body("anthropic-messages", "Hi."),
            "/v1/messages",
        )
    )

    assert status == 529
    assert b'"request_id":"%b"' % headers["request-id"].encode() in raw


def test_a_recorded_id_stays() -> None:
    """A recorded reply that names its request keeps that name."""
    kept = Recorded(200, (("content-type", "application/json"), ("x-request-id", "req_1")), b"{}", (2,))

    sent = reply(mock_run(Step(says("One."), recorded=kept))).parts[0]

    assert isinstance(sent, bytes)
    assert [b"x-request-id: req_1"] == [line for line in sent.split(b"\r\n") if line.startswith(b"x-request-id")]


def test_only_a_request_of_the_model_has_one() -> None:
    """The list of models is no reply of the model."""
    assert "x-request-id" not in parsed_reply(reply(mock_run(says("One.")), path="/v1/models", method="GET"))[1]


def test_a_stream_has_it_in_its_head() -> None:
    """Also where a gate holds the rest."""
    assert b"\r\nx-request-id: req_looptck" in reply(mock_run(says("One.")), STREAMS).parts[0]  # type: ignore[operator]


def test_a_compatible_server_gives_none() -> None:
    """Clients of such servers have to do without."""
    wire = spoken(WIRES["openai-chat"], dialect("vllm"))

    assert [None] == _ids(wire, says("One."), header="x-request-id")
