"""Loops that let the service keep the conversation, and do something else than tell it anew once it is lost.

They speak Messages, plain, and send what is new alone in a thread.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, ClassVar

from looptck_mutants.cells import MESSAGES
from looptck_mutants.core.running_again import run_again
from looptck_mutants.parts import asking, breaks
from looptck_reference.http.conversation import Conversation, Step
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.actions import Ask
from looptck_reference.loop.agent import Agent
from looptck_reference.loop.errors import ProviderError
from looptck_reference.loop.loop import Loop
from looptck_reference.loop.values import Json, ToolCall, Turn
from looptck_reference.wires import ANTHROPIC_MESSAGES, MessagesWire, Wire

NEVER_KEPT = "threads are not supported"


class Thread(MessagesWire):
    """The wire of one run: it leans on the last reply until that is lost, and no more where nothing is kept."""

    def __init__(self) -> None:
        self.keeps = True
        self.previous: str | None = None
        self.asked = 0
        self.kept = 0

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        """All of the history, or what the service has not got."""
        body = super().request(agent, history, stream=stream)
        self.asked = len(history)
        if not self.keeps:
            return body
        if self.previous is None:
            return {**body, "thread": {"type": "create"}}
        new = {name: value for name, value in body.items() if name not in {"system", "tools"}}
        thread = {"type": "continue", "previous_message_id": self.previous}
        return {**new, "messages": history[self.kept :], "thread": thread}

    def decode(self, reply: Json) -> Turn:
        """The service has the history that was asked with, and its own message behind it."""
        turn = super().decode(reply)
        self.previous, self.kept = reply["id"], self.asked + len(self.echo(turn))
        return turn


class InThreads(Loop):
    """A loop with a wire of its own; it remembers the calls that ran last."""

    def __init__(self, agent: Agent, *, wire: Wire, **options: Any) -> None:
        super().__init__(agent, wire=Thread(), **options)
        self.ran: Sequence[ToolCall] = ()

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        """All of them."""
        self.ran = super().calls_of(turn)
        return self.ran


class Retelling(Conversation):
    """Tells the service all of the conversation where it has lost what a request leans on."""

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        wire = self.loop.wire
        assert isinstance(wire, Thread)
        try:
            return (yield from super().ask(ask))
        except ProviderError as error:
            if "thread" not in str(error):
                raise
            wire.previous, wire.keeps = None, NEVER_KEPT not in str(error)
        self.lost()
        return (yield from super().ask(ask))

    def lost(self) -> None:
        """What is done before it is told: nothing."""


class Leaning(Driver):
    """A loop with a memory: it declares one, and one wire, one mode and no streams."""

    loop = InThreads
    wires: ClassVar = {"anthropic-messages": ANTHROPIC_MESSAGES}

    def start(self) -> Json:
        """What it can, and no more."""
        started = super().start()
        able = {**started["capabilities"], "memory": True, "stream": False}
        return {**started, "modes": ["sync"], "capabilities": able}


@breaks("lost-memory-reruns-no-tool", cells=MESSAGES)
class LossRerunsTools(Leaning):
    """Runs the last calls again where the service has lost their turn."""

    class Runs(Retelling):
        def lost(self) -> None:
            assert isinstance(self.loop, InThreads)
            run_again(self.loop, self.loop.ran)

    invoker = asking(Runs)


@breaks("refused-memory-is-done-without", cells=MESSAGES)
class NothingKeptStillShort(Leaning):
    """Sends what is new alone where the service has said that it keeps nothing."""

    class Shortening(InThreads):
        def remembered(self) -> Sequence[Json]:
            assert isinstance(self.wire, Thread)
            return super().remembered() if self.wire.keeps else self.history[self.wire.kept :]

    loop = Shortening
    invoker = asking(Retelling)
