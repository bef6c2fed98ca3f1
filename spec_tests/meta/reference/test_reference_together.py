"""Calls that run together: where the dialect says so, the tools of a turn run at the same time."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import replace

import pytest
import respx

from looptck_reference import (
    ANTHROPIC_LOOP,
    CORE,
    Agent,
    AsyncToolInSyncRun,
    Dialect,
    Loop,
    Tool,
)
from looptck_reference import OPENAI_CHAT as WIRE
from looptck_reference.vocabulary.actions import Ask
from looptck_reference.vocabulary.values import ToolCall, Turn
from meta.reference.reference_provider import Run, replies, run_async, run_sync
from meta.reference.reference_replies import QUESTION, call, plain

TOGETHER = replace(CORE, parallel=True)
TWO = plain(None, call("c1", "one", "{}"), call("c2", "two", "{}"))
MODES = [pytest.param(run_sync, id="sync"), pytest.param(run_async, id="async")]


def meeting(run: Run) -> Mapping[str, Callable[..., object]]:
    """Two tools that end when both have begun; the first waits for the second to end."""
    if run is run_sync:
        both, second = threading.Barrier(2), threading.Event()

        def one() -> str:
            both.wait(10)
            assert second.wait(10)
            return "first"

        def two() -> str:
            both.wait(10)
            second.set()
            return "second"

        return {"one": one, "two": two}
    met, ended = asyncio.Barrier(2), asyncio.Event()

    async def first() -> str:
        await met.wait()
        await ended.wait()
        return "first"

    async def other() -> str:
        await met.wait()
        ended.set()
        return "second"

    return {"one": first, "two": other}


def agent(handlers: Mapping[str, Callable[..., object]]) -> Agent:
    """An agent with these tools."""
    return Agent("m", [QUESTION], [Tool(name, handler=handler) for name, handler in handlers.items()])


def results(route: respx.Route) -> list[str]:
    """The results in the last request, in their order."""
    messages = json.loads(route.calls.last.request.content)["messages"]
    return [message["content"] for message in messages if message["role"] == "tool"]


@respx.mock
@pytest.mark.parametrize("run", MODES)
def test_calls_of_a_turn_run_at_the_same_time(run: Run) -> None:
    """Each sees the other begin; the results stand in the order of the calls, whichever ended first."""
    route = replies(TWO, plain("x"))

    run(agent(meeting(run)), dialect=TOGETHER)

    assert ["first", "second"] == results(route)


@respx.mock
@pytest.mark.parametrize("run", MODES)
def test_what_fails_leaves_the_others_whole(run: Run) -> None:
    """A tool that raises, one that nobody knows and one that works are answered each for itself."""

    def one() -> str:
        raise LookupError("gone")

    unknown, unread = call("c3", "nope", "{}"), call("c4", "one", "{")
    route = replies(plain(None, call("c1", "one", "{}"), call("c2", "two", "{}"), unknown, unread), plain("x"))

    run(agent({"one": one, "two": lambda: "fine"}), dialect=replace(ANTHROPIC_LOOP, runs_calls_on=CORE.runs_calls_on))

    gone, fine, nobody, broken = results(route)
    assert ("Error: gone", "fine", "Error: No handler registered for tool: nope") == (gone, fine, nobody)
    assert broken.startswith("Error: the input of one is not a JSON object: ")


@respx.mock
@pytest.mark.parametrize("run", MODES)
def test_tools_know_what_their_caller_knows(run: Run) -> None:
    """Context variables have the caller's values, in threads too, and what a tool sets stays its own."""
    who = ContextVar("who", default="nobody")
    seen: list[str] = []

    def look() -> str:
        seen.append(who.get())
        who.set("tool")
        return "x"

    replies(TWO, plain("x"))
    token = who.set("caller")
    run(agent({"one": look, "two": look}), dialect=TOGETHER)

    assert (["caller", "caller"], "caller") == (seen, who.get())
    who.reset(token)


@respx.mock
def test_a_coroutine_function_needs_an_async_caller() -> None:
    """The others have ended by the time that this is told."""
    ran: list[str] = []

    async def one() -> str:
        return "never"

    replies(TWO)
    with pytest.raises(AsyncToolInSyncRun, match="'one' is asynchronous"):
        run_sync(agent({"one": one, "two": lambda: ran.append("two")}), dialect=TOGETHER)

    assert ["two"] == ran


def started(dialect: Dialect) -> Loop:
    """A loop with one tool, which the model is to answer."""
    loop = Loop(agent({"one": dict}), wire=WIRE, dialect=dialect)
    loop.start()
    return loop


CALL, STRANGER = ToolCall("c1", "one", "{}"), ToolCall("c2", "nope", "{}")


def test_a_turn_of_which_nothing_can_run_is_answered_at_once() -> None:
    """There is nobody to wait for."""
    assert isinstance(started(TOGETHER).model_answered(Turn(calls=(STRANGER,))), Ask)
