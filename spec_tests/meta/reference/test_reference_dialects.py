"""What each dialect does about the faults of a call."""

from __future__ import annotations

import pytest

from looptck_reference import CORE, PROMPTY_SPEC, BadArguments, Dialect, Fail, Run, ToolCall, Turn
from meta.reference.reference_loops import CALLING, PING, PONG, asking, results


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
    loop.tool_raised(KeyError("city"))

    told = results(loop.tool_returned("b"))

    assert [("call_1", "Error: tool 'ping' failed: KeyError: 'city'"), ("call_2", "b")] == told


def test_a_value_without_a_text_is_the_tools_fault() -> None:
    """What neither JSON nor str can write is treated like an exception of the tool."""
    loop = asking()
    loop.model_answered(CALLING)

    [(_, told)] = results(loop.tool_returned({(1, 2): 3}))

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

    action = loop.tool_raised(error)

    assert Fail(error, "tool") == action


def test_prompty_runs_earlier_calls_before_a_later_one_fails() -> None:
    """Calls are looked at one after the other, so an unknown second tool does not stop the first."""
    loop = asking(PROMPTY_SPEC)

    assert isinstance(loop.model_answered(Turn(calls=(PING, ToolCall("c", "nope", "{}")))), Run)
    assert isinstance(loop.tool_returned("a"), Fail)


@pytest.mark.parametrize(("dialect", "text"), [(CORE, '{"a": null}'), (PROMPTY_SPEC, "{'a': None}")])
def test_results_become_text_as_the_dialect_says(dialect: Dialect, text: str) -> None:
    """JSON in one dialect, str in the other."""
    loop = asking(dialect)
    loop.model_answered(CALLING)

    assert [("call_1", text)] == results(loop.tool_returned({"a": None}))
