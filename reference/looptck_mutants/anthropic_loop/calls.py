"""The calls of a turn that run, and their order: the seams `calls_of` and `handler_for`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from looptck_mutants.cells import MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference.http.runner import Runner
from looptck_reference.http.spans import RunSpans
from looptck_reference.loop.loop import Loop
from looptck_reference.prompty.invoke import Invocation, Invoker
from looptck_reference.vocabulary.actions import End, Run
from looptck_reference.vocabulary.tools import Handler
from looptck_reference.vocabulary.values import ToolCall, Turn

HOSTED = {"server_tool_use", "mcp_tool_use"}


class PassesOver(Loop):
    """Answers the calls of some turns without running them."""

    passed_over: Collection[str] = ()

    def passes_over(self, kinds: Sequence[str]) -> bool:
        """Whether the calls of a turn with blocks of these types are skipped."""
        raise NotImplementedError

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        """All calls; remember those to skip."""
        it_is = self.passes_over([block["type"] for block in turn.content])
        self.passed_over = {call.id for call in turn.calls} if it_is else ()
        return super().calls_of(turn)

    def handler_for(self, call: ToolCall) -> Handler | None:
        """A handler that does nothing, for the skipped calls."""
        return _nothing if call.id in self.passed_over else super().handler_for(call)


@breaks("claude-tool-use-runs-the-calls", cells=MESSAGES)
class SpokenTurnUnrun(PassesOver):
    """Does not run a call that has text before it."""

    def passes_over(self, kinds: Sequence[str]) -> bool:
        return kinds == ["text", "tool_use"]


@breaks("claude-every-call-runs", cells=MESSAGES)
class CallBeforeTextUnrun(PassesOver):
    """Does not run a call that has text after it."""

    def passes_over(self, kinds: Sequence[str]) -> bool:
        return kinds == ["tool_use", "text"]


class FourAtATime(Runner):
    """Runs at most four tools at the same time."""

    def _ends(self, runs: Sequence[Run], spans: RunSpans) -> list[End | None]:
        ends = super()._ends(runs[:4], spans)
        return [*ends, *self._ends(runs[4:], spans)] if runs[4:] else ends


@breaks("claude-calls-run-at-the-same-time", cells=MESSAGES)
class FifthCallWaits(Invoker):
    """Runs the fifth call of a turn only after the first four have ended."""

    def runner(self, begun: Invocation) -> Runner:
        return FourAtATime(**self.runner_options(begun), client=self.client)


@breaks("claude-hosted-calls-are-never-dispatched", cells=MESSAGES)
class HostedNamesakesRun(Loop):
    """Runs its own tool when the service runs a hosted tool of the same name."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        hosted = [block for block in turn.content if block["type"] in HOSTED and block["name"] in self.tools]
        return [*turn.calls, *(ToolCall(block["id"], block["name"], "{}") for block in hosted)]


def _nothing(**_: Any) -> str:
    return "not needed"
