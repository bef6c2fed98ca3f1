"""Broken loops for the profile ``prompty-agent-mode``: what they do about calls, faults, and the end, otherwise."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from looptck_reference.actions import Action, Finish
from looptck_reference.dialects import CALLS_DECIDE, PROMPTY_AGENT_MODE, Dialect, FeedBack, Propagate, Raise
from looptck_reference.driver import Driver
from looptck_reference.errors import BadArguments
from looptck_reference.loop import Loop
from looptck_reference.seams import Decision
from looptck_reference.tools import Handler
from looptck_reference.values import Answer, Json, ToolCall, ToolResult, Turn


def otherwise(**answers: Any) -> Mapping[str, Dialect]:
    """The reference's dialects, with other answers to some questions of the guide's."""
    return {**Driver.dialects, "prompty-agent-mode": replace(PROMPTY_AGENT_MODE, **answers)}


class BadArgumentsRaise(Driver):
    """Hands the parser's error to its caller: `mode-bad-arguments-are-fed-back`."""

    dialects = otherwise(bad_arguments=Propagate())


class ToolErrorsRaise(Driver):
    """Hands a tool's error to its caller: `mode-raising-tool-is-fed-back`."""

    dialects = otherwise(tool_raises=Propagate())


class UnknownToolsRaise(Driver):
    """Ends with an error where a tool has no function: `mode-unknown-tool-is-fed-back`."""

    dialects = otherwise(unknown_tool=Raise(ValueError, "No handler registered for tool: {name}"))


class BadArgumentsAreNone(Driver):
    """Takes arguments that it cannot read for none, and runs the tool: `mode-bad-arguments-run-nothing`."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def parse_arguments(self, text: str) -> Json:
            try:
                return super().parse_arguments(text)
            except BadArguments:
                return {}


class OtherWords(Driver):
    """Says it in words of its own: the requirements of the documents' texts, and no other."""

    dialects = otherwise(
        bad_arguments=FeedBack("Tool Error: invalid JSON in arguments: {message}"),
        tool_raises=FeedBack("Tool Error: {message} ({type} in {name})"),
        unknown_tool=FeedBack("Tool Error: unknown tool {name}"),
        limit_error=Raise(ValueError, "max_iterations reached: {limit}"),
    )


class SkipsTheRest(Driver):
    """Runs no more calls of a turn once one has failed: `mode-failing-call-leaves-the-others-whole`."""

    class loop(Loop):  # noqa: N801
        failed = False

        def append_turn(self, turn: Turn) -> None:
            super().append_turn(turn)
            self.failed = False

        def handler_for(self, call: ToolCall) -> Handler | None:
            handler = super().handler_for(call)
            skipped, self.failed = self.failed, self.failed or handler is None
            return (lambda **_: "skipped") if skipped else handler

        def parse_arguments(self, text: str) -> Json:
            self.failed, before = True, self.failed
            arguments = super().parse_arguments(text)
            self.failed = before
            return arguments

        def tool_raised(self, error: Exception) -> Action:
            self.failed = True
            return super().tool_raised(error)


class RuntimeErrorAtTheLimit(Driver):
    """Raises what the other document of the same project wants: `mode-limit-raises-value-error`."""

    dialects = otherwise(limit_error=Raise(RuntimeError, "Agent loop exceeded max_iterations ({limit})"))


class LastRoundLost(Driver):
    """Does not run the tools of the last cycle: `mode-last-cycle-runs-its-tools`."""

    class loop(Loop):  # noqa: N801
        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            return () if self.limit_reached() else super().calls_of(turn)


class OneTooFew(Driver):
    """Its limit is off by one, to the other side: `mode-answer-in-the-last-cycle-is-returned`."""

    class loop(Loop):  # noqa: N801
        def limit_reached(self) -> bool:
            return self.model_calls >= self.limit - 1


class CallsDecide(Driver):
    """Runs calls whatever the finish reason says: `mode-other-finish-reason-is-final`."""

    dialects = otherwise(runs_calls_on=CALLS_DECIDE)


class TextDecides(Driver):
    """Takes text for the answer, whatever the finish reason says: `mode-finish-reason-tool-calls-runs-tools`."""

    class loop(Loop):  # noqa: N801
        def decide(self, turn: Turn) -> Decision:
            return Decision.ANSWER if turn.text else super().decide(turn)


class StopsEarly(Driver):
    """Has enough after three rounds: `mode-model-is-asked-until-it-answers`."""

    class loop(Loop):  # noqa: N801
        def decide(self, turn: Turn) -> Decision:
            return Decision.ANSWER if self.model_calls > 3 else super().decide(turn)


class FirstLine(Driver):
    """Returns the first line of the answer: `mode-answer-is-returned`."""

    class loop(Loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            return Finish(Answer(turn.text.partition("\n")[0], turn.stop))


class OneLine(Driver):
    """Sends a result in one line: `mode-result-is-the-tools-text`."""

    dialects = otherwise(result_text=lambda value: " ".join(str(value).split()))


class AnyCase(Driver):
    """Finds functions by their name in any case: `mode-functions-are-found-by-name`."""

    class loop(Loop):  # noqa: N801
        def handler_of_name(self, call: ToolCall) -> Handler | None:
            names = {name.lower(): name for name in self.tools}
            return super().handler_of_name(replace(call, name=names.get(call.name.lower(), call.name)))


class ByPosition(Driver):
    """Hands arguments over in the order in which they were written: `mode-arguments-are-keywords`."""

    class loop(Loop):  # noqa: N801
        def handler_for(self, call: ToolCall) -> Handler | None:
            handler = super().handler_for(call)
            names = list(self.tools[call.name].parameters["properties"]) if call.name in self.tools else []
            return handler and (lambda **given: handler(**dict(zip(names, given.values(), strict=False))))


class LastFirst(Driver):
    """Runs the calls of a turn from the last to the first: `mode-tools-run-one-after-the-other`."""

    class loop(Loop):  # noqa: N801
        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            return turn.calls[::-1]

        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results[::-1])


class Unawaited(Driver):
    """Takes the coroutine for the result: `mode-async-tools-are-awaited`."""

    class loop(Loop):  # noqa: N801
        def handler_for(self, call: ToolCall) -> Handler | None:
            handler = super().handler_for(call)
            return handler and (lambda **arguments: _as_it_is(handler(**arguments)))


class OneForAll(Driver):
    """Takes all functions of a run for plain ones if the first is: `mode-plain-tools-run-in-async-runs`."""

    class loop(Loop):  # noqa: N801
        def handler_for(self, call: ToolCall) -> Handler | None:
            handler = super().handler_for(call)
            first = self.registry.get_tool(next(iter(self.tools)))
            if handler is None or inspect.iscoroutinefunction(first):
                return handler
            return lambda **arguments: _as_it_is(handler(**arguments))


def _as_it_is(value: Any) -> Any:
    """What a caller makes of a coroutine that does not know it for one: its text, but for where it lies in memory."""
    if inspect.iscoroutine(value):
        value.close()
        return f"<coroutine object {value.__qualname__}>"
    return value
