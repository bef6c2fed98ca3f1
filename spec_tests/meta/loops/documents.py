"""Loops that keep to one Prompty document to the letter, in every run, where `core` would have it otherwise."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from looptck_mutants.parts import speaking
from looptck_reference.kit.driver import Driver
from looptck_reference.kit.telling import Emit
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.prompty.invoke import Invoker
from looptck_reference.prompty.prompts import Loader, Prompt
from looptck_reference.vocabulary.dialects import PROMPTY_AGENT_MODE, PROMPTY_SPEC, Raise
from looptck_reference.vocabulary.values import Json, Stop, ToolCall, Turn
from looptck_reference.wires import ChatWire, MessagesWire, ResponsesWire
from meta.loops.declaring import without_talking


class Literal(Loop):
    """Parses arguments as they are: an empty text is no JSON. On Messages arguments are no text."""

    def parse_arguments(self, text: str) -> Json:
        is_object = isinstance(self.wire, MessagesWire)
        return super().parse_arguments(text) if text or is_object else dict(json.loads(text))


class IterationsExceeded(RuntimeError):
    """The loop's own error at its limit."""


class HandlerMissing(ValueError):
    """The loop's own error for a tool that nothing runs."""


class Specification(Driver):
    """Runs every call, whatever the stop reason, and sends back calls without what came beside them (§9.2 step 5d)."""

    class loop(Literal):  # noqa: N801  the driver's attribute
        def decide(self, turn: Turn) -> Decision:
            return Decision.RUN if turn.calls and self.dialect.runs_calls_on else super().decide(turn)

    class Chat(ChatWire):
        def echo(self, turn: Turn) -> list[Json]:
            return [{"role": "assistant", "tool_calls": [_called(call) for call in turn.calls]}]

    class Responses(ResponsesWire):
        def echo(self, turn: Turn) -> list[Json]:
            return [item for item in super().echo(turn) if item["type"] != "message"]

    wires = speaking(chat=Chat(), responses=Responses())
    dialects = dict.fromkeys(
        Driver.dialects,
        replace(
            PROMPTY_SPEC,
            limit_error=Raise(IterationsExceeded, "Agent loop exceeded {limit} iterations"),
            unknown_tool=Raise(HandlerMissing, "No handler registered for tool: {name} (kind: {kind})"),
        ),
    )

    def start(self) -> Json:
        """The description, with the one document."""
        return {**without_talking(super().start()), "profiles": ["prompty-spec"], "dialect": {}}


def _called(call: ToolCall) -> Json:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


class GuideOnly(Loader):
    """Reads the guide's form of inputs and parameters, and no lists in their place."""

    def load(self, path: str | Path, **named: Any) -> Prompt:
        text = Path(path).read_text("utf-8")
        assert "\ninputSchema:\n  properties:\n" in text
        assert "  parameters:\n  -" not in text
        return super().load(path, **named)


class Guide(Driver):
    """Goes by the finish reason alone (step 3 and pseudocode), and reads files of the guide's form alone."""

    class loop(Literal):  # noqa: N801  the driver's attribute
        def decide(self, turn: Turn) -> Decision:
            announced = turn.stop is Stop.CALLS and (turn.calls or turn.text)
            return Decision.RUN if announced else super().decide(turn)

    class Chat(ChatWire):
        def echo(self, turn: Turn) -> list[Json]:
            """The message as it came: without a list of calls, if it had none."""
            return [{name: value for name, value in one.items() if value != []} for one in super().echo(turn)]

    class invoker(Invoker):  # noqa: N801  the driver's attribute
        loader = GuideOnly

    wires = speaking(chat=Chat())
    dialects = dict.fromkeys(Driver.dialects, PROMPTY_AGENT_MODE)

    def start(self) -> Json:
        """The description, with the one document and its API."""
        started = without_talking(super().start())
        return {**started, "wires": ["openai-chat"], "profiles": ["prompty-agent-mode"], "dialect": {}}


class RangeError(Exception):
    """What JavaScript raises in place of Python's ValueError."""


class GuideInJavaScript(Guide):
    """The same in a language that has no ValueError."""

    dialects = dict.fromkeys(
        Driver.dialects,
        replace(PROMPTY_AGENT_MODE, limit_error=Raise(RangeError, "Agent loop exceeded max_iterations ({limit})")),
    )

    def start(self) -> Json:
        """The description, in another language."""
        return {**super().start(), "language": "javascript"}


class SpecificationInGo(Specification):
    """Wraps the errors of tools in errors of its own, as is usual in a language without exceptions."""

    def start(self) -> Json:
        """The description, in another language."""
        return {**super().start(), "language": "go"}

    def run(self, case: Json, emit: Emit) -> Json:
        """A run, whose error says whose it is."""
        outcome = super().run(case, emit)
        if outcome.get("reason") != "tool":
            return outcome
        return {**outcome, "type": "wrapError", "bases": [], "message": f"tool failed: {outcome['message']}"}
