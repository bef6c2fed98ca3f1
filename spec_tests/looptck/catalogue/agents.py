"""Agents: ``.prompty`` files of ``fixtures/agents/``, read as far as the kit needs them.

The kit hands over an agent as JSON with the inputs filled in, for all implementations, and in cases about such files as
a file too. So this reader knows only what those files use: frontmatter with name, description, inputs and tools, and a
body of ``role:`` markers with ``{{input}}`` places. The parameters of a tool may be a JSON Schema, in agents that are
never handed over as files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any

from looptck.catalogue.data import fixture
from looptck.catalogue.parsed_once import parsed_once
from looptck.catalogue.yaml_files import BadFile, parse_text
from looptck.values.frozen import dataclass

_FILE = re.compile(r"\A---\n(?P<front>.*?\n)---\n(?P<body>.*)\Z", re.DOTALL)
_ROLE = re.compile(r"^(system|user|assistant):[ \t]*\n", re.MULTILINE)
_TYPES = {"float": "number"}
"""The kinds of inputs and parameters that JSON Schema names otherwise."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input that an agent declares. ``default`` is None where it has none."""

    name: str
    kind: str
    description: str
    default: Any = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a case offers. ``parameters`` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]
    handled: bool = True
    """Whether the driver is to register a handler for it."""
    kind: str = "function"
    strict: bool = False
    approval: bool = False
    """Whether each call needs approval before it runs."""
    bindings: Mapping[str, str] = field(default_factory=dict)
    """Inputs by the parameter that takes its value from them."""
    path: str | None = None
    """Of the kind prompty: the child's file, relative to the parent's."""
    mode: str | None = None
    """Of the kind prompty: ``single`` or ``agentic``."""
    handler: str | None = None
    """``sync`` or ``async``: what the driver is to register; None: what suits the mode of the run."""

    @property
    def offered(self) -> dict[str, Any]:
        """The schema of the arguments that are the model's to choose: those without a binding."""
        if not self.bindings:
            return self.parameters
        properties = {name: one for name, one in self.parameters["properties"].items() if name not in self.bindings}
        required = [name for name in self.parameters.get("required", ()) if name not in self.bindings]
        return {**self.parameters, "properties": properties, "required": required}


@dataclass(frozen=True, slots=True)
class Agent:
    """A prompt and its tools."""

    name: str
    description: str
    path: Path
    template: tuple[tuple[str, str], ...]
    """Roles and texts, before the inputs are filled in."""
    inputs: tuple[Input, ...]
    tools: tuple[Tool, ...]

    def messages(self, inputs: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Roles and texts, with the inputs filled in, those that are not given with their defaults."""
        values = {one.name: one.default for one in self.inputs if one.default is not None} | dict(inputs)
        return tuple((role, _filled(text, values)) for role, text in self.template)

    @property
    def children(self) -> tuple[Agent, ...]:
        """The agents that its tools of the kind prompty run, and theirs."""
        own = [_read((self.path.parent / tool.path).resolve()) for tool in self.tools if tool.path is not None]
        return tuple(agent for child in own for agent in (child, *child.children))


@cache
def agent(name: str) -> Agent:
    """The agent in ``fixtures/agents/NAME.prompty``.

    Raises:
        BadFile: there is no such file, or it is not of the form that the kit reads.
    """
    return _read(fixture(f"agents/{name}.prompty").resolve())


@cache
def _read(path: Path) -> Agent:
    front, body = parted(path)
    try:
        inputs = tuple(_input(entry) for entry in front.get("inputs", []))
        tools = tuple(_tool(path, entry) for entry in front.get("tools", []))
        name, description = front["name"], front["description"]
    except (KeyError, TypeError, AttributeError) as error:
        raise BadFile(path, f"frontmatter: {error!r}") from error
    _, *parts = _ROLE.split(body)
    template = tuple((role, text.strip()) for role, text in zip(parts[::2], parts[1::2], strict=True))
    return Agent(name, description, path, template, inputs, tools)


def parted(path: Path) -> tuple[dict[str, Any], str]:
    """The frontmatter and the body of a file.

    Raises:
        BadFile: there is no such file, or it has no frontmatter that is YAML.
    """
    front, body = parsed_once(path, lambda: _parted(path), Path(__file__))
    return front, body


def _parted(path: Path) -> tuple[dict[str, Any], str]:
    if not path.is_file():
        raise BadFile(path, "there is no such agent")
    found = _FILE.match(path.read_text(encoding="utf-8"))
    if not found:
        raise BadFile(path, "does not begin with frontmatter between two lines of ---")
    front = parse_text(path, found["front"])
    if not isinstance(front, dict):
        raise BadFile(path, "frontmatter: is no mapping")
    return front, found["body"]


def _input(entry: Mapping[str, Any]) -> Input:
    return Input(entry["name"], entry["kind"], entry["description"], entry.get("default"))


def _tool(path: Path, entry: Mapping[str, Any]) -> Tool:
    return Tool(
        entry["name"],
        entry["description"],
        _schema(path, entry),
        kind=entry["kind"],
        handled=entry["kind"] == "function",
        strict=entry.get("strict", False),
        bindings={name: one["input"] for name, one in entry.get("bindings", {}).items()},
        path=entry.get("path"),
        mode=entry.get("mode"),
    )


def _schema(path: Path, entry: Mapping[str, Any]) -> dict[str, Any]:
    """What a tool takes: a JSON Schema as it stands, else that of the parameters or the inputs that are listed."""
    declared = entry.get("parameters", [])
    return dict(declared) if isinstance(declared, Mapping) else _schema_of(_parameters(path, entry))


def _parameters(path: Path, entry: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """The inputs of the prompt that a tool runs, or the parameters that it declares."""
    if "path" in entry:
        front, _ = parted((path.parent / entry["path"]).resolve())
        return [{**one, "required": "default" not in one} for one in front.get("inputs", [])]
    parameters: Iterable[Mapping[str, Any]] = entry.get("parameters", [])
    return parameters


def _schema_of(parameters: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    properties = {
        one["name"]: {"type": _TYPES.get(one["kind"], one["kind"]), "description": one["description"]}
        for one in parameters
    }
    required = [one["name"] for one in parameters if one.get("required")]
    return {"type": "object", "properties": properties, "required": required}


def _filled(text: str, values: Mapping[str, Any]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda place: str(values.get(place[1], place[0])), text)
