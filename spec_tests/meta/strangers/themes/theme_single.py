"""Faults of theme 8: single cases that a loop meets once in a thousand runs."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chat_plain
import messages_stream
import responses_plain
from chat_plain import Chat, Reply
from messages_stream import Talk
from responses_plain import Run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json, find


class Reason(StrEnum):
    """Why a turn on Chat ends."""

    STOP = "stop"
    LENGTH = "length"
    CALLS = "tool_calls"
    FILTER = "content_filter"
    FUNCTION = "function_call"


class DriverUnknownReason(chat_plain.Driver):
    """A finish reason outside of the five ends the run with a ValueError, although the turn is whole."""

    class loop(Chat):
        """Reads the finish reason into a type of its own."""

        def judge(self, reply: Reply) -> None:
            Reason(reply.reason)
            super().judge(reply)


class DriverEmptyCut(responses_plain.Driver):
    """A response that was cut or filtered before its first item is an empty answer."""

    class steps(Run):
        """Tells of a response that was cut where there is something to cut."""

        def output(self, reply: Json) -> list[Json]:
            if reply.get("status") == "incomplete" and not reply.get("output"):
                return []
            return super().output(reply)


class DriverUnknownTwice(messages_stream.Driver):
    """The second turn with an unknown tool ends the run with an exception."""

    class talk(Talk):
        """Forgives the model one turn with a tool that does not exist."""

        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            self.missed: set[int] = set()

        async def outcome_of(self, call: Json, arguments: Any) -> tuple[str, bool]:
            if find(self.tools, call["name"]) is None:
                self.missed.add(len(self.history))
                if len(self.missed) > 1:
                    raise RuntimeError(f"the model asked for unknown tools again: {call['name']}")
            return await super().outcome_of(call, arguments)
