"""One Request to the model, over any wire: what it is told, and the text of its answer while it arrives."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

import httpx

from looptck_reference.actions import Ask
from looptck_reference.agent import Agent
from looptck_reference.agent_loop_010.prompt import request_for
from looptck_reference.exchange import Exchange
from looptck_reference.loop import Loop
from looptck_reference.runner import AsyncRunner
from looptck_reference.values import Json, Turn
from looptck_reference.wires import OPENAI_CHAT, Wire

__all__ = ["Request", "Requests"]

Request = Callable[[Sequence[Json], Json], AsyncGenerator[str]]
"""Ask with these messages for a document of this JSON Schema; yields the text of the answer in pieces."""


class Requests(AsyncRunner):
    """Makes Requests: one exchange with the provider for each, never repeated, whatever the answer is.

    It asks as the runner of the other profiles does, and so raises the same errors: `ConnectionLost`, `ProviderError`,
    `StreamBroken`, `MalformedReply`. Tools are not offered in the provider's own way, as Calls are text here.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        wire: Wire = OPENAI_CHAT,
        stream: bool = True,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        super().__init__(base_url, api_key, wire=wire, client=client)
        self.wire = wire
        self.model = model
        self.stream = stream

    async def __call__(self, messages: Sequence[Json], schema: Json) -> AsyncGenerator[str]:
        """The text of one answer: piece by piece from a stream, in one piece from a plain reply."""
        messages, options = request_for(self.wire, messages, schema)
        agent = Agent(self.model, messages, options=options)
        exchange = Exchange(self._endpoint, Loop(agent, wire=self.wire), stream=self.stream)
        async with aclosing(self._ask(exchange, Ask(tuple(self.wire.opening(messages))))) as pieces:
            async for piece in pieces:
                if isinstance(piece, str):
                    yield piece
                elif isinstance(piece, Turn) and not self.stream:
                    yield piece.text
