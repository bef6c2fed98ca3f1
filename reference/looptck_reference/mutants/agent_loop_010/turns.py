"""Mutants of the 010 loop: what is asked, and what the model is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any, ClassVar

from looptck_reference.agent_loop_010.context import Context
from looptck_reference.agent_loop_010.loop import AgentLoop
from looptck_reference.agent_loop_010.messages import Message, data, text
from looptck_reference.agent_loop_010.prompt import Prompt
from looptck_reference.agent_loop_010.solution import Solution, Unreadable
from looptck_reference.agent_loop_010.tick import Tick
from looptck_reference.mutants.agent_loop_010.mutant import SolutionMutant
from looptck_reference.mutants.mutant import because
from looptck_reference.values import Json


class TwoRequestsForOneTurn(SolutionMutant):
    """Throws away what it is told in its sixth turn, and asks again: `loop010-one-request-per-turn`."""

    breaks = ("loop010-one-request-per-turn",)

    class loop(AgentLoop):  # noqa: N801  the driver's attribute
        async def ask(self) -> AsyncGenerator[str]:
            if self.turns == 6:
                async for _ in super().ask():
                    pass
            async for piece in super().ask():
                yield piece


class AsksAhead(SolutionMutant):
    """Makes its fourth Request while calls of the third turn run: `loop010-one-request-per-turn`."""

    breaks = ("loop010-one-request-per-turn",)

    class loop(AgentLoop):  # noqa: N801
        ahead: asyncio.Task[list[str]] | None = None

        def is_over(self, tick: Tick) -> bool:
            if self.turns == 3 and self.ahead is None and tick.stream_closed and tick.running:
                self.ahead = asyncio.create_task(_whole(super().ask()))
            return super().is_over(tick)

        async def ask(self) -> AsyncGenerator[str]:
            if self.turns == 4 and self.ahead is not None:
                yield "".join(await self.ahead)
                return
            async for piece in super().ask():
                yield piece


class ContextBackwards(SolutionMutant):
    """Opens with the newest message of the context: `loop010-first-request-is-the-initial-context`."""

    breaks = ("loop010-first-request-is-the-initial-context",)

    class loop(AgentLoop):  # noqa: N801
        def ask(self) -> AsyncGenerator[str]:
            told = self._context.messages[:: -1 if self.turns == 1 else 1]
            return self.request(self._prompt.messages(told), self._prompt.schema())


class OnlyTextsAreTold(SolutionMutant):
    """Opens with the texts of the context alone: `loop010-first-request-is-the-initial-context`."""

    breaks = ("loop010-first-request-is-the-initial-context",)

    class loop(AgentLoop):  # noqa: N801
        def ask(self) -> AsyncGenerator[str]:
            every = self._context.messages
            told = [message for message in every if message["type"] == "text"] if self.turns == 1 else every
            return self.request(self._prompt.messages(told), self._prompt.schema())


class LastRunIsTold(SolutionMutant):
    """Opens with the results of the run before, too: `loop010-first-request-is-the-initial-context`."""

    breaks = ("loop010-first-request-is-the-initial-context",)

    class loop(AgentLoop):  # noqa: N801
        left: ClassVar[list[Message]] = []

        def ask(self) -> AsyncGenerator[str]:
            known = self.left if self.turns == 1 else []
            return self.request(self._prompt.messages([*known, *self._context.messages]), self._prompt.schema())

        async def run(self) -> Any | None:
            try:
                return await super().run()
            finally:
                self.left[:] = [message for message in self._context.messages if "_call" in message]


class ResultsAreNotTold(SolutionMutant):
    """Keeps results to itself, for the calls that refer to them: `loop010-null-output-asks-again`."""

    breaks = ("loop010-null-output-asks-again",)
    also = because("what is told of no result is told of no late one", "loop010-late-results-are-kept")

    class loop(AgentLoop):  # noqa: N801
        class prompt(Prompt):  # noqa: N801
            def messages(self, context: Sequence[Message]) -> list[Json]:
                return super().messages([message for message in context if "_call" not in message])


class EachTurnBeginsAnew(SolutionMutant):
    """Tells the model what earlier turns have led to, and resolves nothing by it: `loop010-null-output-asks-again`."""

    breaks = ("loop010-null-output-asks-again",)
    also = because(
        "what stands in the state is shown by what a later turn is given",
        "loop010-activities-outdo-given-outputs",
        "loop010-call-order-carries-no-meaning",
        "loop010-instances-stay-apart",
        "loop010-last-to-complete-wins",
        "loop010-late-results-are-kept",
        "loop010-latent-calls-write-their-output",
        "loop010-methods-fold-in-order",
        "loop010-older-nested-values-stay",
        "loop010-output-expressions",
        "loop010-partial-calls-never-start",
        "loop010-returned-messages-are-appended",
        "loop010-schedules-do-not-matter",
    )

    class loop(AgentLoop):  # noqa: N801
        class context(Context):  # noqa: N801
            initial = 0
            since = 0

            def seen(self, kind: str, instance: str | None) -> list[Message]:
                every = self.messages
                self.messages = every[: self.initial] + every[self.since :]
                try:
                    return super().seen(kind, instance)
                finally:
                    self.messages = every

        _context: context

        async def turn(self, tick: Tick) -> Solution | Unreadable:
            self._context.since = len(self._context.messages)
            self._context.initial = self._context.initial or self._context.since
            return await super().turn(tick)


class EchoesTheText(SolutionMutant):
    """Appends what the model has said: `loop010-solutions-are-not-echoed`."""

    breaks = ("loop010-solutions-are-not-echoed",)

    class loop(AgentLoop):  # noqa: N801
        said = ""

        async def ask(self) -> AsyncGenerator[str]:
            self.said = ""
            async for piece in super().ask():
                self.said += piece
                yield piece

        def carry_plan(self, solution: Solution) -> None:
            super().carry_plan(solution)
            self._context.append(text(self.said))


class EchoesTheDocument(SolutionMutant):
    """Appends each Solution as data: `loop010-solutions-are-not-echoed`."""

    breaks = ("loop010-solutions-are-not-echoed",)

    class loop(AgentLoop):  # noqa: N801
        def carry_plan(self, solution: Solution) -> None:
            super().carry_plan(solution)
            self._context.append(data("solution", {"said": solution.document}))


async def _whole(pieces: AsyncGenerator[str]) -> list[str]:
    return [piece async for piece in pieces]


class AsksInAStrangeRole(SolutionMutant):
    """Tells of its third turn's context in a role that no service knows: `loop010-no-request-is-refused`."""

    breaks = ("loop010-no-request-is-refused",)

    class loop(AgentLoop):  # noqa: N801
        def ask(self) -> AsyncGenerator[str]:
            told = self._prompt.messages(self._context.messages)
            if self.turns == 3:
                told = [{**message, "role": "context"} if message["role"] == "user" else message for message in told]
            return self.request(told, self._prompt.schema())
