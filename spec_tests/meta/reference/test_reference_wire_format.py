"""What goes over the wire, byte for byte: a change of it must be seen and wanted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
import pytest
import respx

from looptck_reference import CORE, PROMPTY_SPEC, Agent, Dialect, Runner, Tool
from meta.reference import reference_messages as messages
from meta.reference import reference_responses as responses
from meta.reference.reference_provider import replies
from meta.reference.reference_replies import (
    CHAT,
    EVENT_STREAM,
    QUESTION,
    TEXT_STREAM,
    TOOL_STREAM,
    URL,
    Json,
    call,
    plain,
)
from meta.reference.reference_wires import MESSAGES, RESPONSES, SIDES, Side

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

WEATHER = Tool(
    "weather",
    "The weather of a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    handler=lambda **said: {"said": said, "sky": None, "wind": "5 km/h €"},
)


def requests(dialect: Dialect, *replies: httpx.Response, stream: bool = False) -> list[dict[str, object]]:
    """The bodies of the requests that a run with these replies sends."""
    with respx.mock, Runner(URL, "secret") as runner:
        route = respx.post(CHAT).mock(side_effect=replies)
        runner.run(Agent("model-1", [QUESTION], [WEATHER]), dialect=dialect, stream=stream)
        return [json.loads(one.request.content) for one in route.calls]


@pytest.mark.parametrize("dialect", [CORE, PROMPTY_SPEC], ids=["core", "prompty-spec"])
def test_two_parallel_calls(dialect: Dialect, snapshot: SnapshotAssertion) -> None:
    """A turn with text and two calls, and the question after it."""
    spaced = call("call_2", arguments='{ "city" : "K\\u00f6ln" }')
    turns = [plain("I look.", call(), spaced), plain("Done.")]

    sent = requests(dialect, *[httpx.Response(200, json=turn) for turn in turns])

    assert snapshot == sent


def test_a_stream(snapshot: SnapshotAssertion) -> None:
    """The same in a stream, where the request asks for events and usage."""
    streams = [httpx.Response(200, headers=EVENT_STREAM, content=body) for body in (TOOL_STREAM, TEXT_STREAM)]

    assert snapshot == requests(CORE, *streams, stream=True)


def test_faults(snapshot: SnapshotAssertion) -> None:
    """How the model reads about an unknown tool and about bad arguments."""
    turns = [plain(None, call("a", "nope", ""), call("b", "weather", "{")), plain("Sorry.")]

    sent = requests(CORE, *[httpx.Response(200, json=turn) for turn in turns])

    assert snapshot == sent[1]["messages"]


SYSTEM = {"role": "system", "content": "Be brief."}


def conversation(*, stream: bool) -> list[tuple[Side, list[Json | bytes]]]:
    """A turn of everything, and an answer, on each of the other wires."""
    if stream:
        blocks = messages.sse(
            *messages.stream(
                messages.start(0, messages.REDACTED),
                *messages.text_block(1, "I ", "look."),
                *messages.tool_block(2, '{"city":', '"Paris"}', caller={"type": "direct"}, toolset_name="browser"),
                *messages.tool_block(3, "{", call_id="toolu_2", name="nope"),
                stop="tool_use",
            )
        )
        reply = responses.response(responses.REASONING, responses.function_call(), responses.function_call("b", "{"))
        items = responses.sse(*responses.stream(reply))
        return [(MESSAGES, [blocks, MESSAGES.body("Done.")]), (RESPONSES, [items, RESPONSES.body("Done.")])]
    message = messages.message(
        messages.THINKING,
        messages.text("I look."),
        messages.SEARCH,
        messages.FOUND,
        messages.tool_use(),
        messages.tool_use("toolu_2", "nope"),
        stop="tool_use",
    )
    response = responses.response(
        responses.REASONING,
        responses.SEARCH,
        responses.text("I look.", phase="commentary"),
        responses.function_call(),
        responses.function_call("call_2", "{}", name="nope"),
    )
    return [
        (MESSAGES, [message, MESSAGES.body("Done.", stream=False)]),
        (RESPONSES, [response, RESPONSES.body("Done.", stream=False)]),
    ]


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("at", [0, 1], ids=["anthropic-messages", "openai-responses"])
def test_other_wires(at: int, stream: bool, snapshot: SnapshotAssertion) -> None:
    """Everything that a turn may hold, an unknown tool and a result, and the question after it."""
    side, bodies = conversation(stream=stream)[at]
    with respx.mock, Runner(URL, "secret", wire=side.wire) as runner:
        route = replies(*bodies, url=side.url)
        runner.run(Agent("model-1", [SYSTEM, QUESTION], [WEATHER]), stream=stream)
        sent = [json.loads(one.request.content) for one in route.calls]

    assert snapshot == sent


@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
def test_request_head(side: Side, snapshot: SnapshotAssertion) -> None:
    """Address and headers of a request."""
    with respx.mock, Runner(URL + "/", "secret", wire=side.wire) as runner:
        route = replies(side.body("x", stream=False), url=side.url)
        runner.run(Agent("model-1", [QUESTION]))
        request = route.calls.last.request

    headers = {name: value for name, value in request.headers.items() if name not in {"user-agent", "accept-encoding"}}
    assert snapshot == {"method": request.method, "url": str(request.url), "headers": headers}
