"""Calls that are lost without a report, truncated turns, and failing models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from looptck_mutants.cells import CHAT, MESSAGES, RESPONSES
from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.entry import tool_name
from looptck_reference.server.errors import Refused
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.seams import NOT_RUN
from looptck_reference.server.serving import Simulator
from looptck_reference.server.steps import AskClient, Execute, Finish, Infer, Step
from looptck_reference.server.tools import Workshop
from looptck_reference.server.values import Record
from looptck_reference.vocabulary.values import Json, Turn


@breaks("server-unrun-calls-are-told")
class UnrunCallsHaveNoResult(ServerLoop):
    """Sends the model the calls that it did not run without a result."""

    def extend_history(self, turn: Turn, ran: Sequence[Record]) -> None:
        super().extend_history(turn, ran)
        self.history = [one for one in self.history if NOT_RUN not in str(one.body.get("content"))]


@breaks("server-call-without-executor-is-told")
class CallsWithoutExecutorAreLost(ServerLoop):
    """Drops calls without an executor if the request has a cap."""

    def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
        lost = not self.offer.entered and self.request.max_tool_rounds is not None
        return super().finish(replace(turn, calls=()) if lost else turn, capped=capped)


@breaks("server-unknown-tool-is-told")
class UnknownToolsAreDropped(ServerLoop):
    """Ignores calls of tools that were not offered."""

    def model_answered(self, turn: Turn) -> Step:
        known = {tool_name(tool) for tool in self.offer.tools}
        return super().model_answered(replace(turn, calls=tuple(call for call in turn.calls if call.name in known)))


@breaks("server-malformed-arguments-are-told")
class MalformedArgumentsAreNone(ServerLoop):
    """Runs calls whose arguments are not JSON without arguments."""

    def model_answered(self, turn: Turn) -> Step:
        mended = (call if call.arguments.endswith("}") else replace(call, arguments="{}") for call in turn.calls)
        return super().model_answered(replace(turn, calls=tuple(mended)))


@breaks("server-malformed-arguments-are-told")
class MalformedCallsAreText(ServerLoop):
    """Returns the raw arguments of a malformed call as the answer."""

    def model_answered(self, turn: Turn) -> Step:
        raw = [call.arguments for call in turn.calls if call.arguments and not call.arguments.endswith("}")]
        return super().model_answered(replace(turn, text=raw[0], calls=()) if raw else turn)


@breaks("server-cut-turn-runs-nothing")
class ServerRunsCutTurns(ServerLoop):
    """Runs the calls of a turn that the token limit truncated."""

    def answers(self, turn: Turn) -> bool:
        return super().answers(turn) and not (self.offer.entered and turn.calls)


@breaks("server-cut-turn-runs-nothing")
class CutTurnsAreEmptyAnswers(ServerLoop):
    """Drops the call of a truncated turn without a report."""

    def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
        return super().finish(Turn(turn.text) if turn.stop.truncated and turn.calls else turn, capped=capped)


@breaks("server-model-error-is-told")
class ModelErrorsAreAnswers(Simulator):
    """Returns an empty answer if the model fails during a run."""

    async def _obey(self, step: Infer | AskClient | Execute, loop: ServerLoop, workshop: Workshop) -> Step:
        try:
            return await super()._obey(step, loop, workshop)
        except Refused:
            if not loop.records:
                raise
            return loop.finish(Turn())


@breaks("server-model-error-reruns-no-tool")
class ModelErrorsRunToolsAgain(Simulator):
    """Runs the last tool again before it repeats a failed model call."""

    async def _obey(self, step: Infer | AskClient | Execute, loop: ServerLoop, workshop: Workshop) -> Step:
        try:
            return await super()._obey(step, loop, workshop)
        except Refused:
            if not loop.records:
                raise
            await self._run(loop.records[-1].called, loop.request.headers, workshop)
            return await super()._obey(step, loop, workshop)


@breaks("server-response-format-holds-for-the-answer")
class FormatOfTheFirstRound(ServerLoop):
    """Omits response_format after the first round."""

    def _infer(self) -> Step:
        step = super()._infer()
        if self.round and isinstance(step, Infer):
            step.body.pop("response_format", None)
        return step


@breaks("server-sampling-holds-in-every-round")
class SamplingOfTheFirstRound(ServerLoop):
    """Omits the sampling parameters and the limit of tokens after the first round."""

    def _infer(self) -> Step:
        step = super()._infer()
        if self.round and isinstance(step, Infer):
            for name in ("temperature", "top_p", "max_tokens"):
                step.body.pop(name, None)
        return step


@breaks("server-sampling-holds-in-every-round", cells=(*CHAT, *RESPONSES, *MESSAGES))
class TheModelSetsItsLimit(ServerLoop):
    """Asks the model without the client's limit of tokens."""

    def _infer(self) -> Step:
        step = super()._infer()
        if isinstance(step, Infer):
            for name in ("max_tokens", "max_completion_tokens"):
                step.body.pop(name, None)
        return step


@breaks("server-forced-choice-holds-for-one-round")
class ForcesACallForEver(ServerLoop):
    """Sends a tool choice that forces a call with every inference."""

    def tool_choice(self) -> Any:
        return self.request.tool_choice


@breaks("server-usage-is-the-sum-of-its-rounds")
class OutputCountsTwice(ServerLoop):
    """Reports twice the tokens that the model has written, in each round."""

    def total_usage(self) -> Json | None:
        usage = super().total_usage()
        return usage and {**usage, "completion_tokens": 2 * usage["completion_tokens"]}


@breaks("server-usage-is-the-sum-of-its-rounds")
class UsageOfTheLastRound(ServerLoop):
    """Reports only the usage of the last inference."""

    def total_usage(self) -> Json | None:
        return self.usages[-1]
