"""What a provider or a connection can do wrong, and that nothing is run of what was lost."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import respx

from looptck_reference import Agent, ConnectionLost, MalformedReply, ProviderError, StreamBroken
from meta.reference.reference_provider import Body, Run
from meta.reference.reference_replies import (
    CHAT,
    EVENT_STREAM,
    TEXT_STREAM,
    TOOL_STREAM,
)


@respx.mock
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"json": {"error": {"message": "bad key", "code": 1}}}, "bad key"),
        ({"json": {"error": "bad key"}}, "bad key"),
        ({"json": {"message": "bad key"}}, "bad key"),
        ({"json": {"detail": "bad key"}}, "bad key"),
        ({"text": "bad key"}, "bad key"),
        ({}, "Unauthorized"),
    ],
)
def test_http_errors(run: Run, agent: Agent, stream: bool, body: dict[str, Any], words: str) -> None:
    """An HTTP error has status and the provider's words, and nothing is sent twice."""
    route = respx.post(CHAT).respond(401, **body)

    with pytest.raises(ProviderError, match=words) as caught:
        run(agent, stream=stream)

    assert (401, 1) == (caught.value.status, route.call_count)


@respx.mock
@pytest.mark.parametrize("body", [{"json": {"error": "x" * 600}}, {"text": "x" * 600}])
def test_http_errors_are_told_in_short(run: Run, agent: Agent, body: dict[str, Any]) -> None:
    """The message names the address, and has so much of the provider's words as a person reads."""
    respx.post(CHAT).respond(500, **body)

    with pytest.raises(ProviderError) as caught:
        run(agent)

    assert f"POST {CHAT} answered 500: {'x' * 500}" == str(caught.value)


@respx.mock
@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'"x"'])
def test_bodies_that_are_no_reply(run: Run, agent: Agent, body: bytes) -> None:
    """What is no JSON object is no reply."""
    respx.post(CHAT).respond(content=body)

    with pytest.raises(MalformedReply):
        run(agent)


@respx.mock
@pytest.mark.parametrize("error", [httpx.ConnectError("refused"), httpx.ReadTimeout("slow")])
@pytest.mark.parametrize("stream", [False, True])
def test_no_connection(run: Run, agent: Agent, error: Exception, stream: bool) -> None:
    """A provider that cannot be reached is named."""
    respx.post(CHAT).mock(side_effect=error)

    with pytest.raises(ConnectionLost, match=CHAT):
        run(agent, stream=stream)


@respx.mock
def test_a_cut_stream(run: Run, agent: Agent, ran: list[object]) -> None:
    """A stream that breaks off runs nothing, even if its finish reason had come."""
    whole = TOOL_STREAM.removesuffix(b"data: [DONE]\n\n")
    body = Body(whole, httpx.RemoteProtocolError("cut"))
    respx.post(CHAT).mock(return_value=httpx.Response(200, headers=EVENT_STREAM, stream=body))

    with pytest.raises(StreamBroken, match="cut"):
        run(agent, stream=True)

    assert [] == ran


@respx.mock
def test_a_cut_behind_the_end_mark_costs_nothing(run: Run, agent: Agent) -> None:
    """Behind the end mark nothing can be missing."""
    body = Body(TEXT_STREAM, httpx.RemoteProtocolError("cut"))
    respx.post(CHAT).mock(return_value=httpx.Response(200, headers=EVENT_STREAM, stream=body))

    assert "18 °C" == run(agent, stream=True).text
