"""Files written by people, YAML most of all: read safely and checked against a schema; errors name the faulty place.

Our own are read as they are. One that a person names may be anything, a device or a few lines of aliases that stand for
more than fits into memory, so it is read up to a bound; what may come from anywhere is read more strictly still.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema_rs

from looptck.catalogue.parsed_once import parsed_once
from looptck.catalogue.wrongs import wrong
from looptck.values.printable import printable

MOST = 16 * 1024 * 1024
"""The most bytes of a file that is not ours."""
LONGEST = 2000
"""The most characters of what is said to be wrong with a file, which may quote it."""


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
    if isinstance(error, UnicodeDecodeError):
        return f"it is no text in UTF-8, at byte {error.start}"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


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
    return parsed_once(path, lambda: _checked(path, parse(path, given=given, foreign=foreign), schema), schema)


def _checked(path: Path, content: Any, schema: Path) -> Any:
    errors = islice(faults(path, content, _validator(schema)), 3)
    if found := [f"{pointer(error.instance_path)}: {wrong(error, _schema(schema))}" for error in errors]:
        raise BadFile(path, "; ".join(found))
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
    return jsonschema_rs.validator_for(_schema(schema))


def _schema(path: Path) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema


def parse(path: Path, *, given: bool = False, foreign: bool = False) -> Any:
    """The content of a YAML file. Raises BadFile where it is not there or not YAML, or cannot be let in."""
    try:
        text = read_text(path, MOST, links=not foreign) if given or foreign else path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(path, f"cannot be read: {reason(error)}") from error
    return parse_text(path, text, given=given, foreign=foreign)


def parse_text(path: Path, text: str, *, given: bool = False, foreign: bool = False) -> Any:
    """The content of a text in YAML, which errors name as this path. Raises BadFile, as `parse` does."""
    from looptck.catalogue.yaml_text import BadText, read  # with a library that what is kept does not need

    try:
        return read(text, given=given, foreign=foreign)
    except BadText as error:
        raise BadFile(path, str(error)) from error


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


def pointer(path: list[Any]) -> str:
    """A JSON pointer from its parts."""
    return "".join(f"/{part}" for part in path) or "/"
