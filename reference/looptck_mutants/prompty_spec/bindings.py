"""Bindings that are applied wrongly: the seam `bind`, and bound parameters in offers and echoes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json, Turn


@breaks("spec-bindings-are-injected")
class FirstBindingOnly(Loop):
    """Applies only the first binding of a tool."""

    def bind(self, tool: Tool | None, arguments: Json) -> Json:
        return {**arguments, **dict([*_bound(tool, self).items()][:1])}


@breaks("spec-binding-needs-its-input")
class NamesakesInjected(Loop):
    """Fills parameters of a tool without bindings from inputs of the same names."""

    def bind(self, tool: Tool | None, arguments: Json) -> Json:
        if tool is None or tool.bindings:
            return super().bind(tool, arguments)
        return {name: self.agent.inputs.get(name, value) for name, value in arguments.items()}


@breaks(
    "spec-binding-overrides-the-model",
    collateral={"spec-child-gets-arguments-and-bindings": "the arguments of a child are bound too"},
)
class ModelKnowsBetter(Loop):
    """Keeps the model's value of a bound parameter."""

    def bind(self, tool: Tool | None, arguments: Json) -> Json:
        return {**_bound(tool, self), **arguments}


@breaks("spec-bindings-apply-to-any-arguments")
class NullForNothing(Loop):
    """Passes null for the bound parameters of a call without arguments."""

    def bind(self, tool: Tool | None, arguments: Json) -> Json:
        nulls = dict.fromkeys(() if tool is None or arguments else tool.bindings)
        return {**nulls, **super().bind(tool, arguments)}


@breaks("spec-injected-values-are-not-echoed")
class Telltale(Loop):
    """Sends calls back with the injected values."""

    def append_turn(self, turn: Turn) -> None:
        calls = []
        for call in turn.calls:
            bound = _bound(self.tools.get(call.name), self)
            written = json.dumps({**json.loads(call.arguments), **bound}) if bound else call.arguments
            calls.append(replace(call, arguments=written))
        super().append_turn(replace(turn, calls=tuple(calls)))


@breaks("spec-bound-parameters-are-not-offered")
class BoundOffered(Loop):
    """Offers the bound parameters of functions too."""

    def __init__(self, agent: Agent, **options: Any) -> None:
        super().__init__(agent, **options)
        open = [tool if tool.kind == "prompty" else replace(tool, bindings={}) for tool in agent.tools]
        self.agent = replace(agent, tools=open)


def _bound(tool: Tool | None, loop: Loop) -> Mapping[str, Any]:
    """The values that the bindings of a tool inject."""
    bindings = {} if tool is None else tool.bindings
    return {name: loop.agent.inputs[source] for name, source in bindings.items() if source in loop.agent.inputs}
