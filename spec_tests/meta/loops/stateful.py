"""A correct loop that lets the service keep the conversation, and recovers if this state is lost.

It uses Responses, and sends only new items with the id of the previous response: `previous_response_id`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, ClassVar

from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.prompty.invoke import Invoker
from looptck_reference.vocabulary.actions import Ask
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.errors import ProviderError
from looptck_reference.vocabulary.values import Json, Turn
from looptck_reference.wires import OPENAI_RESPONSES, ResponsesWire


class LeaningWire(ResponsesWire):
    """The wire of one run: it relies on the last response until that is lost."""

    def __init__(self) -> None:
        self.previous: str | None = None
        self.asked = 0
        self.kept = 0

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        """The request with the whole history, or with the items that the service does not have."""
        body = {**super().request(agent, history, stream=stream), "store": True}
        self.asked = len(history)
        if self.previous is None:
            return body
        return {**body, "input": history[self.kept :], "previous_response_id": self.previous}

    def decode(self, reply: Json) -> Turn:
        """The turn; the service now has the history of the request, and the items of this turn."""
        turn = super().decode(reply)
        self.previous, self.kept = reply["id"], self.asked + len(turn.content)
        return turn


class Leaning(Loop):
    """The reference's loop with a separate wire for each run."""

    def __init__(self, agent: Agent, *, wire: object, **options: Any) -> None:
        super().__init__(agent, wire=LeaningWire(), **options)


class Replaying(Exchange):
    """Sends the request again, with the whole history, if the service has lost its state."""

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        loop = self.loop
        assert isinstance(loop, Leaning)
        assert isinstance(loop.wire, LeaningWire)
        try:
            return (yield from super().ask(ask))
        except ProviderError as error:
            if loop.wire.previous is None or "Previous response" not in str(error):
                raise
        loop.wire.previous = None
        return (yield from super().ask(ask))


class Leaner(Invoker):
    """Uses this conversation."""

    exchange = Replaying


class Stateful(Driver):
    """Correct: after a loss it sends the whole history, and runs no tool again."""

    loop = Leaning
    invoker = Leaner
    wires: ClassVar = {"openai-responses": OPENAI_RESPONSES}

    def start(self) -> Json:
        """The description: one wire, one mode, and server-side state, of which nothing is pruned."""
        started = super().start()
        return {
            **started,
            "modes": ["sync"],
            "capabilities": {**started["capabilities"], "memory": True, "prune": False},
        }
