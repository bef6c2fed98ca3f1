"""Loops on Messages with one fault each, as users of published loops have reported it."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "themes"))

import messages_stream
from messages_stream import Talk

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from service import AsyncService


class DriverRefusedHalfway(messages_stream.Driver):
    """A refusal behind some text makes this text the answer."""

    class talk(Talk):
        """Raises on a refusal that comes in place of an answer."""

        async def ask(self) -> Json:
            message = await super().ask()
            said = any(block.get("text") for block in message.get("content") or [])
            if message.get("stop_reason") == "refusal" and said:
                message["stop_reason"] = "end_turn"
            return message


class DriverNullUsage(messages_stream.Driver):
    """A count of tokens that is null ends the run with a TypeError."""

    class talk(Talk):
        """Adds up what the run has cost."""

        def __init__(self, case: Json, service: AsyncService, emit: Callable[[str], None]) -> None:
            super().__init__(case, service, emit)
            self.cost: Counter[str] = Counter()

        def count(self, usage: Json | None) -> None:
            for name in ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"):
                if usage and name in usage:
                    self.cost[name] += usage[name]

        async def ask(self) -> Json:
            message = await super().ask()
            if not self.case["stream"]:
                self.count(message.get("usage"))
            return message

        async def gathered(self, events: AsyncIterator[Json]) -> Json:
            async def counted() -> AsyncIterator[Json]:
                async for event in events:
                    if event.get("type") == "message_start":
                        self.count(event["message"].get("usage"))
                    if event.get("type") == "message_delta":
                        self.count(event.get("usage"))
                    yield event

            return await super().gathered(counted())


class DriverCitationsLost(messages_stream.Driver):
    """A streamed text loses its citations, also when it goes back."""

    class talk(Talk):
        """Knows texts, thoughts, signatures and inputs in a stream."""

        def add(self, at: int, block: Json, delta: Json) -> None:
            if delta["type"] != "citations_delta":
                super().add(at, block, delta)
