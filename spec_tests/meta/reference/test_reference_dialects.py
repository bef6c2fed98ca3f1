"""What each dialect does about the faults of a call."""

from __future__ import annotations

import pytest

from looptck_reference import (
    ANTHROPIC_LOOP,
    CORE,
    PROMPTY_AGENT_MODE,
    PROMPTY_SPEC,
    Action,
    BadArguments,
    Delta,
    Dialect,
    Fail,
    Finish,
    LimitReached,
    Stop,
    ToolCall,
    Turn,
)
from looptck_reference.vocabulary.actions import Raised, Returned, RunTools
from meta.reference.reference_loops import CALLING, PING, PONG, asking, new, results


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (ToolCall("c", "nope", "{}"), "Error: tool 'nope' cannot be called: no handler is registered for it."),
        (ToolCall("c", "orphan", "{}"), "Error: tool 'orphan' cannot be called: no handler is registered for it."),
        (ToolCall("c", "ping", "[]"), "Error: the arguments of tool 'ping' are not a JSON object: expected a JSON"),
        (ToolCall("c", "{name}", "{}"), "Error: tool '{name}' cannot be called"),
    ],
)
def test_core_tells_the_model_what_was_wrong_with_its_call(call: ToolCall, text: str) -> None:
    """The loop goes on, and the text names the tool."""
    [(call_id, told)] = results(asking().model_answered(Turn(calls=(call,))))

    assert "c" == call_id
    assert told.startswith(text)


def test_core_tells_the_model_what_a_tool_raised() -> None:
    """The exception's type and message reach the model, and other calls of the turn are run all the same."""
    loop = asking()
    loop.model_answered(Turn(calls=(PING, PONG)))
    loop.tools_ended([Raised(KeyError("city"))])

    told = results(loop.tools_ended([Returned("b")]))

    assert [("call_1", "Error: tool 'ping' failed: KeyError: 'city'"), ("call_2", "b")] == told


def test_a_value_without_a_text_is_the_tools_fault() -> None:
    """What neither JSON nor str can write is treated like an exception of the tool."""
    loop = asking()
    loop.model_answered(CALLING)

    [(_, told)] = results(loop.tools_ended([Returned({(1, 2): 3})]))

    assert told.startswith("Error: tool 'ping' failed: TypeError")


@pytest.mark.parametrize(
    ("call", "error", "message", "reason"),
    [
        (ToolCall("c", "orphan", "{}"), ValueError, "No handler registered for tool: orphan (kind: function)", None),
        (ToolCall("c", "nope", "{}"), ValueError, "No handler registered for tool: nope (kind: function)", None),
        (ToolCall("c", "ping", "{"), BadArguments, "Expecting property name", "arguments"),
    ],
)
def test_prompty_raises_faults(call: ToolCall, error: type[Exception], message: str, reason: str | None) -> None:
    """A missing handler and malformed arguments end the run."""
    action = asking(PROMPTY_SPEC).model_answered(Turn(calls=(call,)))

    assert isinstance(action, Fail)
    assert (error, reason or "unknown-tool") == (type(action.error), action.reason)
    assert str(action.error).startswith(message)


def test_prompty_propagates_a_tools_own_exception() -> None:
    """What the tool raised is what the caller gets, not a copy."""
    loop = asking(PROMPTY_SPEC)
    loop.model_answered(CALLING)
    error = KeyError("city")

    action = loop.tools_ended([Raised(error)])

    assert Fail(error, "tool") == action


def test_prompty_runs_earlier_calls_before_a_later_one_fails() -> None:
    """Calls are looked at one after the other, so an unknown second tool does not stop the first."""
    loop = asking(PROMPTY_SPEC)

    assert isinstance(loop.model_answered(Turn(calls=(PING, ToolCall("c", "nope", "{}")))), RunTools)
    assert isinstance(loop.tools_ended([Returned("a")]), Fail)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (ToolCall("c", "nope", "{}"), "Error: tool 'nope' not found in tools dict"),
        (ToolCall("c", "orphan", "{}"), "Error: tool 'orphan' not found in tools dict"),
        (ToolCall("c", "{name}", "{}"), "Error: tool '{name}' not found in tools dict"),
        (
            ToolCall("c", "ping", '{"n": 1'),
            "Error parsing arguments: Expecting ',' delimiter: line 1 column 8 (char 7)",
        ),
        (ToolCall("c", "ping", "[]"), "Error parsing arguments: expected a JSON object, got an array"),
        (ToolCall("c", "nope", "{"), "Error parsing arguments: Expecting property name"),
    ],
)
def test_agent_mode_tells_the_model_in_the_guides_words(call: ToolCall, text: str) -> None:
    """Whatever is wrong with a call, the loop goes on; bad arguments are told before the tool is looked for."""
    [(call_id, told)] = results(asking(PROMPTY_AGENT_MODE).model_answered(Turn(calls=(call,), stop=Stop.CALLS)))

    assert "c" == call_id
    assert told.startswith(text)


def test_agent_mode_tells_the_model_what_a_tool_raised() -> None:
    """Name, type and message, and other calls of the turn are run all the same."""
    loop = asking(PROMPTY_AGENT_MODE)
    loop.model_answered(Turn(calls=(PING, PONG), stop=Stop.CALLS))
    loop.tools_ended([Raised(ConnectionError("{name} is unreachable"))])

    told = results(loop.tools_ended([Returned("b")]))

    assert [("call_1", "Error executing ping: ConnectionError: {name} is unreachable"), ("call_2", "b")] == told


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_agent_mode_raises_value_error_at_the_limit(limit: int) -> None:
    """After N questions and N rounds of tools the run fails in the guide's words."""
    loop = new(PROMPTY_AGENT_MODE, limit)
    action = loop.start()
    for _ in range(limit):
        loop.model_answered(CALLING)
        action = loop.tools_ended([Returned("a")])

    assert isinstance(action, Fail)
    assert (ValueError, "limit") == (type(action.error), action.reason)
    assert f"Agent loop exceeded max_iterations ({limit})" == str(action.error)


@pytest.mark.parametrize(
    ("dialect", "stop", "runs"),
    [
        (CORE, Stop.END, True),
        (PROMPTY_SPEC, Stop.END, True),
        (PROMPTY_AGENT_MODE, Stop.END, False),
        (PROMPTY_AGENT_MODE, Stop.CALLS, True),
    ],
)
def test_the_dialect_says_whether_the_finish_reason_decides(dialect: Dialect, stop: Stop, runs: bool) -> None:
    """A reply that ends with stop and holds calls is a round in two dialects, and the answer in the third."""
    action = asking(dialect).model_answered(Turn("It is warm.", calls=(PING,), stop=stop))

    assert (runs, not runs) == (isinstance(action, RunTools), isinstance(action, Finish))


@pytest.mark.parametrize(("dialect", "forwarded"), [(CORE, True), (PROMPTY_SPEC, False), (PROMPTY_AGENT_MODE, False)])
def test_the_dialect_says_whether_text_of_a_tool_turn_goes_out(dialect: Dialect, forwarded: bool) -> None:
    """Text behind the first piece of a call is held back or not; text before any call always goes out."""
    loop = asking(dialect)

    assert loop.forwards(Delta("Hello", calling=False))
    assert forwarded == loop.forwards(Delta("Hello", calling=True))


@pytest.mark.parametrize("dialect", [CORE, PROMPTY_SPEC, PROMPTY_AGENT_MODE])
def test_ten_questions_are_the_default(dialect: Dialect) -> None:
    """Without a limit of the caller's each dialect allows ten."""
    loop = asking(dialect)
    for _ in range(9):
        loop.model_answered(CALLING)
        loop.tools_ended([Returned("a")])
    loop.model_answered(CALLING)

    assert isinstance(loop.tools_ended([Returned("a")]), Fail)
    assert 10 == loop.model_calls


def test_the_tool_execution_loop_ends_after_ten_turns() -> None:
    """With an error in the skill's words."""
    loop = asking(ANTHROPIC_LOOP)
    action: Action | None = None
    for _ in range(10):
        loop.model_answered(CALLING)
        action = loop.tools_ended([Returned("a")])

    assert isinstance(action, Fail)
    assert (LimitReached, "limit", 10) == (type(action.error), action.reason, loop.model_calls)
    assert "Loop exceeded max turns (10)" == str(action.error)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [(CORE, '{"a": null}'), (PROMPTY_SPEC, "{'a': None}"), (PROMPTY_AGENT_MODE, "{'a': None}")],
)
def test_results_become_text_as_the_dialect_says(dialect: Dialect, text: str) -> None:
    """JSON in one dialect, str in the other."""
    loop = asking(dialect)
    loop.model_answered(CALLING)

    assert [("call_1", text)] == results(loop.tools_ended([Returned({"a": None})]))
