"""Clients that leave, streams in which nothing happens, and runs that fail in the middle."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from looptck_reference.server import TODAY, Callback, PythonLimits
from looptck_reference.server.entry import CODE_TOOL
from meta.reference.server.hand_clock import HandClock
from meta.reference.server.live import LiveStream
from meta.reference.server.serving import Gate, Json, World, call, event, names, text_of, turn

CALL = call("weather", {"city": "Paris"})


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "plain"])
def test_a_client_that_leaves_stops_its_run(world: Callable[..., World], stream: bool) -> None:
    """The tool that runs is stopped, no other runs, and nothing is stored."""
    started, stopped = asyncio.Event(), []

    async def hang() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(True)

    here = world(turn(None, call("hang")), turn("Done."), callbacks=(Callback("hang", hang),))

    async def leave() -> None:
        client = LiveStream(here.app, stream=stream, session_id="s")
        await asyncio.wait_for(started.wait(), 10)
        await client.leave()

    here.run(leave())

    assert ([True], 1, 0, 0) == (stopped, len(here.outside.asked), here.simulator.runs, len(here.simulator.sessions))


def test_a_client_that_leaves_stops_an_inference(world: Callable[..., World]) -> None:
    """The model is not waited for."""
    here = world(turn("Done."))

    async def leave() -> None:
        here.outside.gate = Gate()
        client = LiveStream(here.app)
        await asyncio.wait_for(here.outside.gate.reached.wait(), 10)
        await client.leave()

    here.run(leave())

    assert (0, 0) == (here.simulator.runs, len(here.simulator.sessions))


def test_a_client_that_leaves_ends_a_program(
    world: Callable[..., World], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And its directory is gone."""
    runs, pipe = tmp_path / "runs", tmp_path / "pipe"
    runs.mkdir()
    os.mkfifo(pipe)
    monkeypatch.setattr(tempfile, "tempdir", str(runs))
    code = f"import os\nwith open({str(pipe)!r}, 'w') as pipe: pipe.write(str(os.getpid()))\nwhile True: pass"
    here = world(turn(None, call(CODE_TOOL, {"code": code})), code=True, python=PythonLimits(seconds=20))

    async def leave() -> int:
        client = LiveStream(here.app, enable_code_execution=True)
        process = int(await asyncio.to_thread(pipe.read_text))
        assert [True] == [one.is_dir() for one in runs.iterdir()]
        await client.leave()
        return process

    process = here.run(leave())

    assert [] == list(runs.iterdir())
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_a_stream_begins_while_its_tool_runs(world: Callable[..., World]) -> None:
    """Status, text and `calling` arrive; what comes behind the tool waits for it."""
    here = world(turn("Let me see.", CALL), turn("Done."), dialect=TODAY)

    async def watch() -> tuple[list[str], list[str]]:
        held, gate = asyncio.Event(), asyncio.Event()

        async def hold(body: Json) -> httpx.Response:
            held.set()
            await gate.wait()
            return httpx.Response(200, text="18")

        here.outside.dispatch = hold
        client = LiveStream(here.app)
        await asyncio.wait_for(held.wait(), 10)
        early = [event(block) for block in await client.so_far()]
        gate.set()
        return [text_of(early), *names(early)], names(await client.rest())

    assert (["Let me see.", "calling"], ["complete", "[DONE]"]) == here.run(watch())


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "plain"])
def test_a_server_that_stops_tells_its_clients(world: Callable[..., World], stream: bool) -> None:
    """Each stream ends explicitly, whatever its run waits for; nothing is stored, and no run begins."""
    here = world(turn(None, CALL), turn("Done."))

    async def stop() -> tuple[list[tuple[str | None, Any]], int]:
        held = asyncio.Event()

        async def hold(body: Json) -> httpx.Response:
            held.set()
            await asyncio.Event().wait()
            raise AssertionError

        here.outside.dispatch = hold
        client = LiveStream(here.app, stream=stream, session_id="s")
        await asyncio.wait_for(held.wait(), 10)
        here.simulator.stop()
        if stream:
            return await client.rest(), len(here.outside.asked)
        return [(None, json.loads(await client.block() or ""))], len(here.outside.asked)

    told, asked = here.run(stop())

    errors = [data["error"]["code"] for _, data in told if "error" in data]
    assert (["stopping"], ["calling", "[DONE]"] if stream else []) == (errors, names(told))
    assert (1, 503, 0, 0) == (asked, here.chat().status_code, here.simulator.runs, len(here.simulator.sessions))


def test_a_silent_stream_is_kept_alive(world: Callable[..., World]) -> None:
    """By a comment every ten seconds, between which the events arrive whole."""
    clock = HandClock()
    here = world(turn("Done."), clock=clock)

    async def wait() -> tuple[list[str | None], list[str]]:
        here.outside.gate = Gate()
        client = LiveStream(here.app)
        silent = [await client.block()][1:]
        for _ in range(2):
            await clock.waits(10)
            clock.advance(10)
            silent.append(await client.block())
        here.outside.gate.opened.set()
        rest = []
        while (block := await client.block()) is not None:
            rest.append(block)
        return silent, rest

    silent, rest = here.run(wait())

    assert ([": keep-alive", ": keep-alive"], "data: [DONE]") == (silent, rest[-1])


@pytest.mark.parametrize(
    ("reply", "status", "words"),
    [
        (httpx.Response(500, json={"error": {"message": "boom"}}), 502, "the model answered 500: boom"),
        (httpx.Response(429, json={"error": {"message": "slow down"}}), 429, "the model answered 429: slow down"),
        (httpx.Response(200, text="<html>"), 502, "reply is not JSON"),
        (httpx.Response(200, json=[]), 502, "not an object"),
        (httpx.Response(200, json={"choices": []}), 502, "no choice"),
        (httpx.Response(200, json={"error": {"message": "boom"}}), 502, "boom"),
    ],
)
def test_a_model_that_fails_ends_the_run(
    world: Callable[..., World], reply: httpx.Response, status: int, words: str
) -> None:
    """With its own words, also in the middle."""
    response = world(turn(None, CALL), reply).chat()

    assert (status, "upstream") == (response.status_code, response.json()["error"]["code"])
    assert words in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("path", "last"),
    [("/v1/chat/completions", "[DONE]"), ("/v1/messages", "error"), ("/v1/responses", "response.failed")],
)
def test_a_stream_whose_model_fails_ends_explicitly(world: Callable[..., World], path: str, last: str) -> None:
    """With the error that its API has a word for."""
    here = world(turn(None, CALL), httpx.Response(500))
    body: Json = {"messages": [{"role": "user", "content": "?"}], "max_tokens": 9, "input": "?"}

    async def read() -> list[str]:
        return names(await LiveStream(here.app, path=path, **({**body, "tools": []})).rest())

    assert ["calling", "complete", last] == [one for one in here.run(read()) if one in {"calling", "complete", last}]


def test_a_model_that_is_not_there_ends_the_run(world: Callable[..., World]) -> None:
    """Where it should be is not the client's business."""

    async def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError(f"nobody at {request.url}")

    here = world(transport=httpx.MockTransport(refuse))

    error = here.chat().json()["error"]

    assert ("the model cannot be reached: ConnectError", "upstream") == (error["message"], error["code"])


def test_a_huge_reply_of_the_model_is_refused(world: Callable[..., World]) -> None:
    """Not read to its end."""
    response = world(turn("x" * 2000), limits={"reply": 1000}).chat()

    assert (502, "the model answered more than 1000 bytes") == (
        response.status_code,
        response.json()["error"]["message"],
    )
