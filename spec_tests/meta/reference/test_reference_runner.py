"""The runners: the same behaviour for sync and async callers."""

from __future__ import annotations

import asyncio
import copy
import json

import httpx
import pytest
import respx

from looptck_reference import CORE, PROMPTY_SPEC, Agent, AsyncRunner, AsyncToolInSyncRun, Dialect, Runner, Stop, Tool
from meta.reference.reference_provider import Body, Run, replies, run_async, run_sync
from meta.reference.reference_replies import (
    CHAT,
    EVENT_STREAM,
    QUESTION,
    TEXT_STREAM,
    TOOL_STREAM,
    URL,
    call,
    delta,
    piece,
    pieces,
    plain,
    sse,
)


@respx.mock
@pytest.mark.parametrize("stream", [False, True])
def test_a_round_and_an_answer(run: Run, agent: Agent, ran: list[object], stream: bool) -> None:
    """The tool runs once with its arguments, the model sees the result, and its text is the answer."""
    bodies = (TOOL_STREAM, TEXT_STREAM) if stream else (plain(None, call()), plain("18 °C"))
    route = replies(*bodies)

    answer = run(agent, stream=stream)

    assert ("18 °C", Stop.END) == (answer.text, answer.stop)
    assert [{"city": "Paris"}] == ran
    assert "sunny" == json.loads(route.calls.last.request.content)["messages"][-1]["content"]


@respx.mock
def test_nothing_of_the_callers_is_changed(run: Run) -> None:
    """Messages, tools and inputs are as they were, so that a second run starts like the first."""
    messages, parameters, inputs = [QUESTION], {"type": "object"}, {"unit": "C"}
    before = copy.deepcopy((messages, parameters, inputs))
    tool = Tool("weather", parameters=parameters, handler=lambda **_: "sunny", bindings={"unit": "unit"})
    agent = Agent("m", messages, [tool], inputs)
    route = replies(*[plain(None, call()), plain("x")] * 2)

    run(agent)
    run(agent)

    assert before == (messages, parameters, inputs)
    assert route.calls[0].request.content == route.calls[2].request.content


@respx.mock
def test_text_is_forwarded_when_it_arrives(run: Run, agent: Agent) -> None:
    """The caller has each piece of text before the next bytes are read, and the usage behind it is read too."""
    heard: list[str] = []
    usage = {"choices": [], "usage": {"total_tokens": 3}}
    body = Body(
        sse(delta("18 "), done=False),
        lambda: heard.append("/"),
        sse(delta("°C", finish="stop"), done=False),
        lambda: heard.append("/"),
        sse(usage),
    )
    respx.post(CHAT).mock(return_value=httpx.Response(200, headers=EVENT_STREAM, stream=body))

    answer = run(agent, stream=True, on_text=heard.append)

    assert ["18 ", "/", "°C", "/"] == heard
    assert ("18 °C", ({"total_tokens": 3},)) == (answer.text, answer.usage)


NARRATED = sse(delta("I "), delta("look.", tool_calls=[piece("{}", call_id="a", name="weather")]), delta("!"),
               delta(finish="tool_calls"))  # fmt: skip
UNDECIDED = sse(delta(role="assistant"), pieces(piece("{}", call_id="a", name="weather")), delta("!"),
                delta(finish="tool_calls"))  # fmt: skip


@respx.mock
@pytest.mark.parametrize(
    ("dialect", "body", "heard"),
    [
        (CORE, NARRATED, ["I ", "look.", "!", "x"]),
        (CORE, UNDECIDED, ["!", "x"]),
        (PROMPTY_SPEC, NARRATED, ["I ", "x"]),
        (PROMPTY_SPEC, UNDECIDED, ["x"]),
    ],
)
def test_text_of_tool_turns(run: Run, agent: Agent, dialect: Dialect, body: bytes, heard: list[str]) -> None:
    """One dialect forwards all text; the other none of a turn that is known to call tools."""
    replies(body, sse(delta("x", finish="stop")))
    got: list[str] = []

    run(agent, dialect=dialect, stream=True, on_text=got.append)

    assert heard == got


@respx.mock
def test_text_beside_streamed_calls_is_echoed(run: Run, agent: Agent) -> None:
    """The model sees what it said beside its calls, also where the caller did not."""
    route = replies(NARRATED, TEXT_STREAM)

    run(agent, dialect=PROMPTY_SPEC, stream=True)

    assert "I look.!" == json.loads(route.calls.last.request.content)["messages"][1]["content"]


@respx.mock
def test_a_json_body_for_a_stream_is_read(run: Run, agent: Agent) -> None:
    """A server that does not stream answers all the same, and the caller gets its text in one piece."""
    replies(plain(None, call()), plain("18 °C"))
    heard: list[str] = []

    assert "18 °C" == run(agent, stream=True, on_text=heard.append).text
    assert ["18 °C"] == heard


@respx.mock
def test_a_tools_exception_reaches_the_caller_unchanged(run: Run) -> None:
    """Where the dialect propagates, the caller can catch what the tool raised."""
    error = KeyError("city")

    def weather(city: str) -> None:
        assert "Paris" == city
        raise error

    replies(plain(None, call()))

    with pytest.raises(KeyError) as caught:
        run(Agent("m", [QUESTION], [Tool("weather", handler=weather)]), dialect=PROMPTY_SPEC)

    assert error is caught.value


@respx.mock
def test_arguments_that_do_not_fit_are_the_tools_fault(run: Run) -> None:
    """A made-up argument is told to the model as the exception that calling the tool gave."""
    route = replies(plain(None, call(arguments='{"town":"Paris"}')), plain("x"))

    run(Agent("m", [QUESTION], [Tool("weather", handler=lambda city: city)]))

    told = json.loads(route.calls.last.request.content)["messages"][-1]["content"]
    assert told.startswith("Error: tool 'weather' failed: TypeError")
    assert "town" in told


@respx.mock
def test_async_tools_are_awaited_one_after_the_other() -> None:
    """In the async runner a coroutine's value is the result, and the next call waits for it."""
    order: list[str] = []

    async def weather(city: str) -> str:
        order.append(f"{city} begins")
        await asyncio.sleep(0)
        order.append(f"{city} ends")
        return city.upper()

    calls = [call("a"), call("b", arguments='{"city":"Oslo"}')]
    route = replies(plain(None, *calls), plain("x"))

    run_async(Agent("m", [QUESTION], [Tool("weather", handler=weather)]))

    assert ["Paris begins", "Paris ends", "Oslo begins", "Oslo ends"] == order
    sent = json.loads(route.calls.last.request.content)["messages"]
    assert ["PARIS", "OSLO"] == [one["content"] for one in sent if one["role"] == "tool"]


@respx.mock
def test_an_async_tool_needs_the_async_runner() -> None:
    """The sync runner says so, rather than telling the model about a coroutine."""

    async def weather(city: str) -> str:
        return city

    replies(plain(None, call()))

    with pytest.raises(AsyncToolInSyncRun, match="use AsyncRunner"):
        run_sync(Agent("m", [QUESTION], [Tool("weather", handler=weather)]))


@respx.mock
def test_a_client_of_the_caller_is_used_and_left_open() -> None:
    """Its headers go along, and closing it is the caller's."""
    route = replies(plain("x"))
    with httpx.Client(headers={"x-team": "weather"}) as client:
        with Runner(URL, "k", client=client) as runner:
            runner.run(Agent("m", [QUESTION]))

        assert "weather" == route.calls.last.request.headers["x-team"]
        assert not client.is_closed


@respx.mock
def test_an_async_client_of_the_caller_is_used_and_left_open() -> None:
    """As a sync one is."""
    route = replies(plain("x"))

    async def go() -> bool:
        async with httpx.AsyncClient(headers={"x-team": "weather"}) as client:
            async with AsyncRunner(URL, "k", client=client) as runner:
                await runner.run(Agent("m", [QUESTION]))
            return client.is_closed

    assert not asyncio.run(go())
    assert "weather" == route.calls.last.request.headers["x-team"]


def test_a_client_of_the_runners_is_closed() -> None:
    """Whoever opened it closes it."""

    async def go() -> bool:
        async with AsyncRunner(URL, "k") as runner:
            pass
        return runner._client.is_closed

    with Runner(URL, "k") as runner:
        pass

    assert (True, True) == (runner._client.is_closed, asyncio.run(go()))
