"""Agents that reach the model otherwise than they are given, as a value or as a file."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from looptck_reference.agent import Agent
from looptck_reference.driving import Posts
from looptck_reference.invoke import Invocation, Invoker
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import Mutant
from looptck_reference.prompts import Loader, Prompt
from looptck_reference.values import Json


class FirstWord(Mutant):
    """Fills the first word of what the user says into the prompt: `spec-prompt-comes-from-agent-and-inputs`."""

    breaks = ("spec-prompt-comes-from-agent-and-inputs",)

    def _begin(self, case: Json, posts: Posts, invoker: Invoker) -> Invocation:
        *before, question = case["messages"]
        first = {**question, "content": question["content"].split()[0]}
        return super()._begin({**case, "messages": [*before, first]}, posts, invoker)


class BareToolsUnoffered(Mutant):
    """Offers no tool that has no parameters: `spec-runtime-tools-are-offered`."""

    breaks = ("spec-runtime-tools-are-offered",)

    class loop(Loop):  # noqa: N801  the driver's attribute
        def __init__(self, agent: Agent, **options: Any) -> None:
            super().__init__(agent, **options)
            self.agent = replace(agent, tools=[tool for tool in agent.tools if tool.parameters.get("properties")])


class DescriptionsLost(Mutant):
    """Loads the tools of a file without their descriptions: `spec-agent-by-path-or-value`."""

    breaks = ("spec-agent-by-path-or-value",)

    class invoker(Invoker):  # noqa: N801
        class loader(Loader):  # noqa: N801
            def load(self, *arguments: Any, **named: Any) -> Prompt:
                prompt = super().load(*arguments, **named)
                return replace(prompt, tools=tuple(replace(tool, description="") for tool in prompt.tools))


class NamesForValues(dict[str, str]):
    """An environment in which each variable that is not set holds its own name."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        return name


class VariablesByName(Mutant):
    """Takes the name of a variable that is not set for its value: `spec-environment-defaults-are-used`."""

    breaks = ("spec-environment-defaults-are-used",)

    class invoker(Invoker):  # noqa: N801
        class loader(Loader):  # noqa: N801
            def load(self, *arguments: Any, **_: Any) -> Prompt:
                return super().load(*arguments, environment=NamesForValues(os.environ))


class NoDefaults(Mutant):
    """Leaves inputs empty that are not given: `spec-input-defaults-are-filled-in`."""

    breaks = ("spec-input-defaults-are-filled-in",)

    class invoker(Invoker):  # noqa: N801
        class loader(Loader):  # noqa: N801
            def load(self, *arguments: Any, **named: Any) -> Prompt:
                prompt = super().load(*arguments, **named)
                return replace(prompt, inputs=tuple(replace(one, default="") for one in prompt.inputs))


class Injectable(Mutant):
    """Begins a message at what looks like a marker in an input: `spec-inputs-are-no-role-markers`."""

    breaks = ("spec-inputs-are-no-role-markers",)

    class invoker(Invoker):  # noqa: N801
        def begin(self, *arguments: Any, **named: Any) -> Invocation:
            begun = super().begin(*arguments, **named)
            begun.loop.history[:] = [cut for message in begun.loop.history for cut in _cut(message)]
            return begun


def _cut(message: Json) -> list[Json]:
    """A message cut at lines that look like markers."""
    cut = [{**message, "content": ""}]
    for line in message["content"].splitlines():
        role = line.strip(" #").removesuffix(":").lower()
        if line.rstrip().endswith(":") and role in {"system", "user", "assistant"}:
            cut.append({"role": role, "content": ""})
        else:
            cut[-1]["content"] += f"{line}\n"
    return cut
