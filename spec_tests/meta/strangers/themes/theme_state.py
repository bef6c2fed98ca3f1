"""Faults of theme 4: what loops lose of what a service keeps beside the history, or runs by itself."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import messages_plain
import messages_stream
import responses_plain
from messages_plain import Conversation
from messages_stream import Talk
from responses_plain import Run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json

KNOWN = (
    "text",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "server_tool_use",
    "web_search_tool_result",
    "mcp_tool_use",
    "mcp_tool_result",
)


class DriverContainerLost(messages_stream.Driver):
    """In a stream the container is not read, so each request gets a new one and its files are gone."""

    class talk(Talk):
        """Gathers from a stream what it needs itself: the blocks, and why the message ends."""

        def begun(self, message: Json) -> Json:
            return {"role": message.get("role")}

        def delta(self, message: Json, delta: Json) -> None:
            super().delta(message, {name: delta.get(name) for name in ("stop_reason", "stop_details")})


class DriverKnownKinds(messages_plain.Driver):
    """Results of code execution, web fetch and tool search do not go back, the uses before them do."""

    class conversation(Conversation):
        """Sends back the kinds of blocks that it has heard of."""

        def kept(self, content: list[Json]) -> list[Json]:
            return [block for block in super().kept(content) if block["type"] in KNOWN]


class Action(StrEnum):
    """What a search of the service may do."""

    SEARCH = "search"
    OPEN = "open_page"
    FIND = "find"


class DriverKnownActions(responses_plain.Driver):
    """A search with no action, or one that came later than this loop, ends the run with an exception."""

    class steps(Run):
        """Reads each search of the service into its own types."""

        def kept(self, output: list[Json]) -> list[Json]:
            for item in output:
                if item["type"] == "web_search_call":
                    Action(item["action"]["type"])
            return output
