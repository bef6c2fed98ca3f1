"""One Request to the model, over any wire: its messages, and the text of its answer while it arrives."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

import httpx

from looptck_reference.agent_loop_010.prompt import request_for
from looptck_reference.http.async_runner import AsyncRunner
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.values import Json, Turn
from looptck_reference.wires import OPENAI_CHAT, Wire

__all__ = ["Request", "Requests"]

Request = Callable[[Sequence[Json], Json], AsyncGenerator[str]]
"""Send these messages and ask for a document of this JSON Schema; yields the text of the answer in pieces."""


class _OneTurn(Loop):
    """A loop whose first turn is its answer, whatever its stop reason."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.ANSWER


class Requests(AsyncRunner):
    """Makes Requests: one exchange with the provider for each, never repeated, whatever the answer is.

    It uses the same conversation as the runners of the other profiles, and so raises the same errors: `ConnectionLost`,
    `ProviderError`, `StreamBroken`, `MalformedReply`. Tools are not offered through the provider's API, because Calls
    are text here.
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
        """The text of one answer: in pieces from a stream, in one piece from a plain reply."""
        messages, options = request_for(self.wire, messages, schema)
        agent = Agent(self.model, messages, options=options)
        loop = _OneTurn(agent, wire=self.wire)
        async with aclosing(self.pieces(loop, stream=self.stream)) as pieces:
            async for piece in pieces:
                yield piece
        if not self.stream:
            yield loop.answer.text
