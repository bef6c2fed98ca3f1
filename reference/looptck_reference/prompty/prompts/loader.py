"""Load prompts from files, together with the prompts that their tools run.

The path of a tool's file is relative to the file of the prompt that has the tool (the runtime specification, §9.6),
never to the working directory. The file must be inside the folder of the first prompt, also after following links.
Prompts that run each other in a cycle, or are nested very deeply, are refused when they are loaded, before any model
call.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from looptck_reference.prompty.prompts.errors import Fault, PromptError
from looptck_reference.prompty.prompts.prompt import Prompt
from looptck_reference.prompty.prompts.properties import schema
from looptck_reference.prompty.prompts.reading import inputs, model, tools
from looptck_reference.prompty.prompts.template import Template
from looptck_reference.vocabulary.tools import Tool

__all__ = ["Loader", "load"]

DEEPEST = 8
"""The maximum nesting depth of prompts below the first."""


def load(path: str | Path, *, environment: Mapping[str, str] | None = None) -> Prompt:
    """The prompt in a file. References are resolved from `environment`, by default that of the process.

    Raises:
        PromptError: the file, or a file that one of its tools runs, cannot be used.
    """
    return Loader().load(path, environment=environment)


class Loader:
    """Loads prompts. A subclass may look for the files of tools elsewhere."""

    def load(self, path: str | Path, *, environment: Mapping[str, str] | None = None) -> Prompt:
        """See `load`."""
        first = Path(path).resolve()
        return _Family(self, first.parent, os.environ if environment is None else environment).prompt(first, ())

    def child_path(self, parent: Path, entry_path: str) -> Path:
        """The path of the file that a tool of `parent` names."""
        return parent.parent / entry_path


@dataclass(frozen=True, slots=True)
class _Family:
    """The prompts of one load. Tools that run the same file at the same depth share one prompt."""

    loader: Loader
    folder: Path
    environment: Mapping[str, str]
    known: dict[tuple[Path, int], Prompt] = field(default_factory=dict)

    def prompt(self, path: Path, above: tuple[Path, ...]) -> Prompt:
        """The prompt of a file; `above` are the files of the prompts in which it runs."""
        place = path, len(above)
        if place not in self.known:
            self.known[place] = self._read(path, above)
        return self.known[place]

    def _read(self, path: Path, above: tuple[Path, ...]) -> Prompt:
        from looptck_reference.prompty.prompts.frontmatter import parted, read  # parses YAML, which few runs have

        front_text, body = parted(path)
        try:
            front = read(front_text, self.environment)
            its_model, takes, its_tools = model(front), inputs(front), list(tools(front))
            template = Template(path, body)
            children = {
                tool.name: self._child(path, tool.options["path"], f"{place}/path", (*above, path))
                for tool, place in its_tools
                if tool.kind == "prompty"
            }
        except Fault as fault:
            raise PromptError(path, fault.pointer, fault.what) from fault
        return Prompt(
            path=path,
            name=front["name"],
            description=front.get("description") or "",
            model=its_model,
            inputs=takes,
            tools=tuple(_with_child(tool, children.get(tool.name)) for tool, _ in its_tools),
            children=children,
            template=template,
        )

    def _child(self, parent: Path, entry: str, place: str, above: tuple[Path, ...]) -> Prompt:
        try:
            path = self.loader.child_path(parent, entry).resolve()
            there = path.is_file()
        except (OSError, ValueError, RuntimeError) as error:
            raise Fault(place, f"is not a valid file name: {error}") from error
        if not path.is_relative_to(self.folder):
            raise Fault(place, f"is outside the folder {self.folder}; move the tool's prompt into it")
        if not there:
            raise Fault(place, f"names {path}, which does not exist; paths are relative to the folder of this file")
        if path in above:
            raise Fault(place, f"is a cycle: {self._chain(*above, path)}; a prompt cannot run itself")
        if len(above) > DEEPEST:
            raise Fault(place, f"is nested more than {DEEPEST} prompts deep: {self._chain(*above, path)}")
        return self.prompt(path, above)

    def _chain(self, *paths: Path) -> str:
        return " → ".join(str(path.relative_to(self.folder)) for path in paths)


def _with_child(tool: Tool, child: Prompt | None) -> Tool:
    """The tool with its prompt's inputs as parameters, and with its prompt's description if it has none itself."""
    if child is None:
        return tool
    needed = [one.name for one in child.inputs if one.required or (one.required is None and one.default is None)]
    parameters = schema(child.inputs, required=needed)
    return replace(tool, parameters=parameters, description=tool.description or child.description)
