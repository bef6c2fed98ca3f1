"""Loops without a provider, and what can be read off their questions."""

from __future__ import annotations

from looptck_reference import CORE, OPENAI_CHAT, Agent, Ask, Dialect, Loop, Stop, Tool, ToolCall, Turn
from meta.reference.reference_replies import QUESTION

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
