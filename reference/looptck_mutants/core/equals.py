"""Calls that are taken for others: equal to an earlier one, or of a name that begins alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.loop.tools import Handler
from looptck_reference.loop.values import ToolCall, ToolResult, Turn


class Remembering(Loop):
    """Answers a call with what an equal one was answered."""

    forgets = False
    """Whether it forgets at the end of a turn."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.known: dict[tuple[str, str], ToolResult] = {}
        self.turn = Turn()

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        """Those that have no answer yet, each once."""
        self.turn = turn
        first = {_said(call): call for call in reversed(turn.calls) if _said(call) not in self.known}
        return [call for call in turn.calls if first.get(_said(call)) is call]

    def append_results(self, results: Sequence[ToolResult]) -> None:
        """One for each call of the turn."""
        ran = {result.call_id: result for result in results}
        self.known |= {_said(call): ran[call.id] for call in self.turn.calls if call.id in ran}
        super().append_results([replace(self.known[_said(call)], call_id=call.id) for call in self.turn.calls])
        if self.forgets:
            self.known.clear()


def _said(call: ToolCall) -> tuple[str, str]:
    return call.name, call.arguments


@breaks("equal-calls-run-again")
class EqualsRunOnce(Remembering):
    """Runs one of several equal calls of a turn, and answers all of them with it."""

    forgets = True


@breaks("equal-calls-run-again")
class CachedAnswers(Remembering):
    """Answers a call that an earlier turn has made with the answer of then."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        self.turn = turn
        return [call for call in turn.calls if _said(call) not in self.known]

    def append_results(self, results: Sequence[ToolResult]) -> None:
        ran = {result.call_id: result for result in results}
        whole = [
            ran[call.id] if call.id in ran else replace(self.known[_said(call)], call_id=call.id)
            for call in self.turn.calls
        ]
        self.known |= {_said(call): ran[call.id] for call in self.turn.calls if call.id in ran}
        Loop.append_results(self, whole)


@breaks("ids-may-come-again")
class KnownIdsAnsweredAtOnce(Loop):
    """Answers a call whose id has an answer with that."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.known: dict[str, ToolResult] = {}
        self.turn = Turn()

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        self.turn = turn
        return [call for call in turn.calls if call.id not in self.known]

    def append_results(self, results: Sequence[ToolResult]) -> None:
        old = [self.known[call.id] for call in self.turn.calls if call.id in self.known]
        self.known |= {result.call_id: result for result in results}
        super().append_results([*old, *results])


@breaks(
    "every-call-of-a-turn-runs",
    collateral={"results-carry-their-call-ids": "what did not run has no result of its own"},
)
class TenCallsAtMost(Loop):
    """Runs ten calls of a turn, and answers the others with a word of its own."""

    rest: Sequence[ToolCall] = ()

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        self.rest = turn.calls[10:]
        return turn.calls[:10]

    def append_results(self, results: Sequence[ToolResult]) -> None:
        untold = [ToolResult(call.id, call.name, "Too many calls.") for call in self.rest]
        super().append_results([*results, *untold])


@breaks("calls-run-the-tool-they-name")
class FirstNameThatBeginsAlike(Loop):
    """Runs the first tool with whose name that of a call begins."""

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        found = next((name for name in self.tools if call.name.startswith(name)), call.name)
        return super().handler_of_name(replace(call, name=found))


@breaks("calls-run-the-tool-they-name")
class HyphensAreUnderscores(Loop):
    """Looks a tool up by its name as an identifier."""

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        return super().handler_of_name(replace(call, name=call.name.replace("-", "_")))
