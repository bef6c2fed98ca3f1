"""Faults of theme 5: what loops do with names that a service does not take as they are."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chat_plain
import messages_plain
import responses_plain
from chat_plain import Chat
from messages_plain import Conversation
from responses_plain import Run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json


def apart(tools: list[Json], pattern: str, most: int | None) -> dict[str, Json]:
    """Give tools under names in which all that matches the pattern is an underscore; no two fall together."""
    names: dict[str, Json] = {}
    for tool in sorted(tools, key=lambda tool: bool(re.search(pattern, tool["name"]))):
        stem = name = re.sub(pattern, "_", tool["name"])[:most] or "tool"
        number = 1
        while name in names:
            number += 1
            name = f"{stem[: most and most - 4]}_{number}"
        names[name] = tool
    return names


class DriverLongNames(chat_plain.Driver):
    """A tool with a name of 65 signs makes the service refuse every request."""

    class loop(Chat):
        """Makes the signs of a name legal, and leaves it as long as it is."""

        def named(self, tools: list[Json]) -> dict[str, Json]:
            return apart(tools, r"[^a-zA-Z0-9_-]", None)


class DriverForeignLetters(messages_plain.Driver):
    """A name with letters beyond ASCII is offered as it is, and refused."""

    class conversation(Conversation):
        """Takes the word signs of a regular expression for those of the service."""

        def named(self, tools: list[Json]) -> dict[str, Json]:
            return apart(tools, r"[^\w-]", 64)


class DriverNamesFallTogether(responses_plain.Driver):
    """Of two tools whose legal names are the same only the later is offered and called."""

    class steps(Run):
        """Makes each name legal by itself."""

        def named(self, tools: list[Json]) -> dict[str, Json]:
            return {re.sub(r"[^a-zA-Z0-9_-]", "_", tool["name"])[:64] or "tool": tool for tool in tools}
