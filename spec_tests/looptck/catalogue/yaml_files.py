"""Files written by people, YAML most of all: read safely and checked against a schema; errors name the faulty place.

Our own are read as they are. One that a person names may be anything, a device or a few lines of aliases that stand for
more than fits into memory, so it is read up to a bound; what may come from anywhere is read more strictly still.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml

from looptck.catalogue.parsed_once import parsed_once
from looptck.values.printable import printable

MOST = 16 * 1024 * 1024
"""The most bytes of a file that is not ours."""
MOST_NODES = 500_000
"""The most nodes of a file that is not ours, about: each takes more than a hundred times the memory of a letter."""
SMALL = 1024 * 1024
"""Characters of a text whose nodes are few, unless it has aliases."""
LONGEST = 2000
"""The most characters of what is said to be wrong with a file, which may quote it."""
DEEPEST = 100
"""The deepest nesting of a foreign file; the loader itself would crash on very deep nesting."""

_TOO_DEEP = "exceeded maximum nesting depth"
"""What the loader says of a text that is so deep that it looks no further, from PyYAML 6.0.4 on."""

_ALIAS = re.compile(r"\*\w")
"""Where an alias may be."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class BadFile(Exception):
    """An unusable file: its path and what is wrong with it."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(path, what)
        self.path = path
        self.what = printable(what, LONGEST)

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


def reason(error: Exception) -> str:
    """What an error says; of one of the system not its number and the path, which a message has already."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


_STR, _SEQ, _MAP, _MERGE = (f"tag:yaml.org,2002:{name}" for name in ("str", "seq", "map", "merge"))


class _UniqueKeys(_Loader):  # type: ignore[misc]
    """The safe loader, which also refuses duplicate keys: YAML would silently keep the last one.

    It builds what most files consist of itself, in a third of the time: texts, and lists and mappings of them. Aliases
    lead to one value each, and none to a value that contains it.
    """

    def construct_document(self, node: Any) -> Any:
        self._built: dict[Any, Any] = {}
        return self._value(node)

    def _value(self, node: Any) -> Any:
        tag = node.tag
        if tag == _STR:
            return node.value
        if node in self._built:
            if self._built[node] is _BUILDING:
                raise yaml.constructor.ConstructorError(None, None, "a value contains itself", node.start_mark)
            return self._built[node]
        self._built[node] = _BUILDING
        if tag == _SEQ:
            made: Any = [self._value(one) for one in node.value]
        elif tag == _MAP:
            made = self._mapping(node)
        else:
            made = super().construct_document(node)
        self._built[node] = made
        return made

    def _mapping(self, node: Any) -> dict[Hashable, Any]:
        made: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            key = self._value(key_node) if key_node.tag != _MERGE else key_node
            if not isinstance(key, Hashable):
                raise yaml.constructor.ConstructorError(None, None, "a key is a list or mapping", key_node.start_mark)
            if key in made:
                raise yaml.constructor.ConstructorError(None, None, f"duplicate key {key!r}", key_node.start_mark)
            made[key] = self._value(value_node)
        merges = any(key_node.tag == _MERGE for key_node, _ in node.value)
        return self.construct_mapping(node, deep=True) if merges else made


_BUILDING = object()
"""Stands for a value whose parts are being built."""


def load(path: Path, schema: Path, *, given: bool = False, foreign: bool = False) -> Any:
    """The content of a YAML file that its schema accepts.

    Args:
        path: the file.
        schema: the file of its schema.
        given: a person has named it, so it is refused if it is no file, very large, or has very much in it.
        foreign: it may come from anywhere, so it is also refused if it is a link, very deep, or contains aliases.

    Raises:
        BadFile: it does not exist, is not YAML, has a duplicate key, or breaks the schema; with line or JSON pointer.
    """
    return parsed_once(path, schema, lambda: _checked(path, parse(path, given=given, foreign=foreign), schema))


def _checked(path: Path, content: Any, schema: Path) -> Any:
    errors = islice(faults(path, content, _validator(schema)), 3)
    if wrong := [f"{pointer(error.instance_path)}: {error.message}" for error in errors]:
        raise BadFile(path, "; ".join(wrong))
    return content


def faults(path: Path, content: Any, validator: jsonschema_rs.Validator) -> Iterator[jsonschema_rs.ValidationError]:
    """What a schema does not allow in the content of a file.

    Raises:
        BadFile: JSON cannot hold the content.
    """
    try:
        yield from validator.iter_errors(content)
    except ValueError as error:  # a date, or a key that is no text
        raise BadFile(path, f"holds what JSON cannot: {error}") from error


@cache
def _validator(schema: Path) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(json.loads(schema.read_text(encoding="utf-8")))


def parse(path: Path, *, given: bool = False, foreign: bool = False) -> Any:
    """The content of a YAML file. Raises BadFile where it is not there or not YAML, or cannot be let in."""
    try:
        text = read_text(path, MOST, links=not foreign) if given or foreign else path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(path, f"cannot be read: {reason(error)}") from error
    return parse_text(path, text, given=given, foreign=foreign)


def parse_text(path: Path, text: str, *, given: bool = False, foreign: bool = False) -> Any:
    """The content of a text in YAML, which errors name as this path. Raises BadFile, as `parse` does."""
    try:
        if foreign or (given and (len(text) > SMALL or _ALIAS.search(text))):
            _let_in(path, text, aliases=not foreign)
        return yaml.load(text, Loader=_UniqueKeys)  # noqa: S506  a subclass of the safe loader
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that there is not
        if getattr(error, "problem", "") == _TOO_DEEP:
            raise BadFile(path, f"is nested more than {DEEPEST} deep: {error}") from error
        raise BadFile(path, f"is not the YAML that was meant: {error}") from error


def read_text(path: Path, most: int, *, links: bool = True) -> str:
    """The text of a regular file of so many bytes at most: a device has no end, a pipe may never have a beginning.

    Raises:
        BadFile: it is something else, or is too large.
        OSError: it cannot be read.
        UnicodeDecodeError: it is not UTF-8.
    """
    flags = getattr(os, "O_NONBLOCK", 0) | (0 if links else getattr(os, "O_NOFOLLOW", 0))
    try:
        descriptor = os.open(path, os.O_RDONLY | flags)
    except OSError as error:
        if not links and path.is_symlink():
            raise BadFile(path, "is a symbolic link; put the file itself in its place") from error
        raise
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise BadFile(path, "is not a regular file")
        data = file.read(most + 1)
    if len(data) > most:
        raise BadFile(path, f"is too large: {found.st_size} bytes, where {most} are the most")
    return data.decode()


def _let_in(path: Path, text: str, *, aliases: bool) -> None:
    """Raises BadFile where the nodes of a text must not be built: they are too many, too deep, or aliases.

    An alias counts as many nodes as what it stands for, since whoever walks through the content meets them all.
    """
    count = 0
    sizes = dict[str, int]()
    around = list[tuple[str | None, int]]()
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            if not aliases:
                raise BadFile(path, f"contains an alias, which is not allowed here: {event.start_mark}")
            count += sizes.get(event.anchor or "", 0)
        count += 1
        if count > MOST_NODES:
            raise BadFile(path, f"has more than {MOST_NODES} nodes: {event.start_mark}")
        if isinstance(event, yaml.CollectionStartEvent):
            around.append((event.anchor, count))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = around.pop()
            if anchor is not None:
                sizes[anchor] = count - before
        if len(around) > DEEPEST:
            raise BadFile(path, f"is nested more than {DEEPEST} deep: {event.start_mark}")


def line_of(path: Path, place: Sequence[Any]) -> int:
    """The line, from 1, of the value at a place in a YAML file; of the value around it if there is none."""
    node = yaml.compose(path.read_text(encoding="utf-8"), Loader=_Loader)
    line = 0
    for part in place:
        pairs = node.value if isinstance(node, yaml.MappingNode) else [*enumerate(getattr(node, "value", ()))]
        found = next(((key, value) for key, value in pairs if getattr(key, "value", key) == part), None)
        if found is None:
            break
        node = found[1]
        line = (found[0] if isinstance(found[0], yaml.Node) else node).start_mark.line
    return int(line) + 1


def pointer(path: list[Any]) -> str:
    """A JSON pointer from its parts."""
    return "".join(f"/{part}" for part in path) or "/"
