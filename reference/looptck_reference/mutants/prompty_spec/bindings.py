"""Bindings that are applied otherwise: the seam `bind`, and what is offered and echoed of bound parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from looptck_reference.agent import Agent
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import Mutant, because
from looptck_reference.tools import Tool
from looptck_reference.values import Json, Turn


class EmptyTextsLeft(Mutant):
    """Injects no input that is an empty text: `spec-bindings-are-injected`."""

    breaks = ("spec-bindings-are-injected",)

    class loop(Loop):  # noqa: N801  the driver's attribute
        def bind(self, tool: Tool | None, arguments: Json) -> Json:
            return {**arguments, **{name: value for name, value in _bound(tool, self).items() if value != ""}}


class FirstBindingOnly(Mutant):
    """Applies the first binding of a tool and forgets the others: `spec-bindings-are-injected`."""

    breaks = ("spec-bindings-are-injected",)

    class loop(Loop):  # noqa: N801
        def bind(self, tool: Tool | None, arguments: Json) -> Json:
            return {**arguments, **dict([*_bound(tool, self).items()][:1])}


class NamesakesInjected(Mutant):
    """Fills a tool without bindings from inputs of the same names: `spec-binding-needs-its-input`."""

    breaks = ("spec-binding-needs-its-input",)

    class loop(Loop):  # noqa: N801
        def bind(self, tool: Tool | None, arguments: Json) -> Json:
            if tool is None or tool.bindings:
                return super().bind(tool, arguments)
            return {name: self.agent.inputs.get(name, value) for name, value in arguments.items()}


class ModelKnowsBetter(Mutant):
    """Keeps what the model wrote for a bound parameter: `spec-binding-overrides-the-model`."""

    breaks = ("spec-binding-overrides-the-model",)
    also = because("the arguments of a child are bound too", "spec-child-gets-arguments-and-bindings")

    class loop(Loop):  # noqa: N801
        def bind(self, tool: Tool | None, arguments: Json) -> Json:
            return {**_bound(tool, self), **arguments}


class EmptyTextStays(Mutant):
    """Keeps an empty text that the model wrote for a bound parameter: `spec-binding-overrides-the-model`."""

    breaks = ("spec-binding-overrides-the-model",)

    class loop(Loop):  # noqa: N801
        def bind(self, tool: Tool | None, arguments: Json) -> Json:
            empty = {name: value for name, value in arguments.items() if value == ""}
            return {**super().bind(tool, arguments), **empty}


class NullForNothing(Mutant):
    """Gives null to the bound parameters of a call without arguments: `spec-bindings-apply-to-any-arguments`."""

    breaks = ("spec-bindings-apply-to-any-arguments",)

    class loop(Loop):  # noqa: N801
        def bind(self, tool: Tool | None, arguments: Json) -> Json:
            nulls = dict.fromkeys(() if tool is None or arguments else tool.bindings)
            return {**nulls, **super().bind(tool, arguments)}


class Telltale(Mutant):
    """Echoes a call with what was injected: `spec-injected-values-are-not-echoed`."""

    breaks = ("spec-injected-values-are-not-echoed",)

    class loop(Loop):  # noqa: N801
        def append_turn(self, turn: Turn) -> None:
            calls = []
            for call in turn.calls:
                bound = _bound(self.tools.get(call.name), self)
                written = json.dumps({**json.loads(call.arguments), **bound}) if bound else call.arguments
                calls.append(replace(call, arguments=written))
            super().append_turn(replace(turn, calls=tuple(calls)))


class BoundOffered(Mutant):
    """Offers the bound parameters of functions too: `spec-bound-parameters-are-not-offered`."""

    breaks = ("spec-bound-parameters-are-not-offered",)

    class loop(Loop):  # noqa: N801
        def __init__(self, agent: Agent, **options: Any) -> None:
            super().__init__(agent, **options)
            open = [tool if tool.kind == "prompty" else replace(tool, bindings={}) for tool in agent.tools]
            self.agent = replace(agent, tools=open)


def _bound(tool: Tool | None, loop: Loop) -> Mapping[str, Any]:
    """What the bindings of a tool inject."""
    bindings = {} if tool is None else tool.bindings
    return {name: loop.agent.inputs[source] for name, source in bindings.items() if source in loop.agent.inputs}
