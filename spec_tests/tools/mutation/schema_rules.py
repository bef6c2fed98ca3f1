"""The rules that a JSON Schema holds: each keyword that refuses something, but for those that tell kinds apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Step = str | int

REFUSING = (
    "additionalProperties",
    "const",
    "enum",
    "maximum",
    "maxItems",
    "maxLength",
    "maxProperties",
    "minimum",
    "minItems",
    "minLength",
    "minProperties",
    "pattern",
    "type",
)
NAMING = frozenset({"patternProperties", "properties"})
"""Keywords whose members are names of the schema's author."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword at its place in a schema; of ``required``, one of the names."""

    path: tuple[Step, ...]
    keyword: str
    required: str | None = None

    @property
    def text(self) -> str:
        member = f" {self.required}" if self.required is not None else ""
        return f"/{'/'.join(str(step) for step in self.path)} {self.keyword}{member}"

    def drop(self, schema: Any) -> None:
        """Take it out of the schema that it was found in."""
        for step in self.path:
            schema = schema[step]
        if self.required is None:
            del schema[self.keyword]
        else:
            schema["required"].remove(self.required)


def keywords(schema: Any) -> Iterator[Keyword]:
    """All that refuses something: what the schema comes to, also by reference, but for the conditions of an ``if``."""
    met: set[str] = set()
    waiting: list[tuple[Step, ...]] = [()]
    while waiting:
        path = waiting.pop(0)
        for found in _below(_at(schema, path), path):
            if isinstance(found, Keyword):
                yield found
            elif found not in met:
                met.add(found)
                waiting.append(tuple(found.removeprefix("#/").split("/")))


def _at(schema: Any, path: tuple[Step, ...]) -> Any:
    for step in path:
        schema = schema[step]
    return schema


def _below(schema: Any, path: tuple[Step, ...]) -> Iterator[Keyword | str]:
    """The keywords of a part of a schema that refuse something, and what it refers to."""
    if isinstance(schema, list):
        for index, one in enumerate(schema):
            yield from _below(one, (*path, index))
    elif isinstance(schema, dict):
        for word, value in schema.items():
            if word == "required":
                yield from (Keyword(path, word, name) for name in value)
            elif word == "$ref":
                yield value
            elif word in REFUSING and not isinstance(value, dict) and value is not True:
                yield Keyword(path, word)
            elif word in NAMING:
                for name, one in value.items():
                    yield from _below(one, (*path, word, name))
            elif word not in {"if", "$defs"}:
                yield from _below(value, (*path, word))
