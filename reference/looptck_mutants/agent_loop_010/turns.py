"""Mutants of the 010 loop: what is asked, and what the model is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any, ClassVar

from looptck_mutants.agent_loop_010.parts import breaks
from looptck_reference.agent_loop_010.context import Context
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.messages import Message, data, text
from looptck_reference.agent_loop_010.prompt import Prompt
from looptck_reference.agent_loop_010.scheduler import CallScheduler
from looptck_reference.agent_loop_010.solution import Solution, Unreadable
from looptck_reference.loop.values import Json


@breaks("loop010-one-request-per-turn")
class TwoRequestsForOneTurn(SolutionLoop):
    """Throws away what it is told in its sixth turn, and asks again."""

    async def ask(self) -> AsyncGenerator[str]:
        if self.turns == 6:
            async for _ in super().ask():
                pass
        async for piece in super().ask():
            yield piece


@breaks("loop010-one-request-per-turn")
class AsksAhead(SolutionLoop):
    """Makes its fourth Request while calls of the third turn run."""

    ahead: asyncio.Task[list[str]] | None = None

    def is_over(self, tick: CallScheduler) -> bool:
        if self.turns == 3 and self.ahead is None and tick.stream_closed and tick.running:
            self.ahead = asyncio.create_task(_whole(super().ask()))
        return super().is_over(tick)

    async def ask(self) -> AsyncGenerator[str]:
        if self.turns == 4 and self.ahead is not None:
            yield "".join(await self.ahead)
            return
        async for piece in super().ask():
            yield piece


@breaks("loop010-first-request-is-the-initial-context")
class ContextBackwards(SolutionLoop):
    """Opens with the newest message of the context."""

    def ask(self) -> AsyncGenerator[str]:
        told = self._context.messages[:: -1 if self.turns == 1 else 1]
        return self.request(self._prompt.messages(told), self._prompt.schema())


@breaks("loop010-first-request-is-the-initial-context")
class OnlyTextsAreTold(SolutionLoop):
    """Opens with the texts of the context alone."""

    def ask(self) -> AsyncGenerator[str]:
        every = self._context.messages
        told = [message for message in every if message["type"] == "text"] if self.turns == 1 else every
        return self.request(self._prompt.messages(told), self._prompt.schema())


@breaks("loop010-first-request-is-the-initial-context")
class LastRunIsTold(SolutionLoop):
    """Opens with the results of the run before, too."""

    left: ClassVar[list[Message]] = []

    def ask(self) -> AsyncGenerator[str]:
        known = self.left if self.turns == 1 else []
        return self.request(self._prompt.messages([*known, *self._context.messages]), self._prompt.schema())

    async def run(self) -> Any | None:
        try:
            return await super().run()
        finally:
            self.left[:] = [message for message in self._context.messages if "_call" in message]


@breaks(
    "loop010-null-output-asks-again",
    collateral={"loop010-late-results-are-kept": "what is told of no result is told of no late one"},
)
class ResultsAreNotTold(Prompt):
    """Keeps results to itself, for the calls that refer to them."""

    def messages(self, context: Sequence[Message]) -> list[Json]:
        return super().messages([message for message in context if "_call" not in message])


@breaks(
    "loop010-null-output-asks-again",
    collateral={
        (
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
        ): "what stands in the state is shown by what a later turn is given"
    },
)
class EachTurnBeginsAnew(SolutionLoop):
    """Tells the model what earlier turns have led to, and resolves nothing by it."""

    class Forgetting(Context):
        initial = 0
        since = 0

        def seen(self, kind: str, instance: str | None) -> list[Message]:
            every = self.messages
            self.messages = every[: self.initial] + every[self.since :]
            try:
                return super().seen(kind, instance)
            finally:
                self.messages = every

    context = Forgetting

    _context: Forgetting

    async def turn(self, tick: CallScheduler) -> Solution | Unreadable:
        self._context.since = len(self._context.messages)
        self._context.initial = self._context.initial or self._context.since
        return await super().turn(tick)


@breaks("loop010-solutions-are-not-echoed")
class EchoesTheText(SolutionLoop):
    """Appends what the model has said."""

    said = ""

    async def ask(self) -> AsyncGenerator[str]:
        self.said = ""
        async for piece in super().ask():
            self.said += piece
            yield piece

    def carry_plan(self, solution: Solution) -> None:
        super().carry_plan(solution)
        self._context.append(text(self.said))


@breaks("loop010-solutions-are-not-echoed")
class EchoesTheDocument(SolutionLoop):
    """Appends each Solution as data."""

    def carry_plan(self, solution: Solution) -> None:
        super().carry_plan(solution)
        self._context.append(data("solution", {"said": solution.document}))


async def _whole(pieces: AsyncGenerator[str]) -> list[str]:
    return [piece async for piece in pieces]


@breaks("loop010-no-request-is-refused")
class AsksInAStrangeRole(SolutionLoop):
    """Tells of its third turn's context in a role that no service knows."""

    def ask(self) -> AsyncGenerator[str]:
        told = self._prompt.messages(self._context.messages)
        if self.turns == 3:
            told = [{**message, "role": "context"} if message["role"] == "user" else message for message in told]
        return self.request(told, self._prompt.schema())
