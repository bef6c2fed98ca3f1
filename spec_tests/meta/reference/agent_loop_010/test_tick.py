"""The calls of one turn, by events alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import permutations
from typing import Any

import pytest

from looptck_reference.agent_loop_010 import (
    Approve,
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


def test_at_once() -> None:
    """A call that depends on nothing starts when it has been written, while the Request streams on."""
    turn = tick()

    assert [("a", {"x": 1})] == started(turn.streamed(call("a", x=1)))
    assert not turn.drained


def test_a_dependency() -> None:
    """A blocked call starts with the very result that it waits for, and not with any other."""
    turn = tick()
    one = start(turn.streamed(call("a", to="x")))
    other = start(turn.streamed(call("b", to="y")))

    assert [] == turn.streamed(call("c", value="†state.x", nested=[{"too": "†state.x"}], plain="see †state.x"))
    assert [] == turn.completed(other.call, 1)
    assert [("c", {"value": 0, "nested": [{"too": 0}], "plain": "see †state.x"})] == started(
        turn.completed(one.call, 0)
    )


def test_the_consumer_first() -> None:
    """The order in which calls are written has no meaning."""
    turn = tick()

    assert [] == turn.streamed(call("b", value="†state.x"))
    producer = start(turn.streamed(call("a", to="x")))
    assert [("b", {"value": None})] == started(turn.completed(producer.call, None))


def test_a_result_of_long_ago() -> None:
    """A call that is written when its dependency is there already starts at once."""
    turn = tick()
    turn.completed(start(turn.streamed(call("a", to="x"))).call, 5)

    assert [("b", {"value": 5})] == started(turn.streamed(call("b", value="†state.x")))


def test_one_result_for_many() -> None:
    """All that is unblocked together starts together."""
    turn = tick()
    producer = start(turn.streamed(call("a", to="x")))
    for tool in "bcd":
        turn.streamed(call(tool, value="†state.x"))

    assert [(tool, {"value": 1}) for tool in "bcd"] == started(turn.completed(producer.call, 1))


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_chain_in_any_order(order: Sequence[int]) -> None:
    """Whatever the order of the calls, the same ones run with the same arguments."""
    chain = [call("a", to="x", n=1), call("b", to="y", n="†state.x"), call("c", to="z", n="†state.y")]
    turn = tick()
    ran = []
    steps = [step for at in order for step in turn.streamed(chain[at])] + turn.closed()
    while steps:
        step = steps.pop(0)
        assert isinstance(step, Start)
        ran.append((step.activity, step.arguments))
        steps += turn.completed(step.call, step.arguments["n"] + 1)

    assert [("a", {"n": 1}), ("b", {"n": 2}), ("c", {"n": 3})] == ran
    assert turn.drained


def test_drained() -> None:
    """A turn is over when the Request is at its end and nothing runs, in this order or in the other."""
    turn = tick()
    step = start(turn.streamed(call("a")))
    turn.closed()
    assert not turn.drained
    turn.completed(step.call, 1)
    assert turn.drained

    turn = tick()
    step = start(turn.streamed(call("a")))
    turn.completed(step.call, 1)
    assert not turn.drained
    turn.closed()
    assert turn.drained


def test_the_same_words_twice() -> None:
    """Two calls with the same words are two executions."""
    turn = tick()

    assert [("a", {})] == started(turn.streamed(call("a")))
    assert [("a", {})] == started(turn.streamed(call("a")))


def test_the_last_to_complete_wins() -> None:
    """Not the last that was written or started."""
    turn = tick()
    first, second = (start(turn.streamed(call(tool, to="x"))) for tool in "ab")
    turn.completed(second.call, "second")
    turn.completed(first.call, "first")

    assert [("c", {"value": "first"})] == started(turn.streamed(call("c", value="†state.x")))


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


def test_errors_wait() -> None:
    """Error Messages are no part of the context before the turn is over, and so unblock nothing."""
    turn = tick()
    turn.failed(start(turn.streamed(call("a"))).call, "no")

    assert [] == turn.streamed(call("b", value="†error.error"))
    assert [] == turn.context.messages


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


def test_not_blocked_for_ever() -> None:
    """While an Activity runs it may return any message, so nothing is given up yet."""
    turn = tick()
    producer = start(turn.streamed(call("a")))
    turn.streamed(call("b", value="†user.name"))
    turn.closed()
    assert [] == turn.errors

    message = {"type": "data", "kind": "user", "data": {"name": "Ada"}}
    assert [("b", {"value": "Ada"})] == started(turn.completed(producer.call, message))


def test_latent() -> None:
    """What the model gives as the result of a latent call is written at once, and unblocks what waited for it."""
    turn = tick()
    turn.streamed(call("a", value="†state.y"))
    turn.streamed(call("latent", to="y", _output=2, value="†state.x"))

    assert [("a", {"value": 2})] == started(turn.streamed(call("latent", to="x", _output=1)))
    turn.completed(turn.running[0], None)
    turn.closed()
    assert turn.drained
    assert [] == turn.errors


def test_latent_null() -> None:
    """Null is a result."""
    turn = tick()
    turn.streamed(call("latent", to="x", _output=None))

    assert [("a", {"value": None})] == started(turn.streamed(call("a", value="†state.x")))


@pytest.mark.parametrize("raw", [call("latent"), call("latent", to="x"), call("latent", _output=1)])
def test_latent_for_nothing(raw: Json) -> None:
    """Without a result or a path nothing is stored, and that is no error."""
    turn = tick()

    assert [] == turn.streamed(raw) + turn.closed()
    assert turn.drained
    assert ([], []) == (turn.errors, turn.context.messages)


def test_latent_by_its_own_word() -> None:
    """An empty `_activity` keeps the tool's Activity from running."""
    turn = tick()

    assert [] == turn.streamed(call("a", to="x", _activity="", _output=7))
    assert [{"x": 7}] == [message["data"] for message in turn.context.messages]


def test_explicit() -> None:
    """The result of a call whose Activity runs is the Activity's, whatever the model gave."""
    turn = tick()

    step = start(turn.streamed(call("a", to="x", _output="mine")))
    assert [] == turn.context.messages
    turn.completed(step.call, "yours")
    assert [{"x": "yours"}] == [message["data"] for message in turn.context.messages]


def test_another_activity() -> None:
    """A call may name the Activity, also for a tool that has none; the arguments are judged by the tool."""
    turn = tick()

    assert [("b", {"n": 1})] == started(turn.streamed(call("latent", _activity="b", n=1)))


def test_instances() -> None:
    """A call of an instance does not see what another instance wrote."""
    turn = tick()
    turn.completed(start(turn.streamed(call("a", to="x", _instance="①"))).call, 1)

    assert [] == turn.streamed(call("b", value="†state.x", _instance="②"))
    assert [] == turn.streamed(call("b", value="†state.x"))
    assert [("b", {"value": 1})] == started(turn.streamed(call("b", value="†state.x", _instance="①")))


def test_only_what_is_unblocked_is_confirmed() -> None:
    """A person sees a call when it could start, once, and it starts when the person agrees."""
    turn = tick(confirms=True)
    first = question(turn.streamed(call("a", to="x")))
    turn.streamed(call("b", value="†state.x"))
    turn.closed()
    assert not turn.drained

    step = start(turn.decided(first.call, Approve()))
    second = question(turn.completed(step.call, 1))
    assert call("b", value="†state.x") == second.call.raw
    assert [("b", {"value": 1})] == started(turn.decided(second.call, Approve()))


def test_a_question_holds_up_nothing() -> None:
    """While one call waits for a person the others are asked about and run."""
    turn = tick(confirms=True)
    question(turn.streamed(call("a")))
    second = question(turn.streamed(call("b")))

    assert [("b", {})] == started(turn.decided(second.call, Approve()))
    turn.completed(turn.running[0], None)
    turn.closed()
    assert not turn.drained


@pytest.mark.parametrize(
    ("decision", "activity", "arguments"),
    [
        (Change({"x": 2}), "number", {"x": 2}),
        (Change({"x": "†input.n"}), "number", {"x": 3}),
        (Replace(call("b", y="†input.n")), "b", {"y": 3}),
    ],
)
def test_corrections(decision: Decision, activity: str, arguments: Json) -> None:
    """What runs is what the person made of the call, with its references resolved, and without a second question."""
    turn = tick({"type": "input", "input": {"n": 3}}, confirms=True)
    asked = question(turn.streamed(call("number", x=1)))

    assert [(activity, arguments)] == started(turn.decided(asked.call, decision))


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


def test_a_blocked_replacement() -> None:
    """A replacement waits for what it refers to, and is not asked about when that is there."""
    turn = tick(confirms=True)
    asked = question(turn.streamed(call("a")))
    other = question(turn.streamed(call("b", to="x")))

    assert [] == turn.decided(asked.call, Replace(call("c", value="†state.x")))
    running = start(turn.decided(other.call, Approve()))
    assert [("c", {"value": 1})] == started(turn.completed(running.call, 1))


def test_rejection() -> None:
    """A rejected call does not run; its Error Message has the person's words."""
    turn = tick(confirms=True)
    asked = question(turn.streamed(call("a")))
    turn.closed()

    assert [] == turn.decided(asked.call, Reject("too dear"))
    assert [(call("a"), "too dear")] == errors(turn)
    assert turn.drained


def test_latent_calls_are_not_confirmed() -> None:
    """They execute nothing."""
    turn = tick(confirms=True)

    assert [] == turn.streamed(call("latent", to="x", _output=1))
    assert 1 == len(turn.context.messages)


class Patient(CallScheduler):
    """Starts nothing before the Request is at its end."""

    def unblocked(self) -> Any:
        return super().unblocked() if self.stream_closed else ()


class OneByOne(CallScheduler):
    """Starts nothing while something runs."""

    def unblocked(self) -> Any:
        return () if self.running else super().unblocked()


def test_variants() -> None:
    """Which calls may start is one method's business."""
    turn = tick(kind=Patient)
    assert [] == turn.streamed(call("a")) + turn.streamed(call("b"))
    assert [("a", {}), ("b", {})] == started(turn.closed())

    turn = tick(kind=OneByOne)
    first = start(turn.streamed(call("a")))
    assert [] == turn.streamed(call("b")) + turn.closed()
    assert [("b", {})] == started(turn.completed(first.call, None))
