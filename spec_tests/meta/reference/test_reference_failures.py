"""What a provider or a connection can do wrong, and that nothing is run of what was lost."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
import respx

from looptck_reference import Agent, ConnectionLost, MalformedReply, ProviderError, StreamBroken, TurnCut
from meta.reference.reference_provider import Body, Run, replies
from meta.reference.reference_replies import (
    CHAT,
    EVENT_STREAM,
    TEXT_STREAM,
    TOOL_STREAM,
    call,
    piece,
    pieces,
    plain,
    sse,
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
@pytest.mark.parametrize("status", [301, 429, 500, 503, 529])
def test_no_status_is_retried(run: Run, agent: Agent, status: int) -> None:
    """Neither overload nor breakdown nor redirection makes the runner ask again."""
    route = respx.post(CHAT).respond(status, headers={"location": "http://elsewhere.test/"})

    with pytest.raises(ProviderError):
        run(agent)

    assert 1 == route.call_count


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
def test_a_cut_body(run: Run, agent: Agent, ran: list[object]) -> None:
    """A body that breaks off is an error, however much of it came."""
    body = Body(json.dumps(plain(None, call())).encode(), httpx.RemoteProtocolError("cut"))
    respx.post(CHAT).mock(return_value=httpx.Response(200, stream=body))

    with pytest.raises(ConnectionLost, match="cut"):
        run(agent)

    assert [] == ran


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


@respx.mock
@pytest.mark.parametrize(
    ("body", "error"),
    [
        (TOOL_STREAM.replace(b'"tool_calls"}', b'"length"}'), TurnCut),
        (TOOL_STREAM.replace(b'"tool_calls"}', b'"content_filter"}'), TurnCut),
        (TOOL_STREAM.replace(b'"tool_calls"}', b"null}"), StreamBroken),
        (TOOL_STREAM[: TOOL_STREAM.index(b"Paris")], StreamBroken),
        (sse(pieces(piece("{}", call_id="a", name="weather")), {"error": {"message": "overloaded"}}), ProviderError),
    ],
    ids=["length", "content-filter", "no-finish-reason", "short", "error"],
)
def test_a_lost_turn_runs_nothing(
    run: Run, agent: Agent, ran: list[object], body: bytes, error: type[Exception]
) -> None:
    """Whatever is wrong with a stream, no call of it is run."""
    replies(body)

    with pytest.raises(error):
        run(agent, stream=True)

    assert [] == ran
