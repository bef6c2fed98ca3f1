"""The loop core: what it says next, told what happened."""

from __future__ import annotations

from dataclasses import replace

import pytest

from looptck_reference import (
    ANTHROPIC_MESSAGES,
    CORE,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    PROMPTY_SPEC,
    Agent,
    Answer,
    Ask,
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
from looptck_reference.vocabulary.actions import Raised, Returned, RunTools
from meta.reference.reference_loops import CALLING, PING, PONG, TOOLS, asking, new, no_handler_is_called, results
from meta.reference.reference_replies import QUESTION


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
    second = loop.tools_ended([Returned("a")])

    assert RunTools((Run(PING, no_handler_is_called, {"n": 1}),)) == first
    assert RunTools((Run(PONG, no_handler_is_called, {"n": 2}),)) == second
    assert [("call_1", "a"), ("call_2", "b")] == results(loop.tools_ended([Returned("b")]))


def test_duplicate_ids_are_both_run_and_both_answered() -> None:
    """An id that comes twice does not lose a call."""
    loop = asking()

    loop.model_answered(Turn(calls=(PING, replace(PONG, id="call_1"))))
    loop.tools_ended([Returned("a")])

    assert [("call_1", "a"), ("call_1", "b")] == results(loop.tools_ended([Returned("b")]))


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
    assert Finish(Answer("no", Stop.REFUSAL, calls=(PING,))) == asking().model_answered(
        Turn("no", (PING,), Stop.REFUSAL)
    )


@pytest.mark.parametrize("stop", [Stop.END, Stop.CALLS])
def test_calls_decide_not_the_finish_reason(stop: Stop) -> None:
    """A forced call comes with the finish reason of a text."""
    assert isinstance(asking().model_answered(Turn(calls=(PING,), stop=stop)), RunTools)


def test_a_dialect_may_let_the_finish_reason_decide() -> None:
    """With such a dialect the calls of a turn that ended with stop are not run."""
    dialect = replace(CORE, runs_calls_on=frozenset({Stop.CALLS}))

    assert isinstance(asking(dialect).model_answered(CALLING), RunTools)
    assert Finish(Answer("x", calls=(PING,))) == asking(dialect).model_answered(Turn("x", (PING,), Stop.END))


def test_a_wire_may_let_the_stop_reason_decide() -> None:
    """Where the wire does not mean the calls of a turn that ended, no dialect runs them."""
    for wire in (ANTHROPIC_MESSAGES, OPENAI_RESPONSES):
        loop = Loop(Agent("m", [QUESTION], TOOLS), wire=wire)
        loop.start()

        assert Finish(Answer("x", calls=(PING,))) == loop.model_answered(Turn("x", (PING,), Stop.END))


CONTENT = ({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},)


def pausing(limit: int | None = None) -> Loop:
    """A loop that waits for a model that may pause."""
    loop = Loop(Agent("m", [QUESTION], TOOLS), wire=ANTHROPIC_MESSAGES, limit=limit)
    loop.start()
    return loop


@pytest.mark.parametrize("calls", [(), (PING,)])
def test_a_paused_turn_goes_on(calls: tuple[ToolCall, ...]) -> None:
    """It is sent back as it is, with no message of the user behind it, and its calls are not run."""
    action = pausing().model_answered(Turn("", calls, Stop.PAUSE, content=CONTENT))

    assert Ask((QUESTION, {"role": "assistant", "content": [*CONTENT]})) == action


def test_a_pause_counts_against_the_limit() -> None:
    """A model that pauses for ever is not asked for ever."""
    loop = pausing(limit=2)
    paused = Turn("", (), Stop.PAUSE, content=CONTENT)

    assert isinstance(loop.model_answered(paused), Ask)
    action = loop.model_answered(paused)

    assert isinstance(action, Fail)
    assert (LimitReached, "limit", 2) == (type(action.error), action.reason, loop.model_calls)


def test_an_empty_pause_adds_nothing() -> None:
    """An empty message is not sent back."""
    assert Ask((QUESTION,)) == pausing().model_answered(Turn("", (), Stop.PAUSE))


def test_announced_calls_that_do_not_come_end_the_run() -> None:
    """A turn that stops for calls and has none is an answer that ended."""
    assert Finish(Answer("x")) == asking().model_answered(Turn("x", stop=Stop.CALLS))


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
        action = loop.tools_ended([Returned("x")])

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

    assert RunTools((Run(PING, no_handler_is_called, {"n": 7}),)) == loop.model_answered(CALLING)


def test_usage_is_collected() -> None:
    """The answer has the usage of each model call that reported one."""
    loop = asking()
    loop.model_answered(replace(CALLING, usage={"total_tokens": 1}))
    loop.tools_ended([Returned("x")])

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
        lambda loop: loop.tools_ended([Returned("x")]),
        lambda loop: loop.tools_ended([Raised(ValueError())]),
        lambda loop: (loop.model_answered(CALLING), loop.model_answered(CALLING)),
        lambda loop: (loop.model_answered(Turn("x")), loop.model_answered(Turn("x"))),
    ],
)
def test_reports_out_of_turn_are_refused(report: object) -> None:
    """A runner that says what the loop does not wait for is told so."""
    with pytest.raises(OutOfTurn):
        report(asking())  # type: ignore[operator]


def test_a_call_that_needs_approval_and_cannot_run_ends_a_run_that_no_fault_survives() -> None:
    """Nobody is asked about a call whose fault ends the run."""
    tools = [Tool("ping", handler=no_handler_is_called, approval=True)]
    loop = Loop(Agent("m", [QUESTION], tools), wire=OPENAI_CHAT, dialect=PROMPTY_SPEC)
    loop.start()

    action = loop.model_answered(Turn(calls=(replace(PING, arguments="{"),), stop=Stop.CALLS))

    assert isinstance(action, Fail)
    assert "arguments" == action.reason


def test_of_several_faults_the_first_ends_the_run() -> None:
    """Calls that run together may fail together: the error is that of the first call."""
    loop = asking(replace(PROMPTY_SPEC, parallel=True))
    loop.model_answered(Turn(calls=(PING, PONG), stop=Stop.CALLS))
    errors = ValueError("of ping"), KeyError("of pong")

    action = loop.tools_ended([Raised(error) for error in errors])

    assert isinstance(action, Fail)
    assert errors[0] is action.error


def test_two_tools_of_one_name_are_refused() -> None:
    """The model could not tell them apart, nor could the loop."""
    with pytest.raises(ValueError, match="one name"):
        Agent("m", [], [Tool("ping"), Tool("ping")])
