"""Loops with faults that act in every run; the broad mutants of each profile derive from them.

A targeted mutant acts only where one requirement is at stake, so it usually fails one of several cases. A broad one
names the requirements whose cases it must fail one by one; other failures are not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.vocabulary.actions import Action, Finish
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.dialects import Dialect
from looptck_reference.vocabulary.tools import Handler, Tool
from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult, Turn

GARBLED = "garbled"


class AnswersBackwards(Loop):
    """Returns the text of the answer reversed."""

    def stop(self, turn: Turn) -> Action:
        end = super().stop(turn)
        if isinstance(end, Finish):
            return Finish(replace(end.answer, text=f"{GARBLED} {end.answer.text[::-1]}"))
        return end


class NeverEnds(Loop):
    """Asks the model again after its answer."""

    def decide(self, turn: Turn) -> Decision:
        decision = super().decide(turn)
        return Decision.RESUME if decision is Decision.ANSWER else decision


class RunsThrice(Loop):
    """Runs each tool three times."""

    def handler_for(self, call: ToolCall) -> Handler | None:
        handler = super().handler_for(call)

        def thrice(**arguments: Any) -> Any:
            assert handler is not None
            handler(**arguments)
            handler(**arguments)
            return handler(**arguments)

        return None if handler is None else thrice


class RunsTheFirstOnly(Loop):
    """Runs the first call of a turn, for each of its calls."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        return turn.calls[:1] * len(turn.calls)


class RunsCutCalls(Loop):
    """Runs all calls, whatever the stop reason of the turn."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.RUN if turn.calls else super().decide(turn)


class HandsNothing(Loop):
    """Runs every tool without arguments."""

    def bind(self, tool: Tool | None, arguments: Json) -> Json:
        return {}


class OneByOne(Loop):
    """Runs the calls of a turn one after another."""

    def __init__(self, agent: Agent, *, dialect: Dialect, **options: Any) -> None:
        super().__init__(agent, dialect=replace(dialect, parallel=False), **options)


class ForgetsIds(Loop):
    """Sends each result with an id that does not exist."""

    def answer_id(self, call: ToolCall) -> str:
        return f"{call.id}_{GARBLED}"


class GarblesResults(Loop):
    """Sends the same word as the result of every call."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([replace(result, text=GARBLED) for result in results])


class WordBeforeResults(Loop):
    """Adds a user message between a turn and its results."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        self.history.append({"role": "user", "content": "Results:"})
        super().append_results(results)


class EchoesGarbled(Loop):
    """Sends turns back with changed texts and arguments."""

    def append_turn(self, turn: Turn) -> None:
        before = len(self.history)
        super().append_turn(turn)
        self.history[before:] = [_garbled(message) for message in self.history[before:]]


class EchoesBackwards(Loop):
    """Sends the parts of a turn back in reverse order."""

    def append_turn(self, turn: Turn) -> None:
        before = len(self.history)
        super().append_turn(turn)
        new = self.history[before:]
        for message in new:
            if isinstance(message.get("content"), list):
                message["content"] = message["content"][::-1]
        self.history[before:] = new[::-1]


class KeepsTheLastFour(Loop):
    """Sends only the last four messages of the history."""

    def remembered(self) -> Sequence[Json]:
        return super().remembered()[-4:]


TEXTS = {"text", "thinking", "signature", "encrypted_content", "reasoning_content", "content"}


def _garbled(value: Any) -> Any:
    match value:
        case dict():
            return {name: _member(name, one) for name, one in value.items()}
        case list():
            return [_garbled(one) for one in value]
    return value


def _member(name: str, value: Any) -> Any:
    if name == "arguments":
        return f'{{"{GARBLED}": true}}'
    if name == "input" and isinstance(value, dict):
        return {GARBLED: True}
    return GARBLED if name in TEXTS and isinstance(value, str) else _garbled(value)
