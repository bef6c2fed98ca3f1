"""Handlers that are found or called wrongly, and their errors: the two layers of dispatch."""

from __future__ import annotations

from typing import Any

from looptck_mutants.parts import breaks
from looptck_mutants.prompty_spec.loaded import is_loaded
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import End, Fail, Raised, Returned
from looptck_reference.vocabulary.registry import Registry
from looptck_reference.vocabulary.tools import Handler, Tool
from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult


@breaks("spec-name-registry-wins")
class KindFirst(Loop):
    """Prefers the handler of the kind to that of the name."""

    def handler_for(self, call: ToolCall) -> Handler | None:
        return self.handler_of_kind(call) or self.handler_of_name(call)


@breaks("spec-kind-handler-is-the-fallback")
class KindWithoutInputs(Loop):
    """Passes no inputs to the handler of a kind."""

    def handler_of_kind(self, call: ToolCall) -> Handler | None:
        tool = self.tools.get(call.name)
        handler = None if tool is None else self.registry.get_tool_handler(tool.kind)
        if tool is None or handler is None:
            return None
        return lambda **arguments: handler(tool, arguments, self.agent, {})


@breaks("spec-bindings-come-before-dispatch")
class BoundByNameOnly(Loop):
    """Applies bindings for handlers of a name, but not for handlers of a kind."""

    def bind(self, tool: Tool | None, arguments: Json) -> Json:
        by_kind = tool is not None and self.registry.get_tool(tool.name) is None and tool.kind != "prompty"
        return arguments if by_kind else super().bind(tool, arguments)


@breaks("spec-runtime-tools-last-one-run")
class Leftovers(Loop):
    """Runs handlers of earlier runs in a run without handlers."""

    left = Registry()

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        handler = super().handler_of_name(call)
        if handler is not None:
            self.left.register_tool(call.name, handler)
        return handler if any(map(self.registry.get_tool, self.tools)) else self.left.get_tool(call.name)


@breaks("spec-runtime-tools-do-not-mix")
class OneRegistry(Loop):
    """Shares one registry between all runs, in which the last handler of a name wins."""

    shared = Registry()

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        for name in self.tools:
            handler = self.registry.get_tool(name)
            if handler is not None:
                self.shared.register_tool(name, handler)

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        known = super().handler_of_name(call)
        return known and self.shared.get_tool(call.name)


class ErrorReporting(Loop):
    """A loop that may report an exception to the model and continue."""

    def reports(self, kind: str) -> bool:
        """Whether it does so for an exception of a tool of this kind."""
        raise NotImplementedError

    def result(self, call: ToolCall, end: End) -> ToolResult | Fail:
        """The error as a result, or the failure of the run."""
        if isinstance(end, Raised) and self.reports(self.tools[call.name].kind):
            return super().result(call, Returned(f"Error: {end.error}"))
        return super().result(call, end)


@breaks("spec-raising-handler-ends-the-loop")
class FunctionErrorsTold(ErrorReporting):
    """Reports a function's exception to the model, unless its agent was loaded from a file."""

    def reports(self, kind: str) -> bool:
        return kind == "function" and not is_loaded(self)


@breaks("spec-raising-kind-handler-ends-the-loop")
class KindErrorsTold(ErrorReporting):
    """Reports an exception of a kind's handler to the model."""

    def reports(self, kind: str) -> bool:
        return kind not in {"function", "prompty"}
