"""Cancelling a run of the reference, wherever it is, and leaving its stream."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
import respx

from looptck_reference import CORE, OPENAI_CHAT, Agent, AsyncRunner, Cancellation, Cancelled, Fail, Loop, Runner, Tool
from meta.reference.reference_held import PATIENCE, Held, held
from meta.reference.reference_provider import replies
from meta.reference.reference_replies import QUESTION, URL, call, delta, plain, sse
from meta.reference.reference_talks import is_legal, talk

CALLS = json.dumps(plain(None, call())).encode()
TEXT = sse(delta("Once "), done=False)

Cancelling = Callable[[Loop, Held], BaseException | None]
"""Runs a loop and cancels it when the held reply is reached; the exception that the caller of the loop got."""


def sync(loop: Loop, server: Held) -> BaseException | None:
    """In a thread, which the test cancels."""
    cancellation = Cancellation()
    with Runner(server.url, "k", cancellation=cancellation) as runner, ThreadPoolExecutor(1) as threads:
        run = threads.submit(runner.drive, loop, stream=True)
        assert server.reached.wait(PATIENCE)
        cancellation.cancel()
        return run.exception(PATIENCE)


def asynchronous(loop: Loop, server: Held) -> BaseException | None:
    """In a task, which the test cancels."""

    async def go() -> BaseException | None:
        async with AsyncRunner(server.url, "k") as runner:
            run = asyncio.create_task(runner.drive(loop, stream=True))
            assert await asyncio.to_thread(server.reached.wait, PATIENCE)
            run.cancel()
            try:
                await run
            except BaseException as error:  # noqa: BLE001 - what the caller gets is looked at
                return error
            return None

    return asyncio.run(go())


@pytest.fixture(params=[sync, asynchronous], ids=["sync", "async"])
def cancelled(request: pytest.FixtureRequest) -> Cancelling:
    """Each mode in turn."""
    chosen: Cancelling = request.param
    return chosen


def new(agent: Agent, **more: Any) -> Loop:
    """A loop of this agent."""
    return Loop(agent, wire=OPENAI_CHAT, **more)


@pytest.mark.parametrize(
    ("bodies", "begin", "asked"),
    [((), b"", 1), ((), TEXT, 1), ((CALLS,), b"", 2), ((CALLS,), TEXT, 2)],
    ids=["first request", "first text", "second request", "second text"],
)
def test_a_cancelled_run_ends_and_hangs_up(
    cancelled: Cancelling, agent: Agent, ran: list[object], bodies: tuple[bytes, ...], begin: bytes, asked: int
) -> None:
    """The provider sees that the connection is closed, no request follows, and a further question is legal."""
    loop = new(agent)
    with held(*bodies, begin=begin) as server:
        error = cancelled(loop, server)

        assert server.hung_up.wait(PATIENCE)
    said = talk("openai-chat", loop.conversation.history)
    assert isinstance(error, Cancelled | asyncio.CancelledError)
    assert isinstance(loop.end, Fail)
    assert ("cancelled", asked, len(bodies)) == (loop.end.reason, server.requests, len(ran))
    assert is_legal(said)
    assert ["question", "turn", "results"][: 1 + 2 * len(bodies)] == [kind for kind, *_ in said]


class Gate:
    """A tool that has begun and does not end, but for the test's own end."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.end = threading.Event()

    def hold(self, **_: object) -> None:
        """Begin."""
        self.began.set()
        self.end.wait(PATIENCE)

    async def hold_async(self, **_: object) -> None:
        """Begin, in a task."""
        self.began.set()
        await asyncio.Event().wait()


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A gate that is opened at the end, so that no thread stays."""
    made = Gate()
    yield made
    made.end.set()


def results(loop: Loop) -> list[str]:
    """The texts of the results in a loop's conversation."""
    return [one["content"] for one in loop.conversation.history if one["role"] == "tool"]


NOT_RUN = "Error: tool 'later' was not run."
STOPPED = "Error: tool 'hold' was cancelled while it ran, and may have taken effect."


def three(hold: Callable[..., Any], begun: list[str]) -> Agent:
    """An agent with tools of which the second holds."""

    def note(name: str) -> Callable[..., str]:
        def handle(**_: object) -> str:
            begun.append(name)
            return name

        return handle

    tools = [Tool("first", handler=note("first")), Tool("hold", handler=hold), Tool("later", handler=note("later"))]
    return Agent("m", [QUESTION], tools)


THREE = plain(None, call("a", "first"), call("b", "hold"), call("c", "later"))


@respx.mock
@pytest.mark.parametrize("parallel", [False, True])
def test_a_sync_run_leaves_a_tool(gate: Gate, *, parallel: bool) -> None:
    """It ends at once, what has ended is kept, and no further tool starts."""
    chat = replies(THREE)
    begun: list[str] = []
    loop = new(three(gate.hold, begun), dialect=replace(CORE, parallel=parallel))
    cancellation = Cancellation()
    with Runner(URL, "k", cancellation=cancellation) as runner, ThreadPoolExecutor(1) as threads:
        run = threads.submit(runner.drive, loop)
        assert gate.began.wait(PATIENCE)
        cancellation.cancel()
        error = run.exception(PATIENCE)

    assert isinstance(error, Cancelled)
    assert 1 == chat.call_count
    assert STOPPED == results(loop)[1]
    if not parallel:
        assert (["first"], ["first", STOPPED, NOT_RUN]) == (begun, results(loop))


@respx.mock
def test_a_tool_that_catches_the_cancellation_does_not_undo_it() -> None:
    """The run ends nevertheless, with the value that the tool has returned."""
    chat = replies(plain(None, call("a", "hold")), plain("never asked for"))
    began = asyncio.Event()

    async def hold() -> str:
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "tidied up"
        return ""

    loop = new(Agent("m", [QUESTION], [Tool("hold", handler=lambda **_: hold())]))

    async def go() -> None:
        async with AsyncRunner(URL, "k") as runner:
            run = asyncio.create_task(runner.drive(loop))
            await began.wait()
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run

    asyncio.run(go())

    assert (1, ["tidied up"]) == (chat.call_count, results(loop))
