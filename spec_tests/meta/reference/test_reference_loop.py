"""The loop core: what it says next, told what happened."""

from __future__ import annotations

from dataclasses import replace

import pytest

from looptck_reference import (
    ANTHROPIC_MESSAGES,
    CORE,
    OPENAI_CHAT,
    PROMPTY_SPEC,
    Agent,
    Answer,
    Ask,
    Dialect,
    Fail,
    Finish,
    LimitReached,
    Loop,
    Stop,
    Tool,
    Turn,
    TurnCut,
)
from looptck_reference.vocabulary.actions import Raised, Returned
from meta.reference.reference_loops import CALLING, PING, PONG, TOOLS, asking, no_handler_is_called
from meta.reference.reference_replies import QUESTION


def test_a_turn_without_calls_is_the_answer() -> None:
    """Its text is what the caller gets."""
    assert Finish(Answer("18 °C")) == asking().model_answered(Turn("18 °C"))


@pytest.mark.parametrize("stop", [Stop.LENGTH, Stop.CONTENT_FILTER])
@pytest.mark.parametrize("dialect", [CORE, PROMPTY_SPEC])
def test_a_cut_turn_is_never_run(stop: Stop, dialect: Dialect) -> None:
    """Calls of a turn that was cut fail the run, with an error that says by what."""
    action = asking(dialect).model_answered(Turn(calls=(PING,), stop=stop))

    assert isinstance(action, Fail)
    assert (TurnCut, "truncated") == (type(action.error), action.reason)
    assert stop in str(action.error)


CONTENT = ({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},)


def pausing(limit: int | None = None) -> Loop:
    """A loop that waits for a model that may pause."""
    loop = Loop(Agent("m", [QUESTION], TOOLS), wire=ANTHROPIC_MESSAGES, limit=limit)
    loop.start()
    return loop


def test_a_pause_counts_against_the_limit() -> None:
    """A model that pauses for ever is not asked for ever."""
    loop = pausing(limit=2)
    paused = Turn("", (), Stop.PAUSE, content=CONTENT)

    assert isinstance(loop.model_answered(paused), Ask)
    action = loop.model_answered(paused)

    assert isinstance(action, Fail)
    assert (LimitReached, "limit", 2) == (type(action.error), action.reason, loop.model_calls)


def test_usage_is_collected() -> None:
    """The answer has the usage of each model call that reported one."""
    loop = asking()
    loop.model_answered(replace(CALLING, usage={"total_tokens": 1}))
    loop.tools_ended([Returned("x")])

    action = loop.model_answered(Turn("y", usage={"total_tokens": 2}))

    assert Finish(Answer("y", usage=({"total_tokens": 1}, {"total_tokens": 2}))) == action


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
