"""What each dialect does about the faults of a call."""

from __future__ import annotations

import pytest

from looptck_reference import (
    ANTHROPIC_LOOP,
    CORE,
    PROMPTY_AGENT_MODE,
    PROMPTY_SPEC,
    Action,
    Dialect,
    Fail,
    LimitReached,
)
from looptck_reference.vocabulary.actions import Returned
from meta.reference.reference_loops import CALLING, asking, results


def test_a_value_without_a_text_is_the_tools_fault() -> None:
    """What neither JSON nor str can write is treated like an exception of the tool."""
    loop = asking()
    loop.model_answered(CALLING)

    [(_, told)] = results(loop.tools_ended([Returned({(1, 2): 3})]))

    assert told.startswith("Error: tool 'ping' failed: TypeError")


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
