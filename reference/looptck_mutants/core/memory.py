"""Loops that rely on server-side conversation state, and react wrongly when it is missing.

They use Messages without streams, and send only new messages in a thread.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, ClassVar

from looptck_mutants.cells import MESSAGES
from looptck_mutants.core.running_again import run_again
from looptck_mutants.parts import asking, breaks
from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Ask
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.errors import ProviderError
from looptck_reference.vocabulary.values import Json, ToolCall, Turn
from looptck_reference.wires import ANTHROPIC_MESSAGES, MessagesWire, Wire

NEVER_KEPT = "threads are not supported"


class Thread(MessagesWire):
    """The wire of one run: it relies on the state of the last reply as long as the service has it."""

    def __init__(self) -> None:
        self.keeps = True
        self.previous: str | None = None
        self.asked = 0
        self.kept = 0

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        """The request with the whole history, or with the part that the service does not have."""
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
        """The turn; the service now has the history of the request, and this turn."""
        turn = super().decode(reply)
        self.previous, self.kept = reply["id"], self.asked + len(self.echo(turn))
        return turn


class InThreads(Loop):
    """A loop with its own wire; it keeps the calls of the last turn."""

    def __init__(self, agent: Agent, *, wire: Wire, **options: Any) -> None:
        super().__init__(agent, wire=Thread(), **options)
        self.ran: Sequence[ToolCall] = ()

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        """All calls."""
        self.ran = super().calls_of(turn)
        return self.ran


class Retelling(Exchange):
    """Sends the whole conversation if the state that a request relies on is missing."""

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
        """Called before the conversation is sent again; does nothing here."""


class Leaning(Driver):
    """A loop that relies on server-side state; it declares this, one wire, one mode, one agent and no streams."""

    loop = InThreads
    wires: ClassVar = {"anthropic-messages": ANTHROPIC_MESSAGES}

    def start(self) -> Json:
        """The description, with the capabilities of this loop."""
        started = super().start()
        alone = {"handoffs": False, "subagents": False}
        able = {**started["capabilities"], "memory": True, "stream": False, **alone}
        return {**started, "modes": ["sync"], "capabilities": able}


@breaks("lost-memory-reruns-no-tool", cells=MESSAGES)
class LossRerunsTools(Leaning):
    """Runs the last calls again if the service has lost their turn."""

    class Runs(Retelling):
        def lost(self) -> None:
            assert isinstance(self.loop, InThreads)
            run_again(self.loop, self.loop.ran)

    invoker = asking(Runs)


@breaks("refused-memory-is-done-without", cells=MESSAGES)
class NothingKeptStillShort(Leaning):
    """Sends only new messages although the service has said that it keeps no state."""

    class Shortening(InThreads):
        def remembered(self) -> Sequence[Json]:
            assert isinstance(self.wire, Thread)
            return super().remembered() if self.wire.keeps else self.history[self.wire.kept :]

    loop = Shortening
    invoker = asking(Retelling)
