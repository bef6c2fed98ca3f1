"""Agents: ``.prompty`` files of ``fixtures/agents/``, read as far as the kit needs them.

The kit hands over an agent twice: as the file itself, for implementations that read such files, and as JSON with the
inputs filled in, for all others. So this reader knows only what those files use: frontmatter with name, description
and function tools, and a body of ``role:`` markers with ``{{input}}`` places.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from looptck.data import fixture
from looptck.yamlfile import BadFile

_FILE = re.compile(r"\A---\n(?P<front>.*?\n)---\n(?P<body>.*)\Z", re.DOTALL)
_ROLE = re.compile(r"^(system|user|assistant):[ \t]*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a case offers. ``parameters`` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]
    handled: bool = True
    """Whether the driver is to register a handler for it."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A prompt and its tools."""

    name: str
    description: str
    path: Path
    template: tuple[tuple[str, str], ...]
    """Roles and texts, before the inputs are filled in."""
    tools: tuple[Tool, ...]

    def messages(self, inputs: dict[str, str]) -> tuple[tuple[str, str], ...]:
        """Roles and texts, with the inputs filled in."""
        return tuple((role, _filled(text, inputs)) for role, text in self.template)


@cache
def agent(name: str) -> Agent:
    """The agent in ``fixtures/agents/NAME.prompty``.

    Raises:
        BadFile: there is no such file, or it is not of the form that the kit reads.
    """
    path = fixture(f"agents/{name}.prompty")
    if not path.is_file():
        raise BadFile(path, "there is no such agent")
    found = _FILE.match(path.read_text(encoding="utf-8"))
    if not found:
        raise BadFile(path, "does not begin with frontmatter between two lines of ---")
    try:
        front = yaml.safe_load(found["front"])
        tools = tuple(_tool(entry) for entry in front.get("tools", []))
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise BadFile(path, f"frontmatter: {error!r}") from error
    _, *parts = _ROLE.split(found["body"])
    template = tuple((role, text.strip()) for role, text in zip(parts[::2], parts[1::2], strict=True))
    return Agent(front["name"], front["description"], path, template, tools)


def _tool(entry: dict[str, Any]) -> Tool:
    parameters = entry.get("parameters", [])
    properties = {one["name"]: {"type": one["kind"], "description": one["description"]} for one in parameters}
    required = [one["name"] for one in parameters if one.get("required")]
    schema = {"type": "object", "properties": properties, "required": required}
    return Tool(entry["name"], entry["description"], schema)


def _filled(text: str, inputs: dict[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda place: inputs.get(place[1], place[0]), text)
