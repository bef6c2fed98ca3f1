"""Rounds that are counted, run, kept or answered wrongly: the loop of one agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from looptck_mutants.cells import RESPONSES
from looptck_mutants.parts import breaks
from looptck_mutants.prompty_spec.loaded import is_loaded
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Action
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult, Turn


@breaks("spec-limit-counts-model-calls")
class ZeroIsOne(Loop):
    """Asks the model once although its limit is zero."""

    def limit_reached(self) -> bool:
        return self.model_calls >= max(self.limit, 1)


@breaks("spec-last-round-runs-its-tools")
class LastRoundIdle(Loop):
    """Fails before it runs the tools of the last round."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        return () if self.limit_reached() else turn.calls


@breaks("spec-each-iteration-sends-all-messages")
class MiddleForgotten(Loop):
    """Sends only the prompt and the last round."""

    def remembered(self) -> Sequence[Json]:
        prompt, *ends = self.round_ends
        last = [prompt, *ends][-2:][0]
        return [*self.history[:prompt], *self.history[last:]]


@breaks("spec-calls-come-before-their-results", cells=RESPONSES)
class CallByCall(Loop):
    """Puts each result directly after its call, before the next call."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results)
        order = {result.call_id: place for place, result in enumerate(results)}
        added = self.history[self.round_ends[-1] :]
        self.history[self.round_ends[-1] :] = sorted(added, key=lambda item: order.get(item.get("call_id", ""), -1))


@breaks("spec-tools-run-one-after-the-other")
class FunctionsTogether(Loop):
    """Runs the functions of a turn at the same time."""

    def __init__(self, agent: Agent, **options: Any) -> None:
        super().__init__(agent, **options)
        self.dialect = replace(self.dialect, parallel=all(tool.kind != "prompty" for tool in agent.tools))


@breaks("spec-tools-run-one-after-the-other")
class ByName(Loop):
    """Runs the calls of a turn sorted by name, and appends their results in the order of the turn."""

    order: Mapping[str, int]

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        self.order = {call.id: place for place, call in enumerate(turn.calls)}
        return sorted(turn.calls, key=lambda call: call.name)

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(sorted(results, key=lambda result: self.order[result.call_id]))


@breaks("spec-handler-gets-the-parsed-arguments")
class WholeNumbersAsText(Loop):
    """Passes integers to the handler as text."""

    def parse_arguments(self, text: str) -> Json:
        parsed = super().parse_arguments(text)
        return {name: str(value) if type(value) is int else value for name, value in parsed.items()}


@breaks("spec-one-tool-message-for-each-call")
class RestBackwards(Loop):
    """Appends the results after the first in reverse order."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([*results[:1], *reversed(results[1:])])


@breaks("spec-answer-is-returned")
class StopWithoutFullStop(Loop):
    """Drops the last character of the answer if the agent was given as a value."""

    def stop(self, turn: Turn) -> Action:
        return super().stop(turn if is_loaded(self) else replace(turn, text=turn.text[:-1]))


@breaks("spec-failed-model-call-ends-the-loop")
class Undaunted(Driver):
    """Returns an empty answer if a model call fails."""

    def run(self, case: Json, emit: OnText) -> Json:
        return self._calm(super().run(case, emit))

    async def run_async(self, case: Json, emit: OnText) -> Json:
        return self._calm(await super().run_async(case, emit))

    def _calm(self, outcome: Json) -> Json:
        return {"kind": "value", "text": ""} if outcome.get("reason") == "provider" else outcome
