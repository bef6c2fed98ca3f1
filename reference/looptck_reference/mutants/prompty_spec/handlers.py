"""Handlers that are found, called or believed otherwise: the two layers of dispatch and what their errors do."""

from __future__ import annotations

from typing import Any

from looptck_reference.actions import Action
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import Mutant
from looptck_reference.mutants.prompty_spec.loaded import is_loaded
from looptck_reference.registry import Registry
from looptck_reference.tools import Handler, Tool
from looptck_reference.values import Json, ToolCall


class KindFirst(Mutant):
    """Asks the handler of the kind before that of the name: `spec-name-registry-wins`."""

    breaks = ("spec-name-registry-wins",)

    class loop(Loop):  # noqa: N801  the driver's attribute
        def handler_for(self, call: ToolCall) -> Handler | None:
            return self.handler_of_kind(call) or self.handler_of_name(call)


class KindWithoutInputs(Mutant):
    """Gives the handler of a kind no inputs: `spec-kind-handler-is-the-fallback`."""

    breaks = ("spec-kind-handler-is-the-fallback",)

    class loop(Loop):  # noqa: N801
        def handler_of_kind(self, call: ToolCall) -> Handler | None:
            tool = self.tools.get(call.name)
            handler = None if tool is None else self.registry.get_tool_handler(tool.kind)
            if tool is None or handler is None:
                return None
            return lambda **arguments: handler(tool, arguments, self.agent, {})


class BoundByNameOnly(Mutant):
    """Binds what a handler of the name gets, and not what that of a kind gets: `spec-bindings-come-before-dispatch`."""

    breaks = ("spec-bindings-come-before-dispatch",)

    class loop(Loop):  # noqa: N801
        def bind(self, tool: Tool | None, arguments: Json) -> Json:
            by_kind = tool is not None and self.registry.get_tool(tool.name) is None and tool.kind != "prompty"
            return arguments if by_kind else super().bind(tool, arguments)


class Leftovers(Mutant):
    """Gives a run without handlers those of the runs before it: `spec-runtime-tools-last-one-run`."""

    breaks = ("spec-runtime-tools-last-one-run",)

    class loop(Loop):  # noqa: N801
        left = Registry()

        def handler_of_name(self, call: ToolCall) -> Handler | None:
            handler = super().handler_of_name(call)
            if handler is not None:
                self.left.register_tool(call.name, handler)
            return handler if any(map(self.registry.get_tool, self.tools)) else self.left.get_tool(call.name)


class OneRegistry(Mutant):
    """Has one registry for all runs, in which the last handler of a name wins: `spec-runtime-tools-do-not-mix`."""

    breaks = ("spec-runtime-tools-do-not-mix",)

    class loop(Loop):  # noqa: N801
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

    def tool_raised(self, error: Exception) -> Action:
        """The error as a result, or the end."""
        told = self._running is not None and self.tells(self.tools[self._running.name].kind)
        return self.tool_returned(f"Error: {error}") if told else super().tool_raised(error)


class FunctionErrorsTold(Mutant):
    """Tells the model what a function raised, unless its agent was loaded: `spec-raising-handler-ends-the-loop`."""

    breaks = ("spec-raising-handler-ends-the-loop",)

    class loop(ErrorTelling):  # noqa: N801
        def tells(self, kind: str) -> bool:
            return kind == "function" and not is_loaded(self)


class KindErrorsTold(Mutant):
    """Tells the model what the handler of a kind raised: `spec-raising-kind-handler-ends-the-loop`."""

    breaks = ("spec-raising-kind-handler-ends-the-loop",)

    class loop(ErrorTelling):  # noqa: N801
        def tells(self, kind: str) -> bool:
            return kind not in {"function", "prompty"}
