"""A prompt as a value: the content of its file, and the prompts of its tools."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from looptck_reference.prompty.prompts.errors import PromptError
from looptck_reference.prompty.prompts.properties import Input
from looptck_reference.prompty.prompts.template import Template
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json

__all__ = ["Model", "Prompt"]


@dataclass(frozen=True, slots=True)
class Model:
    """A model, its connection and its options.

    `options` have the names of the file (`temperature`, `maxOutputTokens`), without `stream`.
    """

    id: str
    provider: str = "openai"
    api_type: str = "chat"
    endpoint: str | None = None
    api_key: str | None = field(default=None, repr=False)
    stream: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A loaded `.prompty` file. It never changes, so one prompt serves any number of runs."""

    path: Path
    name: str
    description: str
    model: Model
    inputs: tuple[Input, ...]
    tools: tuple[Tool, ...]
    children: Mapping[str, Prompt] = field(repr=False)
    """The prompts of the tools of kind `prompty`, by tool name."""
    template: Template = field(repr=False)

    def filled(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The given inputs, and the defaults of the others.

        Inputs that the prompt does not declare are kept, and values are not checked against their kind (the later
        runtime specification, §12.2).

        Raises:
            PromptError: an input with `required: true` is not given and has no default.
        """
        values = dict(inputs)
        for one in self.inputs:
            if one.name in values:
                continue
            if one.default is not None:
                values[one.name] = deepcopy(one.default)  # a tool may change its arguments
            elif one.required:
                raise PromptError(self.path, None, f"the input {one.name!r} is required and was not given; pass it")
        return values

    def messages(self, inputs: Mapping[str, Any]) -> list[Json]:
        """The first messages of a run.

        Raises:
            PromptError: an input is missing, or the template cannot be rendered with these inputs.
        """
        values = self.filled(inputs)
        return self.template.messages(values, omitted=[one.name for one in self.inputs if one.name not in values])
