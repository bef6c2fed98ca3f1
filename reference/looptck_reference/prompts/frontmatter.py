"""Files cut into frontmatter and body, and frontmatter read as fields.

Cut by the later runtime specification, §2.1 and §2.2, but a fence has a line to itself, and there has to be
frontmatter: without a model there is nothing to run. A file may come from anywhere, so what must not be built is
refused first: very large files, very deep ones, and aliases, a few lines of which can stand for more than a machine
holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from looptck_reference.prompts.errors import PromptError
from looptck_reference.prompts.fields import Field
from looptck_reference.prompts.references import Unresolved, resolved

__all__ = ["parted", "read", "text_of"]

LARGEST = 256 * 1024
"""The most bytes of a file."""
DEEPEST = 50
"""How deep its lists and mappings may lie in each other."""

_FENCES = ("---", "+++")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_YAML = "tag:yaml.org,2002:"
_TEXTS = frozenset(_YAML + name for name in ("str", "timestamp", "value", "merge"))
"""What YAML takes for text, and what JSON has nothing else for."""
_PLAIN = frozenset(_YAML + name for name in ("null", "bool", "int", "float"))


def text_of(path: Path) -> str:
    """The text of a file, with its line ends made equal.

    Raises:
        PromptError: there is no such file, or it is no text, or too large.
    """
    if not path.is_file():
        raise PromptError(path, None, "there is no such file")
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise PromptError(path, None, f"cannot be read: {error.strerror}") from error
    if len(content) > LARGEST:
        raise PromptError(path, None, f"is larger than {LARGEST} bytes; shorten it, and pass long texts as inputs")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PromptError(path, line, "is not UTF-8 text; save the file as UTF-8") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parted(path: Path, text: str) -> tuple[str, str]:
    """Frontmatter and body, each behind as many empty lines as the file has before it, so that lines keep their number.

    Raises:
        PromptError: the file does not begin with frontmatter, or it has no end.
    """
    lines = text.split("\n")
    opening = next((number for number, line in enumerate(lines) if line.strip()), 0)
    fence = lines[opening].strip()
    if fence not in _FENCES:
        what = "the file does not begin with frontmatter; put it between two lines of ---"
        raise PromptError(path, opening + 1, what)
    closing = next((number for number in range(opening + 1, len(lines)) if lines[number].rstrip() == fence), None)
    if closing is None:
        raise PromptError(path, opening + 1, f"the frontmatter has no end; close it with a line of {fence}")
    front = "\n" * (opening + 1) + "\n".join(lines[opening + 1 : closing])
    return front, "\n" * (closing + 1) + "\n".join(lines[closing + 1 :])


def read(path: Path, front: str, environment: Mapping[str, str]) -> Field:
    """The frontmatter as a mapping of fields, its references resolved.

    Raises:
        PromptError: it is not YAML, not a mapping, or holds what must not be built.
    """
    if forbidden := yaml.reader.Reader.NON_PRINTABLE.search(front):
        line = front.count("\n", 0, forbidden.start()) + 1
        raise PromptError(path, line, f"the frontmatter holds {forbidden[0]!r}, which YAML forbids; write it escaped")
    try:
        for depth, event in _nested(yaml.parse(front, Loader=_Loader)):
            if isinstance(event, yaml.AliasEvent):
                raise _fault(path, event.start_mark, "holds an alias; write out what it stands for")
            if depth > DEEPEST:
                raise _fault(path, event.start_mark, f"is nested more than {DEEPEST} deep; make it flatter")
        loader = _Loader(front)
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        what = ", ".join(part for part in (error.context, error.problem) if part)
        raise _fault(path, error.problem_mark or error.context_mark, f"is not YAML: {what}") from error
    if not isinstance(node, yaml.MappingNode):
        raise PromptError(path, 1, "the frontmatter is no mapping; write `name: …`, `model: …` and what else there is")
    return _Reader(path, loader, environment).field(node, "", node.start_mark.line + 1)


def _nested(events: Iterable[yaml.Event]) -> Iterator[tuple[int, yaml.Event]]:
    """Events, and how many lists and mappings are open after each."""
    depth = 0
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        yield depth, event


def _fault(path: Path, mark: Any, what: str) -> PromptError:
    return PromptError(path, mark.line + 1 if mark else None, f"the frontmatter {what}")


class _Reader:
    """Makes fields of nodes."""

    def __init__(self, path: Path, loader: Any, environment: Mapping[str, str]) -> None:
        self._path = path
        self._loader = loader
        self._environment = environment

    def field(self, node: yaml.Node, name: str, line: int) -> Field:
        """A node as a field; `line` is where its name stands."""
        field = Field(self._path, line, name, None)
        match node:
            case yaml.MappingNode(tag="tag:yaml.org,2002:map"):
                value: Any = self._members(node, field)
            case yaml.SequenceNode(tag="tag:yaml.org,2002:seq"):
                value = tuple(
                    self.field(item, f"{name}[{index}]", item.start_mark.line + 1)
                    for index, item in enumerate(node.value)
                )
            case yaml.ScalarNode():
                value = self._scalar(node, field)
            case _:
                raise field.wrong(f"has the tag {node.tag}; leave it out")
        return Field(self._path, line, name, value)

    def _members(self, node: yaml.MappingNode, field: Field) -> dict[str, Field]:
        """Names are what is written, so that a parameter `on` or `1` is called just that."""
        members: dict[str, Field] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise PromptError(self._path, line, "a name must be text, not a list or a mapping")
            name = f"{field.name}.{key.value}" if field.name else key.value
            if key.value in members:
                what = f"{name} stands in line {members[key.value].line} already; keep one of them"
                raise PromptError(self._path, line, what)
            members[key.value] = self.field(value, name, line)
        return members

    def _scalar(self, node: yaml.ScalarNode, field: Field) -> Any:
        if node.tag in _TEXTS:
            try:
                return resolved(node.value, self._environment)
            except Unresolved as error:
                raise field.wrong(str(error)) from error
        if node.tag not in _PLAIN:
            raise field.wrong(f"has the tag {node.tag}; leave it out")
        try:
            value = self._loader.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            raise field.wrong(f"is not what its tag {node.tag} says; put it in quotes") from error
        if isinstance(value, float) and not math.isfinite(value):
            raise field.wrong(f"is {node.value}, which JSON cannot say; put it in quotes or leave it out")
        return value
