"""Loops with faults that act in every run: the broad mutants of each profile are made of them.

A targeted mutant acts where one requirement is at stake and nothing else, so it mostly fails one case of several. A
broad one names the requirements that it is to prove case by case; what else fails with it is not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from looptck_reference.loop.actions import Action, Finish
from looptck_reference.loop.agent import Agent
from looptck_reference.loop.dialects import Dialect
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.loop.tools import Handler, Tool
from looptck_reference.loop.values import Json, ToolCall, ToolResult, Turn

GARBLED = "garbled"


class AnswersBackwards(Loop):
    """Returns the text of the answer from its last character to its first."""

    def stop(self, turn: Turn) -> Action:
        end = super().stop(turn)
        if isinstance(end, Finish):
            return Finish(replace(end.answer, text=f"{GARBLED} {end.answer.text[::-1]}"))
        return end


class NeverEnds(Loop):
    """Asks the model to go on when it has answered."""

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
    """Runs whatever calls it finds, why ever the turn stopped."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.RUN if turn.calls else super().decide(turn)


class HandsNothing(Loop):
    """Hands no tool any argument."""

    def bind(self, tool: Tool | None, arguments: Json) -> Json:
        return {}


class OneByOne(Loop):
    """Runs the calls of a turn one after another."""

    def __init__(self, agent: Agent, *, dialect: Dialect, **options: Any) -> None:
        super().__init__(agent, dialect=replace(dialect, parallel=False), **options)


class ForgetsIds(Loop):
    """Sends each result back under an id that nobody has given."""

    def answer_id(self, call: ToolCall) -> str:
        return f"{call.id}_{GARBLED}"


class GarblesResults(Loop):
    """Sends the same word back as the result of every call."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([replace(result, text=GARBLED) for result in results])


class WordBeforeResults(Loop):
    """Says something between a turn and its results."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        self.history.append({"role": "user", "content": "Results:"})
        super().append_results(results)


class EchoesGarbled(Loop):
    """Echoes a turn of the model with other texts and arguments."""

    def append_turn(self, turn: Turn) -> None:
        before = len(self.history)
        super().append_turn(turn)
        self.history[before:] = [_garbled(message) for message in self.history[before:]]


class EchoesBackwards(Loop):
    """Echoes the parts of a turn from the last to the first."""

    def append_turn(self, turn: Turn) -> None:
        before = len(self.history)
        super().append_turn(turn)
        new = self.history[before:]
        for message in new:
            if isinstance(message.get("content"), list):
                message["content"] = message["content"][::-1]
        self.history[before:] = new[::-1]


class KeepsTheLastFour(Loop):
    """Asks with the last four messages."""

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
