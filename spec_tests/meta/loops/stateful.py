"""A loop that is not broken: it lets the service keep the conversation, and does without where that is lost.

It speaks Responses, and sends what is new under the id of the response before: `previous_response_id`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, ClassVar

from looptck_reference.http.conversation import Conversation, Step
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.actions import Ask
from looptck_reference.loop.agent import Agent
from looptck_reference.loop.errors import ProviderError
from looptck_reference.loop.loop import Loop
from looptck_reference.loop.values import Json, Turn
from looptck_reference.prompty.invoke import Invoker
from looptck_reference.wires import OPENAI_RESPONSES, ResponsesWire


class LeaningWire(ResponsesWire):
    """The wire of one run: it leans on the last response until that is lost."""

    def __init__(self) -> None:
        self.previous: str | None = None
        self.asked = 0
        self.kept = 0

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        """All of the history, or what the service has not got."""
        body = {**super().request(agent, history, stream=stream), "store": True}
        self.asked = len(history)
        if self.previous is None:
            return body
        return {**body, "input": history[self.kept :], "previous_response_id": self.previous}

    def decode(self, reply: Json) -> Turn:
        """The service has the history that was asked with, and its own items behind it."""
        turn = super().decode(reply)
        self.previous, self.kept = reply["id"], self.asked + len(turn.content)
        return turn


class Leaning(Loop):
    """The reference's loop with a wire of its own."""

    def __init__(self, agent: Agent, *, wire: object, **options: Any) -> None:
        super().__init__(agent, wire=LeaningWire(), **options)


class Replaying(Conversation):
    """Asks once more where the service has lost what the request leaned on."""

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
    """Runs on it."""

    conversation = Replaying


class Stateful(Driver):
    """Not broken: after a loss it sends the whole history, and runs nothing again."""

    loop = Leaning
    invoker = Leaner
    wires: ClassVar = {"openai-responses": OPENAI_RESPONSES}

    def start(self) -> Json:
        """Of one wire and one mode, and with a memory."""
        started = super().start()
        return {**started, "modes": ["sync"], "capabilities": {**started["capabilities"], "memory": True}}
