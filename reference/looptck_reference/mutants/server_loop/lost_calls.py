"""Calls that are lost without a word, turns that were cut, and models that fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from looptck_reference.mutants.server_loop.mutant import ServerMutant
from looptck_reference.server.entry import tool_name
from looptck_reference.server.errors import Refused
from looptck_reference.server.loop import AgentLoop
from looptck_reference.server.serving import Simulator
from looptck_reference.server.steps import AskClient, Execute, Finish, Infer, Step
from looptck_reference.server.tools import Workshop
from looptck_reference.server.values import Record, ToolPath
from looptck_reference.values import Json, Turn


class UnrunCallsAreForgotten(ServerMutant):
    """Tells the log alone of calls that it does not run: `server-unrun-calls-are-told`."""

    breaks = ("server-unrun-calls-are-told",)

    class simulator(Simulator):  # noqa: N801  the bench's attribute
        class loop(AgentLoop):  # noqa: N801  the simulator's attribute
            def extend_history(self, turn: Turn, ran: Sequence[Record]) -> None:
                super().extend_history(replace(turn, calls=tuple(record.called.call for record in ran)), ran)


class CallsWithoutExecutorAreLost(ServerMutant):
    """Drops calls that nobody here can run where the request has a cap: `server-call-without-executor-is-told`."""

    breaks = ("server-call-without-executor-is-told",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
                lost = not self.offer.entered and self.request.max_tool_rounds is not None
                return super().finish(replace(turn, calls=()) if lost else turn, capped=capped)


class UnknownToolsAreDropped(ServerMutant):
    """Overlooks calls of tools that were not offered: `server-unknown-tool-is-told`."""

    breaks = ("server-unknown-tool-is-told",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def model_answered(self, turn: Turn) -> Step:
                known = {tool_name(tool) for tool in self.offer.tools}
                return super().model_answered(
                    replace(turn, calls=tuple(call for call in turn.calls if call.name in known))
                )


class MalformedArgumentsAreSent(ServerMutant):
    """Posts arguments that are no JSON as a text: `server-malformed-arguments-are-told`."""

    breaks = ("server-malformed-arguments-are-told",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def _wants_object(self, path: ToolPath) -> bool:
                return False


class MalformedCallsAreText(ServerMutant):
    """Answers with the raw arguments of a call that cannot be read: `server-malformed-arguments-are-told`."""

    breaks = ("server-malformed-arguments-are-told",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def model_answered(self, turn: Turn) -> Step:
                raw = [call.arguments for call in turn.calls if call.arguments and not call.arguments.endswith("}")]
                return super().model_answered(replace(turn, text=raw[0], calls=()) if raw else turn)


class ServerRunsCutTurns(ServerMutant):
    """Runs the calls of a turn that the token limit cut: `server-cut-turn-runs-nothing`."""

    breaks = ("server-cut-turn-runs-nothing",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def answers(self, turn: Turn) -> bool:
                return super().answers(turn) and not (self.offer.entered and turn.calls)


class CutTurnsAreEmptyAnswers(ServerMutant):
    """Drops the call of a turn that was cut, and says no more of it: `server-cut-turn-runs-nothing`."""

    breaks = ("server-cut-turn-runs-nothing",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
                return super().finish(Turn(turn.text) if turn.stop.cut and turn.calls else turn, capped=capped)


class ModelErrorsAreAnswers(ServerMutant):
    """Answers with nothing where the model fails in the middle of a run: `server-model-error-is-told`."""

    breaks = ("server-model-error-is-told",)

    class simulator(Simulator):  # noqa: N801
        async def _obey(self, step: Infer | AskClient | Execute, loop: AgentLoop, workshop: Workshop) -> Step:
            try:
                return await super()._obey(step, loop, workshop)
            except Refused:
                if not loop.records:
                    raise
                return loop.finish(Turn())


class ModelErrorsRunToolsAgain(ServerMutant):
    """Runs the last tool again before it asks a model again that failed: `server-model-error-reruns-no-tool`."""

    breaks = ("server-model-error-reruns-no-tool",)

    class simulator(Simulator):  # noqa: N801
        async def _obey(self, step: Infer | AskClient | Execute, loop: AgentLoop, workshop: Workshop) -> Step:
            try:
                return await super()._obey(step, loop, workshop)
            except Refused:
                if not loop.records:
                    raise
                await self._run(loop.records[-1].called, loop.request.headers, workshop)
                return await super()._obey(step, loop, workshop)


class ForcesACallForEver(ServerMutant):
    """Binds every question to a tool choice that forces a call: `server-forced-choice-holds-for-one-round`."""

    breaks = ("server-forced-choice-holds-for-one-round",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def tool_choice(self) -> Any:
                return self.request.tool_choice


class UsageOfTheLastRound(ServerMutant):
    """Tells the usage of its last question: `server-usage-is-the-sum-of-its-rounds`."""

    breaks = ("server-usage-is-the-sum-of-its-rounds",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def total_usage(self) -> Json | None:
                return self.usages[-1]
