"""Agents that reach the model with changes, given as a value or as a file."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.kit.toolbox import ToolboxClient
from looptck_reference.loop.loop import Loop
from looptck_reference.prompty.invoke import Invocation, Invoker
from looptck_reference.prompty.prompts import Loader, Prompt
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.values import Json


@breaks("spec-prompt-comes-from-agent-and-inputs")
class FirstWord(Driver):
    """Uses only the first word of the user's message."""

    def _begin(self, case: Json, toolbox: ToolboxClient, invoker: Invoker) -> Invocation:
        *before, question = case["messages"]
        first = {**question, "content": question["content"].split()[0]}
        return super()._begin({**case, "messages": [*before, first]}, toolbox, invoker)


@breaks("spec-runtime-tools-are-offered")
class BareToolsUnoffered(Loop):
    """Does not offer tools without parameters."""

    def __init__(self, agent: Agent, **options: Any) -> None:
        super().__init__(agent, **options)
        self.agent = replace(agent, tools=[tool for tool in agent.tools if tool.parameters.get("properties")])


@breaks("spec-agent-by-path-or-value")
class DescriptionsLost(Loader):
    """Loads the tools of a file without their descriptions."""

    def load(self, *arguments: Any, **named: Any) -> Prompt:
        prompt = super().load(*arguments, **named)
        return replace(prompt, tools=tuple(replace(tool, description="") for tool in prompt.tools))


class NamesForValues(dict[str, str]):
    """An environment in which each unset variable has its own name as value."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        return name


@breaks("spec-environment-defaults-are-used")
class VariablesByName(Loader):
    """Uses the name of an unset environment variable as its value."""

    def load(self, *arguments: Any, **_: Any) -> Prompt:
        return super().load(*arguments, environment=NamesForValues(os.environ))


@breaks("spec-environment-defaults-are-used")
class DefaultsUpToAColon(Loader):
    """Ends the default of an endpoint at its first colon."""

    def load(self, path: str | Path, **named: Any) -> Prompt:
        prompt = super().load(path, **named)
        endpoint = prompt.model.endpoint
        if endpoint is None or f":{endpoint}}}" not in Path(path).read_text(encoding="utf-8"):
            return prompt
        return replace(prompt, model=replace(prompt.model, endpoint=endpoint.partition(":")[0]))


@breaks("spec-input-defaults-are-filled-in")
class NoDefaults(Loader):
    """Ignores the defaults that are texts."""

    def load(self, *arguments: Any, **named: Any) -> Prompt:
        prompt = super().load(*arguments, **named)
        bare = (replace(one, default="") if isinstance(one.default, str) else one for one in prompt.inputs)
        return replace(prompt, inputs=tuple(bare))


@breaks("spec-input-defaults-are-filled-in")
class FalsyDefaults(Loader):
    """Ignores the defaults of inputs that count as false."""

    def load(self, *arguments: Any, **named: Any) -> Prompt:
        prompt = super().load(*arguments, **named)
        return replace(prompt, inputs=tuple(replace(one, default=one.default or None) for one in prompt.inputs))


@breaks("spec-inputs-are-no-role-markers")
class Injectable(Invoker):
    """Starts a new message at text in an input that looks like a role marker."""

    def begin(self, *arguments: Any, **named: Any) -> Invocation:
        begun = super().begin(*arguments, **named)
        begun.loop.history[:] = [cut for message in begun.loop.history for cut in _cut(message)]
        return begun


def _cut(message: Json) -> list[Json]:
    """The message, split at lines that look like role markers."""
    cut = [{**message, "content": ""}]
    for line in message["content"].splitlines():
        role = line.strip(" #").removesuffix(":").lower()
        if line.rstrip().endswith(":") and role in {"system", "user", "assistant"}:
            cut.append({"role": role, "content": ""})
        else:
            cut[-1]["content"] += f"{line}\n"
    return cut
