"""A right loop whose tools have letters and digits in their names alone, and one that breaks on other signs."""

from __future__ import annotations

from typing import Any

from looptck.driver import error
from meta.strangers.python import right_chat_validates as validating

Json = dict[str, Any]


class BadToolName(ValueError):
    """What the loop's caller gets for a tool that it does not take."""


class Driver(validating.Driver):
    """A tool is refused when it is made, in words that name it."""

    def run(self, case: Json, emit: Any) -> Json:
        """Run one case in sync mode."""
        for tool in case["tools"]:
            if not tool["name"].isalnum():
                return {**error(BadToolName(self.words(tool["name"])))}
        return dict(super().run(case, emit))

    def words(self, name: str) -> str:
        return f"Tool name {name!r} can only contain letters and numbers."


class Wordless(Driver):
    """The error says nothing of the tool."""

    def words(self, name: str) -> str:
        return "Cannot make the agent."
