"""Rounds that are counted, run, kept or answered otherwise: the loop of an agent by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from looptck_reference.actions import Action
from looptck_reference.agent import Agent
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import RESPONSES, Mutant
from looptck_reference.mutants.prompty_spec.loaded import is_loaded
from looptck_reference.runner import OnText
from looptck_reference.values import Json, ToolCall, ToolResult, Turn


class ZeroIsOne(Mutant):
    """Asks the model once where its limit is zero: `spec-limit-counts-model-calls`."""

    breaks = ("spec-limit-counts-model-calls",)

    class loop(Loop):  # noqa: N801  the driver's attribute
        def limit_reached(self) -> bool:
            return self.model_calls >= max(self.limit, 1)


class LastRoundIdle(Mutant):
    """Gives up before it runs the tools of the last round: `spec-last-round-runs-its-tools`."""

    breaks = ("spec-last-round-runs-its-tools",)

    class loop(Loop):  # noqa: N801
        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            return () if self.limit_reached() else turn.calls


class MiddleForgotten(Mutant):
    """Asks with the prompt and the last round: `spec-each-iteration-sends-all-messages`."""

    breaks = ("spec-each-iteration-sends-all-messages",)

    class loop(Loop):  # noqa: N801
        def remembered(self) -> Sequence[Json]:
            prompt, *ends = self.round_ends
            last = [prompt, *ends][-2:][0]
            return [*self.history[:prompt], *self.history[last:]]


class CallByCall(Mutant):
    """Puts each result behind its call, and the next call behind that: `spec-calls-come-before-their-results`."""

    breaks = ("spec-calls-come-before-their-results",)
    cells = RESPONSES

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results)
            order = {result.call_id: place for place, result in enumerate(results)}
            added = self.history[self.round_ends[-1] :]
            self.history[self.round_ends[-1] :] = sorted(added, key=lambda item: order.get(item.get("call_id", ""), -1))


class FunctionsTogether(Mutant):
    """Runs the functions of a turn at the same time: `spec-tools-run-one-after-the-other`."""

    breaks = ("spec-tools-run-one-after-the-other",)

    class loop(Loop):  # noqa: N801
        def __init__(self, agent: Agent, **options: Any) -> None:
            super().__init__(agent, **options)
            self.dialect = replace(self.dialect, parallel=all(tool.kind != "prompty" for tool in agent.tools))


class WholeNumbersAsText(Mutant):
    """Gives whole numbers to the handler as text: `spec-handler-gets-the-parsed-arguments`."""

    breaks = ("spec-handler-gets-the-parsed-arguments",)

    class loop(Loop):  # noqa: N801
        def parse_arguments(self, text: str) -> Json:
            parsed = super().parse_arguments(text)
            return {name: str(value) if type(value) is int else value for name, value in parsed.items()}


class RestBackwards(Mutant):
    """Appends the results behind the first from the last on: `spec-one-tool-message-for-each-call`."""

    breaks = ("spec-one-tool-message-for-each-call",)

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results([*results[:1], *reversed(results[1:])])


class StopWithoutFullStop(Mutant):
    """Returns the answer of an agent that came as a value without its last character: `spec-answer-is-returned`."""

    breaks = ("spec-answer-is-returned",)

    class loop(Loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            return super().stop(turn if is_loaded(self) else replace(turn, text=turn.text[:-1]))


class Undaunted(Mutant):
    """Returns an empty answer when a model call fails: `spec-failed-model-call-ends-the-loop`."""

    breaks = ("spec-failed-model-call-ends-the-loop",)

    def run(self, case: Json, emit: OnText) -> Json:
        return self._calm(super().run(case, emit))

    async def run_async(self, case: Json, emit: OnText) -> Json:
        return self._calm(await super().run_async(case, emit))

    def _calm(self, outcome: Json) -> Json:
        return {"kind": "value", "text": ""} if outcome.get("reason") == "provider" else outcome
