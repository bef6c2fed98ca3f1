"""Handlers that are found, called or believed otherwise: the two layers of dispatch and what their errors do."""

from __future__ import annotations

from typing import Any

from looptck_mutants.parts import breaks
from looptck_mutants.prompty_spec.loaded import is_loaded
from looptck_reference.loop.actions import End, Fail, Raised, Returned
from looptck_reference.loop.loop import Loop
from looptck_reference.loop.registry import Registry
from looptck_reference.loop.tools import Handler, Tool
from looptck_reference.loop.values import Json, ToolCall, ToolResult


@breaks("spec-name-registry-wins")
class KindFirst(Loop):
    """Asks the handler of the kind before that of the name."""

    def handler_for(self, call: ToolCall) -> Handler | None:
        return self.handler_of_kind(call) or self.handler_of_name(call)


@breaks("spec-kind-handler-is-the-fallback")
class KindWithoutInputs(Loop):
    """Gives the handler of a kind no inputs."""

    def handler_of_kind(self, call: ToolCall) -> Handler | None:
        tool = self.tools.get(call.name)
        handler = None if tool is None else self.registry.get_tool_handler(tool.kind)
        if tool is None or handler is None:
            return None
        return lambda **arguments: handler(tool, arguments, self.agent, {})


@breaks("spec-bindings-come-before-dispatch")
class BoundByNameOnly(Loop):
    """Binds what a handler of the name gets, and not what that of a kind gets."""

    def bind(self, tool: Tool | None, arguments: Json) -> Json:
        by_kind = tool is not None and self.registry.get_tool(tool.name) is None and tool.kind != "prompty"
        return arguments if by_kind else super().bind(tool, arguments)


@breaks("spec-runtime-tools-last-one-run")
class Leftovers(Loop):
    """Gives a run without handlers those of the runs before it."""

    left = Registry()

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        handler = super().handler_of_name(call)
        if handler is not None:
            self.left.register_tool(call.name, handler)
        return handler if any(map(self.registry.get_tool, self.tools)) else self.left.get_tool(call.name)


@breaks("spec-runtime-tools-do-not-mix")
class OneRegistry(Loop):
    """Has one registry for all runs, in which the last handler of a name wins."""

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


class ErrorTelling(Loop):
    """A loop that may tell the model of an error and go on."""

    def tells(self, kind: str) -> bool:
        """Whether it does so where a tool of this kind has raised."""
        raise NotImplementedError

    def result(self, call: ToolCall, end: End) -> ToolResult | Fail:
        """The error as a result, or the end."""
        if isinstance(end, Raised) and self.tells(self.tools[call.name].kind):
            return super().result(call, Returned(f"Error: {end.error}"))
        return super().result(call, end)


@breaks("spec-raising-handler-ends-the-loop")
class FunctionErrorsTold(ErrorTelling):
    """Tells the model what a function raised, unless its agent was loaded."""

    def tells(self, kind: str) -> bool:
        return kind == "function" and not is_loaded(self)


@breaks("spec-raising-kind-handler-ends-the-loop")
class KindErrorsTold(ErrorTelling):
    """Tells the model what the handler of a kind raised."""

    def tells(self, kind: str) -> bool:
        return kind not in {"function", "prompty"}
