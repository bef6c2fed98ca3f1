"""The loop core: what it says next, told what happened."""

from __future__ import annotations

from dataclasses import replace

import pytest
from looptck_reference import (
    CORE,
    OPENAI_CHAT,
    PROMPTY_SPEC,
    Agent,
    Answer,
    Ask,
    BadArguments,
    Delta,
    Dialect,
    Fail,
    Finish,
    LimitReached,
    Loop,
    OutOfTurn,
    Run,
    Stop,
    Tool,
    ToolCall,
    Turn,
    TurnCut,
)
from reference_replies import QUESTION

PING = ToolCall("call_1", "ping", '{"n":1}')
PONG = ToolCall("call_2", "pong", '{"n":2}')
CALLING = Turn(calls=(PING,), stop=Stop.CALLS)


def no_handler_is_called(**_: object) -> None:
    """The core never calls a handler itself."""
    raise AssertionError


TOOLS = [Tool("ping", handler=no_handler_is_called), Tool("pong", handler=no_handler_is_called), Tool("orphan")]


def new(dialect: Dialect = CORE, limit: int | None = None) -> Loop:
    """A loop that has not begun."""
    return Loop(Agent("m", [QUESTION], TOOLS), wire=OPENAI_CHAT, dialect=dialect, limit=limit)


def asking(dialect: Dialect = CORE, limit: int | None = None) -> Loop:
    """A loop that waits for the model."""
    loop = new(dialect, limit)
    loop.start()
    return loop


def results(action: object) -> list[tuple[str, str]]:
    """Id and text of the results that a question ends with."""
    assert isinstance(action, Ask)
    return [(one["tool_call_id"], one["content"]) for one in action.history if one["role"] == "tool"]


def test_the_first_question_is_the_callers_messages() -> None:
    """Nothing is added to what the caller wants said."""
    assert Ask((QUESTION,)) == new().start()


def test_a_turn_without_calls_is_the_answer() -> None:
    """Its text is what the caller gets."""
    assert Finish(Answer("18 °C")) == asking().model_answered(Turn("18 °C"))


def test_an_empty_answer_is_an_answer() -> None:
    """No text at all ends the run like any other text."""
    assert Finish(Answer("")) == asking().model_answered(Turn())


def test_calls_are_run_one_after_the_other_in_order() -> None:
    """The second call is run when the first has ended."""
    loop = asking()

    first = loop.model_answered(Turn(calls=(PING, PONG)))
    second = loop.tool_returned("a")

    assert Run(PING, no_handler_is_called, {"n": 1}) == first
    assert Run(PONG, no_handler_is_called, {"n": 2}) == second
    assert [("call_1", "a"), ("call_2", "b")] == results(loop.tool_returned("b"))


def test_duplicate_ids_are_both_run_and_both_answered() -> None:
    """An id that comes twice does not lose a call."""
    loop = asking()

    loop.model_answered(Turn(calls=(PING, replace(PONG, id="call_1"))))
    loop.tool_returned("a")

    assert [("call_1", "a"), ("call_1", "b")] == results(loop.tool_returned("b"))


@pytest.mark.parametrize("stop", [Stop.LENGTH, Stop.CONTENT_FILTER])
@pytest.mark.parametrize("dialect", [CORE, PROMPTY_SPEC])
def test_a_cut_turn_is_never_run(stop: Stop, dialect: Dialect) -> None:
    """Calls of a turn that was cut fail the run, with an error that says by what."""
    action = asking(dialect).model_answered(Turn(calls=(PING,), stop=stop))

    assert isinstance(action, Fail)
    assert (TurnCut, "truncated") == (type(action.error), action.reason)
    assert stop in str(action.error)


@pytest.mark.parametrize("stop", [Stop.LENGTH, Stop.CONTENT_FILTER, Stop.REFUSAL])
def test_an_unusual_stop_is_told(stop: Stop) -> None:
    """Text that was cut or refused is the answer, marked as such."""
    assert Finish(Answer("18", stop)) == asking().model_answered(Turn("18", stop=stop))


def test_a_refusal_runs_nothing() -> None:
    """A refusal is final even if calls came with it."""
    assert Finish(Answer("no", Stop.REFUSAL)) == asking().model_answered(Turn("no", (PING,), Stop.REFUSAL))


@pytest.mark.parametrize("stop", [Stop.END, Stop.CALLS])
def test_calls_decide_not_the_finish_reason(stop: Stop) -> None:
    """A forced call comes with the finish reason of a text."""
    assert isinstance(asking().model_answered(Turn(calls=(PING,), stop=stop)), Run)


def test_a_dialect_may_let_the_finish_reason_decide() -> None:
    """With such a dialect the calls of a turn that ended with stop are not run."""
    dialect = replace(CORE, runs_calls_on=frozenset({Stop.CALLS}))

    assert isinstance(asking(dialect).model_answered(CALLING), Run)
    assert Finish(Answer("x")) == asking(dialect).model_answered(Turn("x", (PING,), Stop.END))


def test_announced_calls_that_do_not_come_end_the_run() -> None:
    """A turn that stops for calls and has none is an answer that ended."""
    assert Finish(Answer("x")) == asking().model_answered(Turn("x", stop=Stop.CALLS))


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


@pytest.mark.parametrize("limit", [0, 1, 3, None])
@pytest.mark.parametrize(
    ("dialect", "error", "message"),
    [(CORE, LimitReached, "after {} model calls"), (PROMPTY_SPEC, RuntimeError, "Agent loop exceeded {} iterations")],
)
def test_the_limit_counts_model_calls(
    dialect: Dialect, error: type[Exception], message: str, limit: int | None
) -> None:
    """With limit n the model is asked n times, the tools of the last round run, and then the run fails."""
    loop = new(dialect, limit)
    rounds = 0
    action = loop.start()
    while isinstance(action, Ask):
        loop.model_answered(CALLING)
        rounds += 1
        action = loop.tool_returned("x")

    allowed = 10 if limit is None else limit
    assert isinstance(action, Fail)
    assert (allowed, allowed, "limit") == (rounds, loop.model_calls, action.reason)
    assert error is type(action.error)
    assert message.format(allowed) in str(action.error)


def test_an_answer_at_the_limit_is_an_answer() -> None:
    """A limit is a ceiling on questions, not on answers."""
    assert Finish(Answer("x")) == asking(limit=1).model_answered(Turn("x"))


def test_bindings_override_what_the_model_says() -> None:
    """Bound parameters come from the agent's inputs."""
    tool = Tool("ping", handler=no_handler_is_called, bindings={"n": "number"})
    loop = Loop(Agent("m", [QUESTION], [tool], inputs={"number": 7}), wire=OPENAI_CHAT)
    loop.start()

    assert Run(PING, no_handler_is_called, {"n": 7}) == loop.model_answered(CALLING)


def test_usage_is_collected() -> None:
    """The answer has the usage of each model call that reported one."""
    loop = asking()
    loop.model_answered(replace(CALLING, usage={"total_tokens": 1}))
    loop.tool_returned("x")

    action = loop.model_answered(Turn("y", usage={"total_tokens": 2}))

    assert Finish(Answer("y", usage=({"total_tokens": 1}, {"total_tokens": 2}))) == action


def test_a_loop_knows_how_it_ended() -> None:
    """The last action is kept for whoever asks later."""
    loop = asking()
    assert loop.end is None

    assert loop.model_answered(Turn("x")) is loop.end


def test_the_caller_is_spared_tool_turns_by_dialect() -> None:
    """The text of a turn that is known to call tools is forwarded in one dialect and held back in the other."""
    forwarded = [[new(dialect).forwards(Delta("x", calling)) for calling in (False, True)]
                 for dialect in (CORE, PROMPTY_SPEC)]  # fmt: skip

    assert [[True, True], [True, False]] == forwarded


@pytest.mark.parametrize(
    "report",
    [
        lambda loop: loop.start(),
        lambda loop: loop.tool_returned("x"),
        lambda loop: loop.tool_raised(ValueError()),
        lambda loop: (loop.model_answered(CALLING), loop.model_answered(CALLING)),
        lambda loop: (loop.model_answered(Turn("x")), loop.model_answered(Turn("x"))),
    ],
)
def test_reports_out_of_turn_are_refused(report: object) -> None:
    """A runner that says what the loop does not wait for is told so."""
    with pytest.raises(OutOfTurn):
        report(asking())  # type: ignore[operator]


def test_two_tools_of_one_name_are_refused() -> None:
    """The model could not tell them apart, nor could the loop."""
    with pytest.raises(ValueError, match="one name"):
        Agent("m", [], [Tool("ping"), Tool("ping")])
