"""Agents that differ from their file: the loaded prompt is changed; agents without a file are not affected."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.prompty.invoke import Invocation, Invoker
from looptck_reference.prompty.prompts import Loader, Prompt
from looptck_reference.prompty.prompts.properties import Input
from looptck_reference.vocabulary.tools import Tool


def loading(bend: Callable[[Prompt], Prompt]) -> type[Invoker]:
    """An invoker that changes prompts after loading them."""

    class Bending(Loader):
        def load(self, path: str | Path, *, environment: Mapping[str, str] | None = None) -> Prompt:
            return bend(super().load(path, environment=environment))

    class Bent(Invoker):
        loader = Bending

    return Bent


def with_tools(bend: Callable[[Tool], Tool]) -> type[Invoker]:
    """An invoker that changes the tools of loaded prompts."""
    return loading(lambda prompt: replace(prompt, tools=tuple(map(bend, prompt.tools))))


def _from_the_user_on(prompt: Prompt) -> Prompt:
    body = prompt.template.body
    return replace(prompt, template=replace(prompt.template, body=body[body.index("user:") :]))


@breaks("mode-agent-file-is-the-prompt")
class SystemMessageSkipped(Driver):
    """Ignores everything before the user message in an agent's file."""

    invoker = loading(_from_the_user_on)


@breaks("mode-functions-run-for-a-loaded-agent")
class LoadedWithoutFunctions(Invoker):
    """Ignores the given functions when it loads an agent."""

    def begin(self, prompt: Any, inputs: Any = None, tools: Any = (), **options: Any) -> Invocation:
        return super().begin(prompt, inputs, (), **options)


def _named(one: Input) -> Input:
    return replace(one, default=one.name) if isinstance(one.default, str) else one


@breaks("mode-input-default-is-used")
class DefaultIsTheName(Driver):
    """Uses the name of a missing input as its value, where its default is a text."""

    invoker = loading(lambda prompt: replace(prompt, inputs=tuple(map(_named, prompt.inputs))))


@breaks("mode-input-default-is-used")
class FalsyDefaultIsNone(Driver):
    """Ignores the defaults of inputs that count as false."""

    invoker = loading(
        lambda prompt: replace(prompt, inputs=tuple(replace(one, default=one.default or None) for one in prompt.inputs))
    )


class Named(dict[str, str]):
    """An environment in which each unset variable has its own name as value."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        return name


@breaks("mode-environment-default-is-used")
class VariableIsItsName(Loader):
    """Uses the name of an unset environment variable as its value."""

    def load(self, path: str | Path, *, environment: Mapping[str, str] | None = None) -> Prompt:
        return super().load(path, environment=Named(environment or os.environ))


@breaks("mode-declared-tools-are-offered")
class DescribedByName(Driver):
    """Uses the names of a file's tools as their descriptions."""

    invoker = with_tools(lambda tool: replace(tool, description=tool.name))


@breaks("mode-declared-strict-tool-is-strict")
class StrictNotRead(Driver):
    """Ignores the `strict` flag of tools in a file."""

    invoker = with_tools(lambda tool: replace(tool, strict=False))
