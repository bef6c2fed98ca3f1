"""The dispatch URL: what is sent, what counts as a result, and what a failure becomes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from looptck_reference.server import TODAY
from meta.reference.server.serving import DISPATCH, World, call, turn

CALL = call("weather", {"city": "Paris"})


def result(here: World, answer: Any) -> str:
    """What the model reads of this answer of the endpoint."""
    here.outside.dispatch = lambda _: answer
    here.chat()
    return str(here.outside.histories[1][-1]["content"])


def test_name_and_arguments_are_sent(world: Callable[..., World]) -> None:
    """Nothing else."""
    here = world(turn(None, CALL), turn("Done."))

    here.chat()

    (sent,) = here.outside.dispatched
    assert ("POST", DISPATCH, "application/json", {"name": "weather", "arguments": {"city": "Paris"}}) == (
        sent.method,
        str(sent.url),
        sent.headers["content-type"],
        json.loads(sent.content),
    )


@pytest.mark.parametrize("arguments", ['{"city":', "[1]", '"Paris"', "NaN"])
def test_arguments_that_are_no_object_are_not_sent(world: Callable[..., World], arguments: str) -> None:
    """The model is told."""
    here = world(turn(None, call("weather", arguments)), turn("Done."))

    here.chat()

    told = json.loads(here.outside.histories[1][-1]["content"])
    assert ([], "weather", True) == (here.outside.dispatched, told["tool"], "not a JSON object" in told["error"])


def test_arguments_that_are_no_object_go_as_text_today(world: Callable[..., World]) -> None:
    """The endpoint may make sense of them."""
    here = world(turn(None, call("weather", '{"city":')), turn("Done."), dialect=TODAY)

    here.chat()

    assert '{"city":' == json.loads(here.outside.dispatched[0].content)["arguments"]


def test_where_calls_go_is_not_the_request_s_to_say(world: Callable[..., World]) -> None:
    """The member is heeded by nobody."""
    here = world(turn(None, CALL), turn("Done."))

    here.chat(tool_dispatch_url="http://elsewhere.test/")

    assert [DISPATCH] == [str(sent.url) for sent in here.outside.dispatched]
    assert not any("tool_dispatch_url" in body for body in here.outside.asked)


def test_the_endpoint_learns_the_trace_and_not_the_key(world: Callable[..., World]) -> None:
    """The model gets both."""
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    here = world(turn(None, CALL), turn("Done."))

    here.chat(headers={"authorization": "Bearer mine", "traceparent": trace})

    sent = here.outside.dispatched[0].headers
    assert (trace, None) == (sent["traceparent"], sent.get("authorization"))
    assert (trace, "Bearer mine") == tuple(
        here.outside.asked_with[0][name] for name in ("traceparent", "authorization")
    )


@pytest.mark.parametrize(
    ("body", "content"),
    [
        ('{"content":"18"}', "18"),
        ("plain text", "plain text"),
        ('"quoted"', '"quoted"'),
        ('{"content":{"t":1}}', '{"content":{"t":1}}'),
        ('{"error":"x"}', '{"error":"x"}'),
        ("[1]", "[1]"),
        ("", ""),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_a_string_named_content_is_the_result_else_the_body(
    world: Callable[..., World], body: str, content: str
) -> None:
    """An object with another `content` is its own text, and so is anything that is no object."""
    here = world(turn(None, CALL), turn("Done."))

    assert content == result(here, httpx.Response(200, text=body))


def test_a_failure_is_told_to_the_model(world: Callable[..., World]) -> None:
    """The status and the URL; the run goes on."""
    here = world(turn(None, CALL), turn("Done."))

    text = result(here, httpx.Response(500))

    error = f"HTTP 500 Internal Server Error from tool callback URL: {DISPATCH}"
    assert {"error": error, "tool": "weather", "status": "failed"} == json.loads(text)


def test_secrets_of_the_url_are_not_told(world: Callable[..., World]) -> None:
    """Neither user and password nor the query."""
    here = world(turn(None, CALL), turn("Done."), dispatch_url="http://me:secret@tools.test/run?key=secret")

    assert "secret" not in result(here, httpx.Response(404))


def test_nobody_there_is_told_to_the_model(world: Callable[..., World]) -> None:
    """As any failure."""
    here = world(turn(None, CALL), turn("Done."))

    def refuse(body: Any) -> httpx.Response:
        raise httpx.ConnectError("refused")

    here.outside.dispatch = refuse
    here.chat()

    assert f"error sending request for url ({DISPATCH})" in here.outside.histories[1][-1]["content"]


def test_an_endpoint_that_hangs_ends_at_its_timeout(world: Callable[..., World]) -> None:
    """The model is told, and the run goes on."""
    here = world(turn(None, CALL), turn("Done."), limits={"dispatch_timeout": 0.01})

    async def hang(body: Any) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    here.outside.dispatch = hang
    response = here.chat()

    assert "Done." == response.json()["choices"][0]["message"]["content"]
    assert "no answer within 0.01 s" in here.outside.histories[1][-1]["content"]


def test_redirects_are_followed(world: Callable[..., World]) -> None:
    """A 307 keeps method and body."""
    here = world(turn(None, CALL), turn("Done."))
    here.outside.dispatch = lambda _: (
        httpx.Response(307, headers={"location": "/there"})
        if len(here.outside.dispatched) == 1
        else httpx.Response(200, text="there")
    )

    here.chat()

    assert "there" == here.outside.histories[1][-1]["content"]
    assert ["POST", "POST"] == [request.method for request in here.outside.dispatched]


def test_a_huge_result_is_not_read_to_its_end(world: Callable[..., World]) -> None:
    """Of 50 MB no more than the limit and the piece behind it."""
    here = world(turn(None, CALL), turn("Done."), limits={"tool_result": 100_000})
    sent = []

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(50):
            sent.append(1_000_000)
            yield b"x" * 1_000_000

    text = result(here, httpx.Response(200, content=pieces()))

    assert "the result is larger than 100000 bytes" == json.loads(text)["error"]
    assert [1_000_000] == sent
