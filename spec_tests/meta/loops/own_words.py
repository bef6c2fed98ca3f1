"""Loops that are correct but tell the model in the words of their language what was wrong with a call."""

from __future__ import annotations

from looptck_mutants.core.told_failures import SlipsOverAMissingMember, SlipsOverAnUnknownTool, SlipsOverBadArguments
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.values import ToolCall, ToolResult


class InWordsOfPython(Driver):
    """What Python raises for a call without a member, for a name that there is not, and for a text that is no JSON."""

    class loop(SlipsOverAMissingMember, SlipsOverAnUnknownTool, SlipsOverBadArguments):  # noqa: N801
        """Says of each call what the exception says."""

        def slip(self, call: ToolCall, what: str) -> ToolResult:
            if call.name not in self.tools:
                return super().slip(call, f"KeyError: '{call.name}'")
            if call.arguments == "{}":
                return super().slip(call, f"TypeError: {call.name}() missing 1 required positional argument: 'city'")
            return super().slip(call, "JSONDecodeError: Unterminated string starting at: line 1 column 10 (char 9)")


class InWordsOfItsOwn(Driver):
    """Says of arguments that it cannot read that they make no valid call, in words that could be about the tool."""

    class loop(SlipsOverBadArguments):  # noqa: N801
        """Says of an unknown tool something else."""

        def slip(self, call: ToolCall, what: str) -> ToolResult:
            return super().slip(call, f"what was written for {call.name} is not a valid function call")
