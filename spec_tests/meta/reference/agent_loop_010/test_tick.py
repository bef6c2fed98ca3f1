"""The calls of one turn, by events alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pytest

from looptck_reference.agent_loop_010 import (
    CallScheduler,
    Change,
    Confirm,
    Context,
    Decision,
    Reject,
    Replace,
    Start,
)
from looptck_reference.agent_loop_010.scheduler import Step
from looptck_reference.agent_loop_010.structure import Structure
from looptck_reference.vocabulary.values import Json

NUMBER: Json = {"type": "object", "properties": {"x": {"type": "number"}}, "additionalProperties": False}
ANYTHING: Json = {"type": "object"}
TOOLS = {"a": ANYTHING, "b": ANYTHING, "c": ANYTHING, "d": ANYTHING, "number": NUMBER, "latent": ANYTHING}
ACTIVITIES = ("a", "b", "c", "d", "number")


def tick(
    *messages: Json,
    confirms: bool = False,
    activities: Collection[str] = ACTIVITIES,
    kind: type[CallScheduler] = CallScheduler,
) -> CallScheduler:
    """A tick on a context with these messages."""
    return kind(Context(messages), Structure(TOOLS), activities, confirms=confirms)


def call(tool: str, to: str | None = None, **more: Any) -> Json:
    """A call that writes to a path of the state."""
    path = {} if to is None else {"_outputPath": f"†state.{to}"}
    return {"_tool": tool, **more, **path}


def started(steps: Sequence[Step]) -> list[tuple[str, Json]]:
    """The Activities that are to start, with their arguments; nothing else is to be done."""
    assert all(isinstance(step, Start) for step in steps)
    return [(step.activity, step.arguments) for step in steps if isinstance(step, Start)]


def start(steps: Sequence[Step]) -> Start:
    """The one Activity that is to start."""
    (step,) = steps
    assert isinstance(step, Start)
    return step


def question(steps: Sequence[Step]) -> Confirm:
    """The one question that is to be asked."""
    (step,) = steps
    assert isinstance(step, Confirm)
    return step


def errors(tick: CallScheduler) -> list[tuple[Any, Any]]:
    """Call and error of each Error Message."""
    return [(one["data"]["call"], one["data"]["error"]) for one in tick.errors]


def test_results_say_where_they_come_from() -> None:
    """A result is a message with call and date."""
    turn = tick()
    raw = call("a", to="x")
    turn.completed(start(turn.streamed(raw)).call, 1)

    (result,) = turn.context.messages
    assert {"x": 1} == result["data"]
    assert raw == result["_call"]
    assert result["_date"].endswith("+00:00")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (5, "object"),
        ({}, "_tool"),
        ({"_tool": "ghost"}, "ghost"),
        (call("number", x="one"), "/x"),
        (call("number", y=1), "y"),
        (call("a", x="†"), "/x"),
        ({"_tool": "a", "_outputPath": "state.x"}, "_outputPath"),
        ({"_tool": "a", "_outputMethod": "replace"}, "_outputMethod"),
        ({"_tool": "a", "_activity": "ghost"}, "ghost"),
    ],
)
def test_structural_errors(raw: Any, words: str) -> None:
    """What is wrong whatever the references stand for is an error at once, and nothing starts."""
    turn = tick()

    assert [] == turn.streamed(raw)
    ((told, error),) = errors(turn)
    assert raw == told
    assert words in error


def test_a_wrong_value_behind_a_reference() -> None:
    """Arguments are judged again once they are known; the call is told as it was written."""
    turn = tick()
    producer = start(turn.streamed(call("a", to="x")))
    turn.streamed(call("number", x="†state.x"))

    assert [] == turn.completed(producer.call, "one")
    ((told, error),) = errors(turn)
    assert call("number", x="†state.x") == told
    assert "/x" in error


def test_a_failure() -> None:
    """An Activity that raises is one error; what depends on it never starts and is told too; the others go on."""
    turn = tick()
    bad, good = start(turn.streamed(call("a", to="x"))), start(turn.streamed(call("b", to="y")))
    turn.streamed(call("c", value="†state.x"))
    turn.streamed(call("d", value="†state.y"))
    turn.closed()

    assert [] == turn.failed(bad.call, {"type": "Oh", "message": "no"})
    assert [("d", {"value": 1})] == started(turn.completed(good.call, 1))
    turn.completed(turn.running[0], None)
    assert turn.drained
    assert [call("a", to="x"), call("c", value="†state.x")] == [told for told, _ in errors(turn)]
    assert {"type": "Oh", "message": "no"} == errors(turn)[0][1]
    assert "†state.x" in errors(turn)[1][1]


@pytest.mark.parametrize(
    "raws",
    [
        [call("a", value="†state.nowhere")],
        [call("a", to="x", value="†state.x")],
        [call("a", to="x", value="†state.y"), call("b", to="y", value="†state.x")],
    ],
)
def test_blocked_for_ever(raws: list[Json]) -> None:
    """What nobody can write any more, and a cycle, is one error for each call, once the Request is at its end."""
    turn = tick()
    for raw in raws:
        assert [] == turn.streamed(raw)
    assert [] == turn.errors

    assert [] == turn.closed()
    assert turn.drained
    assert raws == [told for told, _ in errors(turn)]
    assert [] == turn.closed()
    assert len(raws) == len(turn.errors)


def test_another_activity() -> None:
    """A call may name the Activity, also for a tool that has none; the arguments are judged by the tool."""
    turn = tick()

    assert [("b", {"n": 1})] == started(turn.streamed(call("latent", _activity="b", n=1)))


@pytest.mark.parametrize(
    ("decision", "told"),
    [
        (Change({"x": "two"}), call("number", x="two")),
        (Replace(call("number", y=1)), call("number", y=1)),
        (Replace(None), None),
        (Replace(call("ghost")), call("ghost")),
    ],
)
def test_wrong_corrections(decision: Decision, told: Any) -> None:
    """What a person writes is validated as what the model writes; the error tells what was to run."""
    turn = tick(confirms=True)
    asked = question(turn.streamed(call("number", x=1)))

    assert [] == turn.decided(asked.call, decision)
    assert [told] == [call for call, _ in errors(turn)]


def test_rejection() -> None:
    """A rejected call does not run; its Error Message has the person's words."""
    turn = tick(confirms=True)
    asked = question(turn.streamed(call("a")))
    turn.closed()

    assert [] == turn.decided(asked.call, Reject("too dear"))
    assert [(call("a"), "too dear")] == errors(turn)
    assert turn.drained
