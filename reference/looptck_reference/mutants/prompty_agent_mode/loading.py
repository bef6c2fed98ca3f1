"""Agents that are not what their file says: what the loader made is bent, and nothing of agents without a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from looptck_reference.invoke import Invocation, Invoker
from looptck_reference.mutants.mutant import Mutant
from looptck_reference.prompts import Loader, Prompt
from looptck_reference.tools import Tool


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


class SystemMessageSkipped(Mutant):
    """Begins to read an agent's file at its user's message: `mode-agent-file-is-the-prompt`."""

    breaks = ("mode-agent-file-is-the-prompt",)
    invoker = loading(_from_the_user_on)


class LoadedWithoutFunctions(Mutant):
    """Loads an agent and forgets the functions that it was given: `mode-functions-run-for-a-loaded-agent`."""

    breaks = ("mode-functions-run-for-a-loaded-agent",)

    class invoker(Invoker):  # noqa: N801  the driver's attribute
        def begin(self, prompt: Any, inputs: Any = None, tools: Any = (), **options: Any) -> Invocation:
            return super().begin(prompt, inputs, (), **options)


class DefaultIsTheName(Mutant):
    """Takes the name of an input that is not given for its value: `mode-input-default-is-used`."""

    breaks = ("mode-input-default-is-used",)
    invoker = loading(
        lambda prompt: replace(prompt, inputs=tuple(replace(one, default=one.name) for one in prompt.inputs))
    )


class Named(dict[str, str]):
    """An environment in which each variable that is not set holds its own name."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        return name


class VariableIsItsName(Mutant):
    """Takes the name of a variable that is not set for its value: `mode-environment-default-is-used`."""

    breaks = ("mode-environment-default-is-used",)

    class invoker(Invoker):  # noqa: N801
        class loader(Loader):  # noqa: N801
            def load(self, path: str | Path, *, environment: Mapping[str, str] | None = None) -> Prompt:
                return super().load(path, environment=Named(environment or os.environ))


class DescribedByName(Mutant):
    """Describes the tools of a file by their names: `mode-declared-tools-are-offered`."""

    breaks = ("mode-declared-tools-are-offered",)
    invoker = with_tools(lambda tool: replace(tool, description=tool.name))


class StrictNotRead(Mutant):
    """Does not read in a file that a tool is strict: `mode-declared-strict-tool-is-strict`."""

    breaks = ("mode-declared-strict-tool-is-strict",)
    invoker = with_tools(lambda tool: replace(tool, strict=False))
