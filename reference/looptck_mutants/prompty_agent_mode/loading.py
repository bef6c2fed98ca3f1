"""Agents that are not what their file says: what the loader made is bent, and nothing of agents without a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.tools import Tool
from looptck_reference.prompty.invoke import Invocation, Invoker
from looptck_reference.prompty.prompts import Loader, Prompt


def loading(bend: Callable[[Prompt], Prompt]) -> type[Invoker]:
    """An invoker whose prompts are bent once they are loaded."""

    class Bending(Loader):
        def load(self, path: str | Path, *, environment: Mapping[str, str] | None = None) -> Prompt:
            return bend(super().load(path, environment=environment))

    class Bent(Invoker):
        loader = Bending

    return Bent


def with_tools(bend: Callable[[Tool], Tool]) -> type[Invoker]:
    """An invoker whose prompts have other tools than their files."""
    return loading(lambda prompt: replace(prompt, tools=tuple(map(bend, prompt.tools))))


def _from_the_user_on(prompt: Prompt) -> Prompt:
    body = prompt.template.body
    return replace(prompt, template=replace(prompt.template, body=body[body.index("user:") :]))


@breaks("mode-agent-file-is-the-prompt")
class SystemMessageSkipped(Driver):
    """Begins to read an agent's file at its user's message."""

    invoker = loading(_from_the_user_on)


@breaks("mode-functions-run-for-a-loaded-agent")
class LoadedWithoutFunctions(Invoker):
    """Loads an agent and forgets the functions that it was given."""

    def begin(self, prompt: Any, inputs: Any = None, tools: Any = (), **options: Any) -> Invocation:
        return super().begin(prompt, inputs, (), **options)


@breaks("mode-input-default-is-used")
class DefaultIsTheName(Driver):
    """Takes the name of an input that is not given for its value."""

    invoker = loading(
        lambda prompt: replace(prompt, inputs=tuple(replace(one, default=one.name) for one in prompt.inputs))
    )


class Named(dict[str, str]):
    """An environment in which each variable that is not set holds its own name."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        return name


@breaks("mode-environment-default-is-used")
class VariableIsItsName(Loader):
    """Takes the name of a variable that is not set for its value."""

    def load(self, path: str | Path, *, environment: Mapping[str, str] | None = None) -> Prompt:
        return super().load(path, environment=Named(environment or os.environ))


@breaks("mode-declared-tools-are-offered")
class DescribedByName(Driver):
    """Describes the tools of a file by their names."""

    invoker = with_tools(lambda tool: replace(tool, description=tool.name))


@breaks("mode-declared-strict-tool-is-strict")
class StrictNotRead(Driver):
    """Does not read in a file that a tool is strict."""

    invoker = with_tools(lambda tool: replace(tool, strict=False))
