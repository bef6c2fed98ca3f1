"""Mutants of the 010 loop: Requests, and the messages that the model gets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any, ClassVar

from looptck_mutants.agent_loop_010.parts import breaks
from looptck_reference.agent_loop_010.context import Context
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.messages import Message, data
from looptck_reference.agent_loop_010.prompt import Prompt
from looptck_reference.agent_loop_010.scheduler import CallScheduler
from looptck_reference.agent_loop_010.solution import Solution, Unreadable
from looptck_reference.vocabulary.values import Json


@breaks("loop010-one-request-per-turn")
class TwoRequestsForOneTurn(SolutionLoop):
    """Discards the reply of the sixth turn and sends the Request again."""

    async def ask(self) -> AsyncGenerator[str]:
        if self.turns == 6:
            async for _ in super().ask():
                pass
        async for piece in super().ask():
            yield piece


@breaks("loop010-one-request-per-turn")
class AsksAhead(SolutionLoop):
    """Sends the fourth Request while calls of the third turn still run."""

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
    """Sends the messages of the first Request in reverse order."""

    def ask(self) -> AsyncGenerator[str]:
        sent = self._context.messages[:: -1 if self.turns == 1 else 1]
        return self.request(self._prompt.messages(sent), self._prompt.schema())


@breaks("loop010-first-request-is-the-initial-context")
class OnlyTextsAreTold(SolutionLoop):
    """Sends only the text messages of the context in the first Request."""

    def ask(self) -> AsyncGenerator[str]:
        every = self._context.messages
        sent = [message for message in every if message["type"] == "text"] if self.turns == 1 else every
        return self.request(self._prompt.messages(sent), self._prompt.schema())


@breaks("loop010-first-request-is-the-initial-context")
class LastRunIsTold(SolutionLoop):
    """Sends the results of the previous run in the first Request too."""

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
    collateral={"loop010-late-results-are-kept": "late results are missing like all others"},
)
class ResultsAreNotTold(Prompt):
    """Does not send results to the model, but resolves references with them."""

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
        ): "the state is observed through the values that later turns get"
    },
)
class EachTurnBeginsAnew(SolutionLoop):
    """Sends the results of earlier turns to the model, but does not resolve references with them."""

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
class EchoesTheDocument(SolutionLoop):
    """Appends each Solution to the context as data."""

    def carry_plan(self, solution: Solution) -> None:
        super().carry_plan(solution)
        self._context.append(data("solution", {"said": solution.document}))


@breaks("loop010-solutions-are-not-echoed")
class EchoesWithoutMeta(SolutionLoop):
    """Appends each Solution to the context as data, without its meta."""

    def carry_plan(self, solution: Solution) -> None:
        super().carry_plan(solution)
        written = {name: value for name, value in solution.document.items() if name != "meta"}
        self._context.append(data("solution", {"said": written}))


async def _whole(pieces: AsyncGenerator[str]) -> list[str]:
    return [piece async for piece in pieces]


@breaks("loop010-no-request-is-refused")
class AsksInAStrangeRole(SolutionLoop):
    """Sends the context of the third turn in a role that no service knows."""

    def ask(self) -> AsyncGenerator[str]:
        sent = self._prompt.messages(self._context.messages)
        if self.turns == 3:
            sent = [{**message, "role": "context"} if message["role"] == "user" else message for message in sent]
        return self.request(sent, self._prompt.schema())


@breaks("loop010-null-output-asks-again")
class TextsAreForTheFirstTurn(SolutionLoop):
    """Leaves the texts of the caller out of all Requests but the first."""

    def ask(self) -> AsyncGenerator[str]:
        messages = self._context.messages
        self._context.messages = [one for one in messages if self.turns == 1 or one.get("type") != "text"]
        return super().ask()


@breaks("loop010-null-output-asks-again")
class OnlyTheLastTurnIsTold(SolutionLoop):
    """Sends the results of the turn before alone, but resolves references with those of all turns."""

    since = 0

    def ask(self) -> AsyncGenerator[str]:
        every = self._context.messages
        sent = [message for n, message in enumerate(every) if "_call" not in message or n >= self.since]
        self.since = len(every)
        return self.request(self._prompt.messages(sent), self._prompt.schema())
