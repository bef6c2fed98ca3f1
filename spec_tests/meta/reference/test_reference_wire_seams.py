"""Seams of the wires: what a loop sends back, and when it does, is one small method each.

Each of these classes has one bug, which its docstring states; each test shows it beside the reference.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import respx

from looptck_reference import Decision, Loop, MessagesWire, ResponsesWire, Stop, ToolCall, ToolResult, Turn, Wire
from looptck_reference.loop.values import Json
from meta.reference import reference_messages as messages
from meta.reference import reference_responses as responses
from meta.reference.reference_driving import asked, ran, told
from meta.reference.reference_wires import MESSAGES, PARIS, RESPONSES, SIDES, Side


class Split(MessagesWire):
    """Sends each result in a message of its own."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        together = super().results
        return [message for result in results for message in together([result])]


class Chatty(MessagesWire):
    """Says something before the results."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        [message] = super().results(results)
        return [{**message, "content": [messages.text("Here:"), *message["content"]]}]


def without(turn: Turn, kind: str) -> Turn:
    """A turn that has lost its blocks or items of one kind."""
    return replace(turn, content=tuple(one for one in turn.content if one["type"] != kind))


class Textless(MessagesWire):
    """Does not send back what was said beside the calls."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(without(turn, "text"))


class Thoughtless(MessagesWire):
    """Does not send back thinking."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(without(turn, "thinking"))


class Uncensored(MessagesWire):
    """Does not send back thinking that nobody can read."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(without(turn, "redacted_thinking"))


class Forging(MessagesWire):
    """Changes signatures."""

    def echo(self, turn: Turn) -> list[Json]:
        forged = [{**one, "signature": "forged"} if "signature" in one else one for one in turn.content]
        return super().echo(replace(turn, content=tuple(forged)))


class Unreasonable(ResponsesWire):
    """Does not send back reasoning."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(without(turn, "reasoning"))


class Forgetful(ResponsesWire):
    """Does not send back calls."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(without(turn, "function_call"))


class Misaddressed(ResponsesWire):
    """Answers under the item's id."""

    def call(self, item: Json) -> ToolCall:
        return replace(super().call(item), id=item["id"])


BLOCKS = [messages.THINKING, messages.REDACTED, messages.text("I look."), messages.tool_use(), messages.tool_use("b")]
ITEMS = [responses.REASONING, responses.function_call()]


def made_of(side: Side, *, stream: bool) -> Json | bytes:
    """A reply with these blocks or items."""
    if side is MESSAGES:
        events = [event for at, one in enumerate(BLOCKS) for event in (messages.start(at, one), messages.stop(at))]
        body = messages.sse(*messages.stream(*events, stop="tool_use"))
        return body if stream else messages.message(*BLOCKS, stop="tool_use")
    reply = responses.response(*ITEMS)
    events = [responses.done(at, one) for at, one in enumerate(ITEMS)]
    return responses.sse(*responses.stream(reply, *events)) if stream else reply


def seen(side: Side, body: Json) -> Any:
    """What a request says behind the question: results by their ids, all else by its kind, and signatures."""
    if side is MESSAGES:
        return [
            [block.get("tool_use_id") or block.get("signature") or block["type"] for block in message["content"]]
            for message in body["messages"][1:]
        ]
    return [item["call_id"] if item["type"].endswith("_output") else item["type"] for item in body["input"][1:]]


SIGNED, REDACTED, TEXT = messages.THINKING["signature"], "redacted_thinking", "text"
CALLS, ANSWERS = ["tool_use", "tool_use"], ["toolu_1", "b"]


@respx.mock
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("broken", "history"),
    [
        (MessagesWire, [[SIGNED, REDACTED, TEXT, *CALLS], ANSWERS]),
        (Split, [[SIGNED, REDACTED, TEXT, *CALLS], ["toolu_1"], ["b"]]),
        (Chatty, [[SIGNED, REDACTED, TEXT, *CALLS], [TEXT, *ANSWERS]]),
        (Textless, [[SIGNED, REDACTED, *CALLS], ANSWERS]),
        (Thoughtless, [[REDACTED, TEXT, *CALLS], ANSWERS]),
        (Uncensored, [[SIGNED, TEXT, *CALLS], ANSWERS]),
        (Forging, [["forged", REDACTED, TEXT, *CALLS], ANSWERS]),
        (ResponsesWire, ["reasoning", "function_call", "call_1"]),
        (Unreasonable, ["function_call", "call_1"]),
        (Forgetful, ["reasoning", "call_1"]),
        (Misaddressed, ["reasoning", "function_call", "fc_call_1"]),
    ],
)
def test_histories_can_be_broken(broken: type[Wire], history: Any, stream: bool) -> None:
    """The seams `echo`, `results` and `call` show in the next request, whether the turn was streamed or not."""
    side = MESSAGES if issubclass(broken, MessagesWire) else RESPONSES

    sent = asked(side, made_of(side, stream=stream), side.body("x", stream=stream), wire=broken(), stream=stream)

    assert history == seen(side, sent[1])


class Trusting(Loop):
    """Runs whatever was called: cut, refused or ended."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.RUN if turn.calls else Decision.ANSWER


class Breathless(Loop):
    """Takes a pause for the end."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.ANSWER if turn.stop is Stop.PAUSE else super().decide(turn)


class Picky(Loop):
    """Knows no call without arguments."""

    def parse_arguments(self, text: str) -> Json:
        arguments: Json = json.loads(text)
        return arguments


@respx.mock
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("side", "stop"),
    [
        (MESSAGES, Stop.LENGTH),
        (MESSAGES, Stop.REFUSAL),
        (MESSAGES, Stop.END),
        (RESPONSES, Stop.LENGTH),
        (RESPONSES, Stop.CONTENT_FILTER),
        (RESPONSES, Stop.REFUSAL),
    ],
)
def test_calls_that_do_not_count_can_be_run(side: Side, stop: Stop, stream: bool) -> None:
    """The seam `decide`."""
    body = side.body("", PARIS, stop=stop, stream=stream)

    assert [] == ran(side, body, stream=stream)
    assert [{"city": "Paris"}] == ran(side, body, loop=Trusting, stream=stream)


@respx.mock
@pytest.mark.parametrize("stream", [False, True])
def test_a_pause_can_be_taken_for_the_end(stream: bool) -> None:
    """The seam `decide`; what the driver then tells is still a word of the protocol."""
    paused, ended = (
        MESSAGES.body(said, stop=stop, stream=stream) for said, stop in (("1", Stop.PAUSE), ("2", Stop.END))
    )

    assert "2" == told(MESSAGES, paused, ended, stream=stream)["text"]
    broken = told(MESSAGES, paused, ended, loop=Breathless, stream=stream)
    assert {"kind": "value", "text": "1", "stop": "end"} == broken


@respx.mock
@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
def test_a_call_without_arguments_can_crash(side: Side) -> None:
    """The seam `parse_arguments`: what models stream for no arguments is no text at all."""
    body = side.sse(*side.events("", ToolCall("a", "weather", "{}"), cut=lambda _: [""]))
    if side is RESPONSES:
        body = body.replace(b'"arguments": "{}"', b'"arguments": ""')

    assert [{}] == ran(side, body)
    assert [] == ran(side, body, loop=Picky)
