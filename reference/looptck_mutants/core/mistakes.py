"""Loops that hide a failure behind a programming mistake of their own."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import httpx

from looptck_mutants.cells import CHAT
from looptck_mutants.core.faults import has_the_services_form
from looptck_mutants.parts import breaks
from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Action, Ask, Fail
from looptck_reference.vocabulary.dialects import Policy
from looptck_reference.vocabulary.errors import (
    BadArguments,
    BadOutput,
    ConnectionLost,
    LoopError,
    MalformedReply,
    ProviderError,
    Reason,
    StreamBroken,
)
from looptck_reference.vocabulary.values import ToolCall, ToolResult, Turn

NO_KEY = type("KeyError", (ProviderError,), {})
"""An error that its caller sees as Python's own for a missing key; a run that really raises one is a crash."""
NO_MEMBER = type("AttributeError", (ProviderError,), {})
NO_VALUE = type("UnboundLocalError", (LoopError,), {})


@breaks("failure-is-told-as-such", cells=CHAT)
class MissesTheTime(Exchange):
    """Looks for a Retry-After in every refusal for the rate, and ends with its own mistake where there is none."""

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        try:
            return (yield from super().ask(ask))
        except ProviderError as error:
            if error.status != 429:
                raise
            raise NO_KEY("'retry-after'") from error


@breaks("failure-is-told-as-such", cells=CHAT)
class LooksIntoNoReply(Exchange):
    """Takes what it could not read for a reply, and ends with its own mistake."""

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        try:
            return (yield from super().ask(ask))
        except (ConnectionLost, MalformedReply, StreamBroken) as error:
            raise NO_MEMBER("'NoneType' object has no attribute 'choices'") from error


@breaks("failure-is-told-as-such", cells=CHAT)
class GoesOnWithoutArguments(Loop):
    """Notes that it could not read the arguments of a call, uses them all the same, and ends with its own mistake."""

    def fault(self, policy: Policy, call: ToolCall, error: Exception, reason: Reason) -> ToolResult | Fail:
        if not isinstance(error, BadArguments):
            return super().fault(policy, call, error, reason)
        return Fail(NO_VALUE("cannot access local variable 'given' where it is not associated with a value"), reason)


@breaks("failure-is-told-as-such", cells=CHAT)
class WrapsItsMistake(Loop):
    """Slips where it notes arguments that it could not read, and ends with an error of its own about the slip."""

    def fault(self, policy: Policy, call: ToolCall, error: Exception, reason: Reason) -> ToolResult | Fail:
        if not isinstance(error, BadArguments):
            return super().fault(policy, call, error, reason)
        return Fail(LoopError("isinstance expected 2 arguments, got 1"), reason)


@breaks("failure-is-told-as-such", cells=CHAT)
class CallsWhatIsNotThere(Loop):
    """Looks for a tool that nobody offers, calls it all the same, and ends with its own mistake."""

    def fault(self, policy: Policy, call: ToolCall, error: Exception, reason: Reason) -> ToolResult | Fail:
        if isinstance(error, BadArguments) or call.name in self.tools:
            return super().fault(policy, call, error, reason)
        return Fail(NO_MEMBER("'NoneType' object has no attribute 'run'"), reason)


@breaks("failure-is-told-as-such", cells=CHAT)
class LooksForTheWords(Exchange):
    """Looks for the words of an error where the service has them, and ends with its own mistake in any other form."""

    def turn(self, response: httpx.Response, content: bytes) -> Turn:
        if response.is_error and not has_the_services_form(content):
            raise NO_KEY("'error'")
        return super().turn(response, content)


@breaks("failure-is-told-as-such", cells=CHAT)
class OutputUnset(Loop):
    """Notes that an output is no JSON, returns it all the same, and ends with its own mistake."""

    def refuse_output(self, turn: Turn, error: BadOutput) -> Action:
        return Fail(
            NO_VALUE("cannot access local variable 'result' where it is not associated with a value"), error.reason
        )
