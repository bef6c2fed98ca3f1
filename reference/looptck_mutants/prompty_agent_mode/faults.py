"""Faulty calls with a wrong report or none: the dialect's answers, `parse_arguments` and `handler_for`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable
from typing import Any, ClassVar

from looptck_mutants.parts import breaks
from looptck_mutants.prompty_agent_mode.answering import otherwise
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Fail
from looptck_reference.vocabulary.dialects import FeedBack, Policy
from looptck_reference.vocabulary.errors import BadArguments, Reason
from looptck_reference.vocabulary.tools import Handler
from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult, Turn


class LoneFaultEnds(Loop):
    """Ends the run if the only call of a turn has this fault."""

    reason: ClassVar[Reason]

    def fault(self, policy: Policy, call: ToolCall, error: Exception, reason: Reason) -> ToolResult | Fail:
        only = not self._waiting and not self._results
        return Fail(error, reason) if only and reason == self.reason else super().fault(policy, call, error, reason)


@breaks("mode-bad-arguments-are-fed-back")
class LoneBadArgumentsRaise(LoneFaultEnds):
    """Raises the parser's error to its caller if a turn has one call."""

    reason = "arguments"


@breaks("mode-raising-tool-is-fed-back")
class LoneToolErrorRaises(LoneFaultEnds):
    """Raises a tool's exception to its caller if a turn has one call."""

    reason = "tool"


@breaks("mode-unknown-tool-is-fed-back")
class LoneUnknownToolRaises(LoneFaultEnds):
    """Fails if the only call of a turn names an unknown tool."""

    reason = "unknown-tool"


@breaks("mode-bad-arguments-run-nothing")
class WholePartRuns(Loop):
    """Runs a tool with the valid JSON at the start of its arguments, and reports the error."""

    report = ""

    def parse_arguments(self, text: str) -> Json:
        self.report = ""
        try:
            return super().parse_arguments(text)
        except BadArguments as error:
            whole = _whole_part(text)
            if whole is None:
                raise
            self.report = f"Error parsing arguments: {error}"
            return whole

    def handler_for(self, call: ToolCall) -> Handler | None:
        handler = super().handler_for(call)
        return _reporting(handler, self.report) if handler and self.report else handler


def _whole_part(text: str) -> Json | None:
    try:
        part, _ = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return None
    return part if isinstance(part, dict) else None


def _reporting(handler: Handler, text: str) -> Handler:
    """The handler, with this text in place of its return value."""

    async def ended(value: Awaitable[Any]) -> str:
        await value
        return text

    def handle(**arguments: Any) -> Any:
        value = handler(**arguments)
        return ended(value) if inspect.isawaitable(value) else text

    return handle


@breaks("mode-bad-arguments-have-the-documents-text")
class OtherWordsForArguments(Driver):
    """Reports invalid arguments with a different text."""

    dialects = otherwise(bad_arguments=FeedBack("Tool Error: invalid JSON in arguments: {message}"))


@breaks("mode-raising-tool-has-the-documents-text")
class OtherWordsForRaising(Driver):
    """Reports a tool's exception with a different text."""

    dialects = otherwise(tool_raises=FeedBack("Tool Error: {message} ({type} in {name})"))


@breaks("mode-unknown-tool-has-the-documents-text")
class OtherWordsForUnknown(Driver):
    """Reports an unknown tool with a different text."""

    dialects = otherwise(unknown_tool=FeedBack("Tool Error: unknown tool {name}"))


@breaks("mode-failing-call-leaves-the-others-whole")
class SkipsBehindUnknown(Loop):
    """Does not run the calls after a call of an unknown tool."""

    lost = False

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        self.lost = False

    def handler_for(self, call: ToolCall) -> Handler | None:
        handler = super().handler_for(call)
        skipped, self.lost = self.lost, self.lost or handler is None
        return (lambda **_: "skipped") if skipped else handler
