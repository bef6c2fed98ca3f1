"""The reference's driver, held against the protocol's schemas."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import respx
from jsonschema import Draft202012Validator

from looptck_reference.kit.driver import Driver
from meta.reference import reference_driving
from meta.reference.reference_driving import TOOL
from meta.reference.reference_provider import replies
from meta.reference.reference_replies import CHAT, TEXT_STREAM, TOOL_STREAM, Json, call, plain

PROTOCOL = Path(__file__).parents[3] / "fixtures" / "protocol"

Run = Callable[[Json], tuple[Json, list[Any]]]


def schema(name: str) -> Draft202012Validator:
    """One direction of the protocol."""
    return Draft202012Validator(json.loads((PROTOCOL / f"{name}.schema.json").read_text("utf-8")))


TO_DRIVER, FROM_DRIVER = schema("to-driver"), schema("from-driver")


def case(**more: Any) -> Json:
    """A case, held against the protocol."""
    made = reference_driving.case(**more)
    TO_DRIVER.validate({"type": "run", "id": "1", "case": made})
    return made


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Run:
    """Run a case on a fresh driver in each mode; give outcome and chunks."""

    def go(case: Json) -> tuple[Json, list[Any]]:
        driver, chunks = Driver(), list[Any]()
        mode = {**case, "mode": request.param}
        asynchronous = request.param == "async"
        outcome = (
            asyncio.run(driver.run_async(mode, chunks.append)) if asynchronous else driver.run(mode, chunks.append)
        )
        FROM_DRIVER.validate({"type": "finished", "id": "1", "outcome": outcome})
        for told in chunks:
            if not isinstance(told, str):
                FROM_DRIVER.validate({"type": "event", "id": "1", "event": told})
        return outcome, chunks

    return go


def test_the_claim_is_legal() -> None:
    """The answer to the kit's greeting is what the protocol allows."""
    claim = Driver().start()

    FROM_DRIVER.validate({"type": "started", **claim})
    assert (
        ["anthropic-messages", "openai-chat", "openai-responses"],
        ["anthropic-loop", "prompty-agent-mode", "prompty-spec"],
    ) == (
        claim["wires"],
        claim["profiles"],
    )


@respx.mock
@pytest.mark.parametrize("stream", [False, True])
def test_a_value(run: Run, stream: bool) -> None:
    """The tool's URL is asked with the arguments, its value goes to the model, and text is sent as it comes."""
    toolbox = respx.post(TOOL).respond(json={"value": {"sky": "blue"}})
    chat = replies(*((TOOL_STREAM, TEXT_STREAM) if stream else (plain(None, call()), plain("18 °C"))))

    outcome, chunks = run(case(stream=stream))

    assert {"kind": "value", "text": "18 °C", "stop": "end"} == outcome
    texts = [told for told in chunks if isinstance(told, str)]
    events = [told for told in chunks if not isinstance(told, str)]
    pieces = [one["text"] for one in events if one["kind"] == "arguments"]
    told_call, told_result, told_end = (one for one in events if one["kind"] != "arguments")
    assert (["18 ", "°C"] if stream else []) == texts
    assert ({"city": "Paris"} if stream else None) == json.loads("".join(pieces) or "null")
    assert ("weather", {"city": "Paris"}) == (told_call["name"], json.loads(told_call["arguments"]))
    assert (told_call["call_id"], '{"sky": "blue"}', False) == (
        told_result["call_id"], told_result["result"], told_result["failed"],
    )  # fmt: skip
    assert {"kind": "end", "how": "value"} == told_end
    assert {"arguments": {"city": "Paris"}} == json.loads(toolbox.calls.last.request.content)
    assert '{"sky": "blue"}' == json.loads(chat.calls.last.request.content)["messages"][-1]["content"]


@respx.mock
def test_a_raising_tool_is_told_under_its_type(run: Run) -> None:
    """What the kit wants raised shows its type and message."""
    respx.post(TOOL).respond(json={"error": {"type": "Storm", "message": "too windy"}})
    chat = replies(plain(None, call()), plain("x"))

    run(case())

    told = json.loads(chat.calls.last.request.content)["messages"][-1]["content"]
    assert "Error: tool 'weather' failed: Storm: too windy" == told


OFFERED: Json = {"name": "weather", "kind": "function", "description": "", "parameters": {}, "url": None}


@respx.mock
@pytest.mark.parametrize(
    ("more", "reply", "reason", "error", "message"),
    [
        ({}, plain(None, call()), "tool", "Storm", "too windy"),
        ({}, plain(None, call(name="nope")), "unknown-tool", "ValueError",
         "No handler registered for tool: nope (kind: function)"),
        ({"tools": [OFFERED]}, plain(None, call()), "unknown-tool", "ValueError",
         "No handler registered for tool: weather (kind: function)"),
        ({}, plain(None, call(arguments="[")), "arguments", "BadArguments", "Expecting value"),
        ({}, plain(None, call(), finish="length"), "truncated", "TurnCut", "token limit"),
        ({"options": {"limit": 0}}, plain("x"), "limit", "RuntimeError", "Agent loop exceeded 0 iterations"),
        ({}, {"error": {"message": "overloaded"}}, "provider", "ProviderError", "overloaded"),
        ({"stream": True}, b"data: [DONE]\n\n", "stream", "StreamBroken", "finish_reason"),
    ],
)  # fmt: skip
def test_errors(run: Run, more: Json, reply: Json | bytes, reason: str, error: str, message: str) -> None:
    """Each way to fail has its reason, the error's own type name and its message."""
    respx.post(TOOL).respond(json={"error": {"type": "Storm", "message": "too windy"}})
    replies(reply)

    outcome, _ = run(case(profile="prompty-spec", **more))

    assert ("error", reason, error) == (outcome["kind"], outcome["reason"], outcome["type"])
    assert message in outcome["message"]


@respx.mock
@pytest.mark.parametrize(
    ("reply", "stop"),
    [
        (plain("x", finish="length"), "length"),
        (plain("x", finish="content_filter"), "content_filter"),
        (plain(None, refusal="x"), "refusal"),
        (plain("x", finish="tool_calls"), "end"),
    ],
)
def test_stops(run: Run, reply: Json, stop: str) -> None:
    """A value says why the loop ended."""
    replies(reply)

    assert {"kind": "value", "text": "x", "stop": stop} == run(case())[0]


@respx.mock
def test_an_unknown_profile_is_run_as_core(run: Run) -> None:
    """A profile that is not claimed is no reason to fail."""
    replies(plain(None, call(name="nope")), plain("x"))

    assert "x" == run(case(profile="someone-elses"))[0]["text"]


@respx.mock
def test_runs_overlap() -> None:
    """Two async runs of one driver do not share anything."""
    respx.post(TOOL).mock(side_effect=lambda sent: httpx.Response(200, json={"value": json.loads(sent.content)}))

    def model(sent: httpx.Request) -> httpx.Response:
        body = json.loads(sent.content)
        said = json.dumps({"who": body["model"]})
        last = body["messages"][-1]
        return httpx.Response(200, json=plain(None, call(arguments=said)) if last["role"] == "user" else
                              plain(last["content"]))  # fmt: skip

    respx.post(CHAT).mock(side_effect=model)
    driver = Driver()

    async def both() -> list[Json]:
        return await asyncio.gather(*[driver.run_async(case(model=name), print) for name in "ab"])

    assert ['{"arguments": {"who": "a"}}', '{"arguments": {"who": "b"}}'] == [
        outcome["text"] for outcome in asyncio.run(both())
    ]


@respx.mock
def test_stopping_closes_what_was_opened() -> None:
    """The client of the async runs is closed on their event loop, which still turns."""
    replies(plain("x"))
    driver = Driver()
    loop = asyncio.new_event_loop()
    turning = threading.Thread(target=loop.run_forever)
    turning.start()
    asyncio.run_coroutine_threadsafe(driver.run_async(case(mode="async"), print), loop).result()
    assert driver._async is not None

    driver.stop()

    loop.call_soon_threadsafe(loop.stop)
    turning.join()
    loop.close()
    assert driver._async.client.is_closed


@respx.mock
@pytest.mark.parametrize("asynchronous", [False, True])
def test_stopping_waits_for_no_event_loop_that_is_over(asynchronous: bool) -> None:
    """Where no async run was, or its event loop has ended, only the connections of the sync runs are closed."""
    replies(plain("x"))
    driver = Driver()
    if asynchronous:
        asyncio.run(driver.run_async(case(mode="async"), print))

    closed: list[bool] = []
    driver._posts.close = lambda: closed.append(True)  # type: ignore[method-assign]

    driver.stop()

    assert [True] == closed
