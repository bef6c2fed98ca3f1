"""Dialects: how each document answers the questions on which agent-loop documents differ.

A dialect is a value that the loop reads, so a new document is a new value and needs no new code.

A fault in a call (no handler, bad arguments, a raising tool) has one of three consequences:

* `FeedBack`: the model gets a text instead of a result, and the loop goes on;
* `Raise`: the run fails with an error that the document prescribes;
* `Propagate`: the run fails with the error as it is, the tool's own exception for instance.

Templates may use `{name}` and `{kind}` of the tool, `{type}` and `{message}` of the error, and `{limit}`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from looptck_reference.vocabulary.errors import LimitReached
from looptck_reference.vocabulary.tools import json_text
from looptck_reference.vocabulary.values import Stop

__all__ = [
    "ANTHROPIC_LOOP",
    "CORE",
    "PROMPTY_AGENT_MODE",
    "PROMPTY_SPEC",
    "Dialect",
    "FeedBack",
    "Policy",
    "Propagate",
    "Raise",
]


@dataclass(frozen=True, slots=True)
class FeedBack:
    """Answer the call with this text."""

    template: str


@dataclass(frozen=True, slots=True)
class Raise:
    """Fail the run with an error of this type and text."""

    error: type[Exception]
    template: str


@dataclass(frozen=True, slots=True)
class Propagate:
    """Fail the run with the error itself."""


Policy = FeedBack | Raise | Propagate

# The calls of a turn run if the wire means them to be run. A document may allow fewer, never more: the loop itself
# guarantees that a cut or refused turn does not run.
CALLS_DECIDE = frozenset({Stop.END, Stop.CALLS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One document's answers.

    limit: model calls allowed if the caller sets no limit.
    limit_error: the error of the run if the model wants more rounds than the limit allows.
    unknown_tool, bad_arguments, tool_raises: the consequence of each fault.
    runs_calls_on: the stops at which a turn's calls run if the wire means them to; at others its text is the answer.
    result_text: how a tool's value becomes the text that the model reads.
    holds_back_tool_turns: whether the text of a turn is withheld from a streaming caller once the turn is known to call
        tools.
    parallel: whether the calls of a turn run at the same time.
    """

    limit: int
    limit_error: Raise
    unknown_tool: Policy
    bad_arguments: Policy
    tool_raises: Policy
    runs_calls_on: frozenset[Stop]
    result_text: Callable[[object], str]
    holds_back_tool_turns: bool
    parallel: bool = False


CORE = Dialect(
    limit=10,
    limit_error=Raise(
        LimitReached,
        "the model had not answered after {limit} model calls; raise the limit if the task needs more rounds",
    ),
    unknown_tool=FeedBack("Error: tool '{name}' cannot be called: no handler is registered for it."),
    bad_arguments=FeedBack("Error: the arguments of tool '{name}' are not a JSON object: {message}"),
    tool_raises=FeedBack("Error: tool '{name}' failed: {type}: {message}"),
    runs_calls_on=CALLS_DECIDE,
    result_text=json_text,
    holds_back_tool_turns=False,
    parallel=True,
)

PROMPTY_SPEC = Dialect(
    limit=10,
    limit_error=Raise(RuntimeError, "Agent loop exceeded {limit} iterations"),
    unknown_tool=Raise(ValueError, "No handler registered for tool: {name} (kind: {kind})"),
    bad_arguments=Propagate(),
    tool_raises=Propagate(),
    runs_calls_on=CALLS_DECIDE,
    result_text=str,
    holds_back_tool_turns=True,
)

PROMPTY_AGENT_MODE = Dialect(
    limit=10,
    limit_error=Raise(ValueError, "Agent loop exceeded max_iterations ({limit})"),
    unknown_tool=FeedBack("Error: tool '{name}' not found in tools dict"),
    bad_arguments=FeedBack("Error parsing arguments: {message}"),
    tool_raises=FeedBack("Error executing {name}: {type}: {message}"),
    runs_calls_on=frozenset({Stop.CALLS}),
    result_text=str,
    holds_back_tool_turns=True,
)

ANTHROPIC_LOOP = Dialect(
    limit=10,
    limit_error=Raise(LimitReached, "Loop exceeded max turns ({limit})"),
    unknown_tool=FeedBack("Error: No handler registered for tool: {name}"),
    bad_arguments=FeedBack("Error: the input of {name} is not a JSON object: {message}"),
    tool_raises=FeedBack("Error: {message}"),
    runs_calls_on=frozenset({Stop.CALLS}),
    result_text=json_text,
    holds_back_tool_turns=False,
    parallel=True,
)
