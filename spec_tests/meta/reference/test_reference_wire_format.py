"""What goes over the wire, byte for byte: a change of it must be seen and wanted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
import pytest
import respx

from looptck_reference import CORE, PROMPTY_SPEC, Agent, Dialect, Runner, Tool
from meta.reference.reference_replies import CHAT, EVENT_STREAM, QUESTION, TEXT_STREAM, TOOL_STREAM, URL, call, plain

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


def test_request_head(snapshot: SnapshotAssertion) -> None:
    """Address and headers of a request."""
    with respx.mock, Runner(URL + "/", "secret") as runner:
        route = respx.post(CHAT).respond(json=plain("x"))
        runner.run(Agent("model-1", [QUESTION]))
        request = route.calls.last.request

    headers = {name: value for name, value in request.headers.items() if name not in {"user-agent", "accept-encoding"}}
    assert snapshot == {"method": request.method, "url": str(request.url), "headers": headers}
