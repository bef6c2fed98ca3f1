"""YAML files that a person wrote: read safely, checked against a schema, refused with the place of the fault."""

from __future__ import annotations

import json
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class BadFile(Exception):
    """A file that the kit was given and cannot use: which one, and what is wrong with it."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(path, what)
        self.path = path
        self.what = what

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


class _UniqueKeys(_Loader):  # type: ignore[misc]
    """The safe loader, but for a key that stands twice: YAML keeps the last one silently."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                continue  # the loader says so, with its place
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def load(path: Path, schema: Path) -> Any:
    """The content of a YAML file that its schema accepts.

    Raises:
        BadFile: it is not there, not YAML, holds a key twice, or breaks the schema; with line or JSON pointer.
    """
    content = parse(path)
    validator = jsonschema_rs.validator_for(json.loads(schema.read_text(encoding="utf-8")))
    try:
        wrong = [f"{pointer(error.instance_path)}: {error.message}" for error in validator.iter_errors(content)]
    except ValueError as error:  # a date, or a key that is no text
        raise BadFile(path, f"holds what JSON cannot: {error}") from error
    if wrong:
        raise BadFile(path, "; ".join(wrong[:3]))
    return content


def parse(path: Path) -> Any:
    """The content of a YAML file. Raises BadFile where it is not there or not YAML."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(path, f"cannot be read: {error}") from error
    try:
        return yaml.load(text, Loader=_UniqueKeys)  # noqa: S506  a subclass of the safe loader
    except yaml.YAMLError as error:
        raise BadFile(path, f"is not the YAML that was meant: {error}") from error


def pointer(path: list[Any]) -> str:
    """A JSON pointer from its parts."""
    return "".join(f"/{part}" for part in path) or "/"
