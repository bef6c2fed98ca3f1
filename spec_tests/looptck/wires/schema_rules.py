"""Maps schema errors to rules: where a request breaks its JSON Schema, and which rule of its wire applies there.

A schema defines what a wire's service accepts. It selects the members of a union with ``if`` and ``then``, never with
``oneOf``, so that each error has one place; a wire's table maps places to rules. The messages are the wire's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cache
from typing import Any

import jsonschema_rs

from looptck.catalogue.data import json_fixture
from looptck.values.frozen import dataclass

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at a place."""

    keyword: str
    """The broken schema keyword; ``unknown`` for a member that is not allowed."""
    wanted: Any = None
    """The value of that keyword."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rule that a fault breaks, by its place. In a place, ``*`` matches any index."""

    at: Mapping[str, str] = field(default_factory=dict)
    """The rule for a fault at exactly this place."""
    below: Mapping[str, str] = field(default_factory=dict)
    """The rule for a fault at or below this place; if two places match, the first."""
    otherwise: str = "values-fit"

    def of(self, path: Path) -> str:
        """The rule that applies at this place."""
        place = "/".join("*" if isinstance(step, int) else step for step in path)
        if place in self.at:
            return self.at[place]
        fits = (rule for below, rule in self.below.items() if place == below or place.startswith(f"{below}/"))
        return next(fits, self.otherwise)


def faults(schema: str, body: object) -> dict[Path, Fault]:
    """The faults of a body by a schema in ``fixtures/wire-schemas/``: one for each place, none if it is valid.

    Raises ValueError for half of a surrogate pair, which JSON can escape and UTF-8 cannot encode.
    """
    validator = _validator(schema)
    if validator.is_valid(body):
        return {}
    found: dict[Path, Fault] = {}
    for error in validator.iter_errors(body):
        for path, fault in _places(error):
            if path not in found or found[path].keyword == "pattern":  # an empty name is reported as empty
                found[path] = fault
    return found


@cache
def fields(schema: str) -> tuple[str, ...]:
    """The members of a body that the schema names, in the schema's order."""
    return tuple(json_fixture(f"wire-schemas/{schema}")["properties"])


def pointer(path: Path) -> str:
    """The place as a JSON pointer."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def value_at(body: Any, path: Path) -> Any:
    """The value at a place; None if a member is missing."""
    for step in path:
        if isinstance(body, dict):
            body = body.get(step)
        elif isinstance(body, list) and isinstance(step, int):
            body = body[step]
    return body


@cache
def _validator(schema: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(json_fixture(f"wire-schemas/{schema}"))


def _places(error: jsonschema_rs.ValidationError) -> Iterator[tuple[Path, Fault]]:
    """The places of a schema error's faults; that of a missing member is where it should be."""
    path = tuple(error.instance_path)
    keyword, wanted = error.kind.name, error.kind.value
    if keyword == "required":
        yield (*path, wanted), Fault(keyword)
    elif keyword == "additionalProperties":
        for name in wanted:
            yield (*path, name), Fault("unknown")
    else:
        yield path, Fault(keyword, wanted)
