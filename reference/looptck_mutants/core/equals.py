"""Calls that are mistaken for others: for an equal earlier one, or for one with a similar name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from looptck_mutants.breaking import Collateral
from looptck_mutants.cells import CHAT
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.tools import Handler
from looptck_reference.vocabulary.values import ToolCall, ToolResult, Turn

NEAR = 0.8
"""How alike two names are that differ in one of seven letters, or less; 1: equal."""
RESUMED: Collateral = {
    (
        "resumed-run-equals-an-unbroken-one",
        "resume-obeys-each-decision",
        "resume-obeys-each-change",
        "suspended-state-travels",
    ): "a turn that is resumed may have two equal calls, and one of them has no result"
}


class Remembering(Loop):
    """Answers a call with the result of an equal earlier call."""

    forgets = False
    """Whether the results are discarded at the end of a turn."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.known: dict[tuple[str, str], ToolResult] = {}
        self.turn = Turn()

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        """The calls without a known result, each once."""
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


@breaks("equal-calls-run-again", collateral={**RESUMED, "events-tell-calls-apart": "one of two equal calls is told"})
class EqualsRunOnce(Remembering):
    """Runs only one of several equal calls of a turn, and uses its result for all of them."""

    forgets = True


@breaks("equal-calls-run-again", collateral=RESUMED)
class CachedAnswers(Remembering):
    """Answers a call with the result of an equal call of an earlier turn."""

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
    """Answers a call with an earlier result if its id was used before."""

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


@breaks("ids-may-come-again", cells=CHAT)
class NewestResultOfAnId(Loop):
    """Looks up the results of all turns by the ids of their calls, so that a reused id has the newest result twice."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        before = len(self.history)
        super().append_results(results)
        newest = {one["tool_call_id"]: one for one in self.history[before:] if "tool_call_id" in one}
        self.history[:before] = [newest.get(one.get("tool_call_id", ""), one) for one in self.history[:before]]


@breaks("calls-run-the-tool-they-name", collateral={"names-that-fall-together-stay-apart": "such names begin alike"})
class FirstNameThatBeginsAlike(Loop):
    """Runs the first tool whose name is a prefix of the called name."""

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        found = next((name for name in self.tools if call.name.startswith(name)), call.name)
        return super().handler_of_name(replace(call, name=found))


@breaks("calls-run-the-tool-they-name")
class HyphensAreUnderscores(Loop):
    """Treats hyphens in tool names as underscores."""

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        return super().handler_of_name(replace(call, name=call.name.replace("-", "_")))


@breaks("similar-name-runs-no-tool", cells=CHAT)
class RunsTheNearestName(Loop):
    """Runs the offered tool whose name is nearest to that of a call, if it is near enough."""

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        known = super().handler_of_name(call)
        near = get_close_matches(call.name, self.tools, 1, NEAR)
        return super().handler_of_name(replace(call, name=near[0])) if known is None and near else known


@breaks("long-ids-stay-apart")
class IdsOfForty(Loop):
    """Knows calls by the first forty characters of their ids."""

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(replace(turn, calls=tuple(replace(call, id=call.id[:40]) for call in turn.calls)))

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([replace(one, call_id=one.call_id[:40]) for one in results])
