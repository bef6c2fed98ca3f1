"""A loop that takes an answer only by a call of its own tool: what it is told, and how its requests are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.provider.gates import tool_began
from looptck.provider.http import HttpRequest
from looptck.provider.mock_run import MockRun
from looptck.provider.script import Hold, Script, Step, step
from looptck.provider.toolbox import Toolbox
from looptck.values.answer_tool import AnswerTool
from looptck.values.history import Answered, Asked, Offered, Request, Said
from looptck.values.transcript import Received
from looptck.values.turns import Call, Refusal, Text, Thinking, Turn, calls, refuses, says, turn
from looptck.wires import WIRES
from meta.provider.mock_runs import parsed_reply

ANSWER = AnswerTool("final_answer", "answer", {"sure": True})
WORDS = 'He said: "Ünder 20 \\ degrees."'
PARAMETERS = {"type": "object", "properties": {"answer": {"type": "string"}}}
BODIES: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "messages": [{"role": "user", "content": "Go."}],
        "tools": [{"type": "function", "function": {"name": "final_answer", "parameters": PARAMETERS}}],
        "tool_choice": "required",
    },
    "openai-responses": {
        "input": [{"role": "user", "content": "Go."}],
        "tools": [{"type": "function", "name": "final_answer", "parameters": PARAMETERS, "strict": False}],
        "tool_choice": "required",
    },
    "anthropic-messages": {
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "Go."}],
        "tools": [{"name": "final_answer", "input_schema": PARAMETERS}],
        "tool_choice": {"type": "any"},
    },
}
CELLS = [pytest.param(wire, stream, id=f"{wire}-{stream}") for wire in WIRES for stream in (False, True)]


def spoken(wire: str, what: Any, *, stream: bool = False, **changes: Any) -> tuple[Turn, MockRun]:
    """The turn with which a service answers the first request, and the run."""
    run = MockRun(WIRES[wire], Script((step(what),)), Toolbox())
    run.opened("/c1")
    run.answer_tool = ANSWER
    body = {"model": "m", **BODIES[wire], "stream": stream, **changes}
    headers = {"anthropic-version": "2023-06-01", "content-type": "application/json"}
    raw = json.dumps({name: value for name, value in body.items() if value is not None}).encode()
    reply = run.answer(HttpRequest("POST", f"/c1/v1{WIRES[wire].route}", headers, raw))
    assert reply is not None
    assert run.broken is None
    if reply.sent:
        reply.sent()
    return WIRES[wire].turn(parsed_reply(reply)[2].decode(), stream), run


@pytest.mark.parametrize(("wire", "stream"), CELLS)
def test_an_answer_is_said_as_the_call(wire: str, stream: bool) -> None:
    """The service says the text as a call with all arguments, and the transcript has the text."""
    said, run = spoken(wire, says(WORDS), stream=stream)

    assert [("final_answer", {"sure": True, "answer": WORDS})] == [
        (call.tool, json.loads(call.arguments)) for call in said.calls
    ]
    assert ("calls", None) == (said.stopped, said.text)
    assert {1: says(WORDS)} == run.turns


@pytest.mark.parametrize(("wire", "stream"), CELLS)
def test_without_the_tool_it_is_a_text(wire: str, stream: bool) -> None:
    """A request that does not offer the tool, such as the last one before a limit, gets the text."""
    said, _ = spoken(wire, says(WORDS), stream=stream, tools=None, tool_choice=None)

    assert (WORDS, ()) == (said.text, said.calls)


@pytest.mark.parametrize("wire", WIRES)
def test_the_tool_is_none_of_the_request(wire: str) -> None:
    """The transcript's request offers nothing: the tool is none of the case."""
    _, run = spoken(wire, says(WORDS))

    assert [()] == [event.request.tools for event in run.transcript.events if isinstance(event, Received)]


def test_a_cut_answer_is_a_cut_call() -> None:
    """Where the token limit cuts the text, it cuts the arguments."""
    found = ANSWER.spoken(says("It is wa", stop="length"))

    assert Turn((Call("final_answer", '{"sure":true,"answer":"It is wa'),), "length") == found


@pytest.mark.parametrize(
    "other",
    [
        calls(Call.of("weather"), text="I look."),
        refuses("No."),
        turn(Refusal("No."), stop="refusal"),
        says("No.", stop="refusal"),
        says("So far.", stop="pause"),
        Turn((), "length"),
    ],
)
def test_what_is_no_answer_stays(other: Turn) -> None:
    """Turns with calls, refusals, pauses, and nothing at all that was cut."""
    assert other == ANSWER.spoken(other)


def test_thinking_stays_before_the_call() -> None:
    """Of the pieces of an answer only the texts become the call; an empty one is a call too."""
    found = ANSWER.spoken(turn(Thinking("Hm."), "It is ", Text("warm.")))

    assert Turn((Thinking("Hm."), ANSWER.call("It is warm."))) == found
    assert Turn((ANSWER.call(""),)) == ANSWER.spoken(Turn())


def test_an_earlier_answer_is_read_as_a_text() -> None:
    """Its call is what the assistant has said, its result is left out, and other calls stay."""
    said = ANSWER.call("It is warm.")
    items = (
        Said("user", "Go."),
        Asked("a", "weather", "{}"),
        Answered("a", "warm"),
        Asked("b", said.tool, said.arguments),
        Answered("b", "ok"),
        Asked("c", said.tool, "{broken"),
    )
    tools = (Offered("weather", "", {}), Offered("final_answer", "", {}))
    read = ANSWER.read(Request("m", stream=False, items=items, tools=tools))

    wanted = (*items[:3], Said("assistant", "It is warm."), Said("assistant", "{broken"))
    assert (wanted, tools[:1]) == (read.items, read.tools)


@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_is_held_in_the_answer(wire: str) -> None:
    """A hold behind some text of the answer is behind that text in the arguments."""
    gate = tool_began("weather")
    gate.patience = 0.0
    held = Step(says("It is warm in Paris today."), holds=(Hold(gate, "warm"),))
    run = MockRun(WIRES[wire], Script((held,)), Toolbox())
    run.opened("/c1")
    run.answer_tool = ANSWER
    body = {"model": "m", **BODIES[wire], "stream": True}
    reply = run.answer(
        HttpRequest("POST", f"/c1/v1{WIRES[wire].route}", {"anthropic-version": "x"}, json.dumps(body).encode())
    )
    assert reply is not None
    place = reply.parts.index(gate)
    before = b"".join(part for part in reply.parts[:place] if isinstance(part, bytes))

    assert (True, False) == (b"warm" in before, b"today" in before)
