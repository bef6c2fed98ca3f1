"""The loop against a model and Activities that are coroutines here; events order what happens, and never the time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from typing import Any

import pytest

from looptck_reference.agent_loop_010 import (
    Approve,
    Call,
    Change,
    Decision,
    Reject,
    Replace,
    Solution,
    SolutionLoop,
)
from looptck_reference.vocabulary.errors import StreamBroken
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json

GOAL = {"type": "text", "text": "Do it."}
SCHEMA = {"type": "integer"}


def solution(*calls: Json, output: Any = None) -> str:
    """The text of a Solution."""
    return json.dumps({"calls": calls, "output": output}, ensure_ascii=False)


def call(tool: str, to: str | None = None, **more: Any) -> Json:
    """A call that writes to a path of the state."""
    return {"_tool": tool, **more, **({} if to is None else {"_outputPath": f"†state.{to}"})}


class Model:
    """Answers each Request with the next text; what is not text is awaited first, in the middle of the answer."""

    def __init__(self, *answers: str | Sequence[str | Coroutine[Any, Any, Any] | Exception]) -> None:
        self.answers = list(answers)
        self.asked: list[list[str]] = []
        self.closed = 0

    async def __call__(self, messages: Sequence[Json], schema: Json) -> AsyncGenerator[str]:
        self.asked.append([message["content"] for message in messages[1:]])
        answer = self.answers.pop(0)
        try:
            for piece in [answer] if isinstance(answer, str) else answer:
                if isinstance(piece, str):
                    yield piece
                elif isinstance(piece, Exception):
                    raise piece
                else:
                    await piece
        finally:
            self.closed += 1

    def told(self, request: int, kind: str = "state") -> list[Any]:
        """What a Request said of data of this kind, in order."""
        told = [json.loads(text) for text in self.asked[request] if text.startswith("{")]
        return [message["data"] for message in told if message.get("kind") == kind]


def tool(name: str, handler: Callable[..., Any] | None) -> Tool:
    """A tool that takes anything."""
    return Tool(name, parameters={"type": "object"}, handler=handler)


async def echo(value: Any = None) -> Any:
    """An Activity that gives back what it was given."""
    return value


async def fails(**_: Any) -> Any:
    """An Activity that does not."""
    raise LookupError("nobody there")


def loop(model: Model, *tools: Tool, messages: Sequence[Json] = (GOAL,), **options: Any) -> SolutionLoop:
    """A loop with the tools `echo` and `fails`, and these."""
    return SolutionLoop(model, messages, [tool("echo", echo), tool("fails", fails), *tools], SCHEMA, **options)


def run(loop: SolutionLoop) -> Any:
    """Run it; afterwards no task is left, however it ended."""

    async def all_of_it() -> Any:
        try:
            return await loop.run()
        finally:
            assert {asyncio.current_task()} == asyncio.all_tasks()

    return asyncio.run(all_of_it())


def test_results_are_told() -> None:
    """The next Request has the results behind what the caller said; their origin is hidden."""
    model = Model(solution(call("echo", to="x", value=1)), solution(output=1))
    run(loop(model))

    assert "Do it." == model.asked[0][-1]
    assert [*model.asked[0], '{"type":"data","kind":"state","data":{"x":1}}'] == model.asked[1]


def test_tools_are_told() -> None:
    """One message has all tools; the model writes the result of those only that have no Activity."""
    model = Model(solution(output=1))
    run(loop(model, tool("think", None)))

    told = json.loads(model.asked[0][0])
    assert "tool" == told["type"]
    assert ["echo", "fails", "think"] == list(told["tool"])
    assert ["think"] == [name for name, schema in told["tool"].items() if "_output" in schema.get("properties", {})]


def test_errors_come_last() -> None:
    """They stand behind all results of the turn, together, and stay there."""
    released = asyncio.Event()

    async def late() -> int:
        await released.wait()
        return 1

    async def fail() -> None:
        released.set()
        raise LookupError("nobody there")

    bad, good = call("fail", to="y"), call("late", to="x")
    model = Model(solution(bad, good, call("ghost")), solution(), solution(output=1))
    run(loop(model, tool("late", late), tool("fail", fail)))

    kinds = [json.loads(text).get("kind") for text in model.asked[1][2:]]
    assert ["state", "error", "error"] == kinds
    told = model.told(1, "error")
    assert [call("ghost"), bad] == [one["call"] for one in told]
    assert {"type": "LookupError", "message": "nobody there"} == told[1]["error"]
    assert model.asked[1] == model.asked[2]


def test_an_activity_that_is_cancelled() -> None:
    """An Activity may give up by itself; that is its error, and not the end of the run."""

    async def gives_up() -> None:
        raise asyncio.CancelledError

    model = Model(solution(call("gives_up")), solution(output=1))

    assert 1 == run(loop(model, tool("gives_up", gives_up)))
    assert ["CancelledError"] == [one["error"]["type"] for one in model.told(1, "error")]


@pytest.mark.parametrize("text", ["I would rather not.", "[]", '{"calls":[', '{"calls":{},"output":1}'])
def test_unreadable(text: str) -> None:
    """What is no Solution is one Error Message without a call, and another turn."""
    model = Model(text, solution(output=1))

    assert 1 == run(loop(model))
    (told,) = model.told(1, "error")
    assert told["call"] is None
    assert "Solution" in told["error"]


def test_calls_of_an_unreadable_solution() -> None:
    """What was whole has run, and the model is told of both."""
    model = Model('{"calls":[{"_tool":"echo","value":1,"_outputPath":"†state.x"},', solution(output=1))

    assert 1 == run(loop(model))
    assert [{"x": 1}] == model.told(1)
    assert [None] == [one["call"] for one in model.told(1, "error")]


@pytest.mark.parametrize(("limit", "requests"), [(0, 0), (1, 1), (3, 3), (None, 10)])
def test_the_limit(limit: int | None, requests: int) -> None:
    """At the limit the run returns nothing; the calls of the last turn have run."""
    ran = []
    model = Model(*[solution(call("act"))] * 12)

    assert run(loop(model, tool("act", lambda: ran.append(1)), limit=limit)) is None
    assert (requests, requests) == (len(model.asked), len(ran))


def test_a_broken_stream() -> None:
    """The caller gets the provider's error, and by then nothing runs."""
    started, ends = asyncio.Event(), []

    async def act() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ends.append(1)

    model = Model(['{"calls":[{"_tool":"act"},', started.wait(), StreamBroken("cut")])

    with pytest.raises(StreamBroken, match="cut"):
        run(loop(model, tool("act", act)))
    assert [1] == ends


def test_a_raising_confirmation() -> None:
    """What the caller's own hook raises is the caller's."""

    async def confirm(_: Call) -> Decision:
        raise LookupError("nobody to ask")

    with pytest.raises(LookupError, match="nobody to ask"):
        run(loop(Model([solution(call("echo")), asyncio.Event().wait()]), confirmation=confirm))


@pytest.mark.parametrize(
    ("decision", "state", "errors"),
    [
        (Approve(), [{"x": 1}], []),
        (Change({"value": 2}), [{"x": 2}], []),
        (Replace(call("echo", to="y", value=3)), [{"y": 3}], []),
        (Reject("no"), [], ["no"]),
    ],
)
def test_decisions(decision: Decision, state: list[Json], errors: list[str]) -> None:
    """A call is executed as the person decides; a rejection is told."""
    asked = []

    async def confirm(call: Call) -> Decision:
        asked.append(call.raw)
        return decision

    raw = call("echo", to="x", value=1)
    model = Model(solution(raw), solution(output=1))
    run(loop(model, confirmation=confirm))

    assert [raw] == asked
    assert state == model.told(1)
    assert errors == [one["error"] for one in model.told(1, "error")]


def test_a_plan() -> None:
    """Where there is a plan, the calls of the last turn are the next plan, in its place."""
    plan = {"type": "plan", "plan": [call("echo")], "mode": "eager"}
    done = call("echo", to="x", value=1)
    model = Model(solution(done), "{", solution(), solution(output=1))
    run(loop(model, messages=[plan, GOAL]))

    plans = [json.loads(asked[1]) for asked in model.asked]
    assert [[call("echo")], [done], [done], []] == [told["plan"] for told in plans]
    assert {"plan"} == {told["type"] for told in plans}


class Eager(SolutionLoop):
    """Ends with the first Solution."""

    def is_final(self, solution: Solution) -> bool:
        return True


class Terse(SolutionLoop):
    """Tells the model little."""

    def error_of(self, error: BaseException) -> Any:
        return "failed"


def test_variants() -> None:
    """A variant overrides one method."""
    assert run(Eager(Model(solution()), [GOAL], [], SCHEMA)) is None

    model = Model(solution(call("fails")), solution(output=1))
    run(Terse(model, [GOAL], [tool("fails", fails)], SCHEMA))
    assert [{"call": call("fails"), "error": "failed"}] == model.told(1, "error")
