"""Texts in YAML: read safely, without duplicate keys, and within bounds where they may come from anywhere."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import yaml

MOST_NODES = 500_000
"""The most nodes of a file that is not ours, about: each takes more than a hundred times the memory of a letter."""
SMALL = 1024 * 1024
"""Characters of a text whose nodes are few, unless it has aliases."""
DEEPEST = 100
"""The deepest nesting of a foreign file; the loader itself would crash on very deep nesting."""

_TOO_DEEP = "exceeded maximum nesting depth"
"""What the loader says of a text that is so deep that it looks no further, from PyYAML 6.0.4 on."""

_ALIAS = re.compile(r"\*\w")
"""Where an alias may be."""
_MARK = re.compile(r'\s+in "<\w+ string>", (line \d+, column \d+)')
"""How the library names a place in a text, whose file it does not know."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


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


class BadText(Exception):
    """A text that is not what was meant or must not be read; its message goes on from the name of a file."""


def read(text: str, *, given: bool = False, foreign: bool = False) -> Any:
    """The content of a text.

    Args:
        text: what is read.
        given: a person has named it, so it is refused if it has very much in it.
        foreign: it may come from anywhere, so it is also refused if it is very deep, or contains aliases.

    Raises:
        BadText: it is not YAML, has a duplicate key, or cannot be let in.
    """
    try:
        if foreign or (given and (len(text) > SMALL or _ALIAS.search(text))):
            _let_in(text, aliases=not foreign)
        return yaml.load(text, Loader=_UniqueKeys)  # noqa: S506  a subclass of the safe loader
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that there is not
        if getattr(error, "problem", "") == _TOO_DEEP:
            raise BadText(f"is nested more than {DEEPEST} deep: {_said(error)}") from error
        raise BadText(f"is not the YAML that was meant: {_said(error)}") from error


def _said(error: Exception) -> str:
    """What an error says, with its places in brackets."""
    return _MARK.sub(r" (\1)", str(error))


def _line(event: yaml.Event) -> str:
    return f"line {event.start_mark.line + 1}" if event.start_mark else "an unknown line"


def _let_in(text: str, *, aliases: bool) -> None:
    """Raises BadText where the nodes of a text must not be built: they are too many, too deep, or aliases.

    An alias counts as many nodes as what it stands for, since whoever walks through the content meets them all.
    """
    count = 0
    sizes = dict[str, int]()
    around = list[tuple[str | None, int]]()
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            if not aliases:
                raise BadText(f"contains an alias, which is not allowed here: {_line(event)}")
            count += sizes.get(event.anchor or "", 0)
        count += 1
        if count > MOST_NODES:
            raise BadText(f"has more than {MOST_NODES} nodes: {_line(event)}")
        if isinstance(event, yaml.CollectionStartEvent):
            around.append((event.anchor, count))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = around.pop()
            if anchor is not None:
                sizes[anchor] = count - before
        if len(around) > DEEPEST:
            raise BadText(f"is nested more than {DEEPEST} deep: {_line(event)}")


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
