"""Posts to a dispatch URL, steps that depend on the request, and gates that wait for a client."""

from __future__ import annotations

import json

from looptck.provider.gates import phase_sent
from looptck.provider.http import HttpRequest
from looptck.provider.script import Step
from looptck.provider.toolbox import HangsUp
from looptck.values.transcript import Dispatched, ServerEvent, ToolBegan
from looptck.values.turns import says
from meta.provider.mock_runs import ASKS, mock_run, noted, parsed_reply, reply

CALL = {"name": "weather", "arguments": {"city": "Paris"}}


def test_an_endpoint_can_hang_up() -> None:
    """Nothing is sent, and the connection is closed."""
    answer = reply(mock_run(weather=[HangsUp()]), CALL, "/c1/dispatch")

    assert ([b""], True) == (answer.parts, answer.then_close)


def test_a_post_is_written_down_with_its_content_type() -> None:
    """The transcript has the content type of a post."""
    played = mock_run()

    played.answer(HttpRequest("POST", "/c1/dispatch", {"content-type": "text/plain"}, json.dumps(CALL).encode()))

    assert [Dispatched(CALL, "text/plain")] == [one.dispatched for one in noted(played, ToolBegan)]


def test_a_model_can_listen() -> None:
    """A step may choose its turn by the content of the request."""
    listens = Step(None, by=lambda body: says(f"You said {body['messages'][-1]['content']}"))

    _, _, body = parsed_reply(reply(mock_run(listens), ASKS))

    assert "You said Go." == json.loads(body)["choices"][0]["message"]["content"]


def test_a_gate_opens_when_a_phase_was_read() -> None:
    """The gate opens at the second event of the phase, and at no other event."""
    gate = phase_sent("complete", times=2)
    opened = []
    for value in ({"phase": "complete"}, {"phase": "calling"}, "[DONE]", {"phase": "complete"}):
        gate.watch(ServerEvent(0.0, "agentic_tool_call_progress", value))
        opened.append(gate.is_open)

    assert [False, False, False, True] == opened
