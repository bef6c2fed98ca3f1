"""What holds on every wire, plain and stream, sync and async."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest
import respx

from looptck_reference import (
    Agent,
    ProviderError,
    Stop,
    Tool,
    ToolCall,
)
from looptck_reference.kit.driver import Driver
from meta.reference.reference_driving import TOOL, case
from meta.reference.reference_provider import Body, Run, replies
from meta.reference.reference_replies import EVENT_STREAM, QUESTION
from meta.reference.reference_wires import CHAT, MESSAGES, PARIS, RESPONSES, SIDES, Side


@respx.mock
def test_text_is_forwarded_when_it_arrives(side: Side, run: Run, agent: Agent) -> None:
    """The caller has each piece of text before the next bytes are read."""
    heard: list[str] = []
    parts = [part for event in side.events("18°C") for part in (side.sse(event), lambda: heard.append("/"))]
    respx.post(side.url).mock(return_value=httpx.Response(200, headers=EVENT_STREAM, stream=Body(*parts)))

    answer = run(agent, side.wire, stream=True, on_text=heard.append)

    assert "18/°C" == "".join(heard).strip("/")
    assert "18°C" == answer.text


@respx.mock
def test_a_json_body_for_a_stream_is_read(side: Side, run: Run, agent: Agent) -> None:
    """A server that does not stream answers all the same, and the caller gets its text in one piece."""
    replies(side.body("", PARIS, stream=False), side.body("18 °C", stream=False), url=side.url)
    heard: list[str] = []

    assert "18 °C" == run(agent, side.wire, stream=True, on_text=heard.append).text
    assert ["18 °C"] == heard


@respx.mock
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("side", [MESSAGES, RESPONSES], ids=lambda side: side.name)
def test_a_refusal_runs_nothing(side: Side, run: Run, agent: Agent, ran: list[object], stream: bool) -> None:
    """Its text is the answer, and its calls are nobody's."""
    replies(side.body("no", PARIS, stop=Stop.REFUSAL, stream=stream), url=side.url)

    answer = run(agent, side.wire, stream=stream)

    assert ("no", Stop.REFUSAL, []) == (answer.text, answer.stop, ran)


@respx.mock
@pytest.mark.parametrize("stream", [False, True])
def test_http_errors(side: Side, run: Run, agent: Agent, stream: bool) -> None:
    """An HTTP error has status and the provider's words, and nothing is sent twice."""
    route = respx.post(side.url).respond(529, json={"type": "error", "error": {"type": "o", "message": "overloaded"}})

    with pytest.raises(ProviderError, match="overloaded") as caught:
        run(agent, side.wire, stream=stream)

    assert (529, 1) == (caught.value.status, route.call_count)


@respx.mock
@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("stream", [False, True])
def test_the_driver_speaks_every_wire(side: Side, mode: str, stream: bool) -> None:
    """A case names its wire, and the base URL is the same for all."""
    toolbox = respx.post(TOOL).respond(json={"value": "sunny"})
    replies(side.body("", PARIS, stream=stream), side.body("18 °C", stream=stream), url=side.url)
    driver, chunks = Driver(), list[Any]()
    made = case(wire=side.name, mode=mode, stream=stream)

    run_async = mode == "async"
    outcome = asyncio.run(driver.run_async(made, chunks.append)) if run_async else driver.run(made, chunks.append)

    assert {"kind": "value", "text": "18 °C", "stop": "end"}.items() <= outcome.items()
    assert {"arguments": {"city": "Paris"}} == json.loads(toolbox.calls.last.request.content)
    assert ("18 °C" if stream else "") == "".join(told for told in chunks if isinstance(told, str))


def test_tools_are_left_out_where_there_are_none(side: Side) -> None:
    """No empty list of them."""
    assert "tools" not in side.wire.request(Agent("m", [QUESTION]), [QUESTION], stream=False)
    assert "tools" in side.wire.request(Agent("m", [QUESTION], [Tool("ping")]), [QUESTION], stream=False)


@pytest.mark.parametrize("size", [10, 1000])
def test_no_byte_is_parsed_twice(side: Side, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser reads each event once and never the arguments so far, so the work grows as the stream does."""
    work: list[int] = []

    class Counting(json.JSONDecoder):
        def decode(self, s: str, *more: Any) -> Any:
            work.append(len(s))
            return super().decode(s, *more)

    monkeypatch.setattr("looptck_reference.wires.events.DECODER", Counting())
    arguments = json.dumps({"text": "1234" * size})
    events = side.events(
        "", ToolCall("a", "x", arguments), cut=lambda text: [text[at : at + 5] for at in range(0, len(text), 5)]
    )

    turn = side.turn_of(*events)

    assert arguments == turn.calls[0].arguments
    assert len(events) == len(work)


def test_the_driver_claims_every_wire() -> None:
    """By the names that the kit has for them."""
    assert sorted(side.name for side in SIDES) == Driver().start()["wires"]
    assert CHAT.wire is Driver.wires["openai-chat"]
