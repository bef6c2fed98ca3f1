"""The driver protocol: version, schemas in both directions, and what a driver says of itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import jsonschema_rs

from looptck.catalogue.data import json_fixture
from looptck.values.printable import printable

VERSION = 1

Direction = Literal["to-driver", "from-driver"]


def complaint(direction: Direction, message: object) -> str | None:
    """What the schema has against a message, with the place in it; None if nothing."""
    if not isinstance(message, dict):
        return "a message is a JSON object"
    kind = message.get("type")
    validators = _validators(direction)
    if not isinstance(kind, str) or kind not in validators:
        return f"type is {kind!r}, not one of {', '.join(sorted(validators))}"
    validator = validators[kind]
    try:
        json.dumps(message, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # JSON can escape it, and no text can hold it
        return "it holds half of a surrogate pair, which is no character"
    except (TypeError, ValueError, RecursionError) as error:  # from a driver in this process, which sends no text
        return f"it is not JSON: {error}"
    if validator.is_valid(message):
        return None
    return "; ".join(_worded(error) for error in validator.iter_errors(message))


def _worded(error: jsonschema_rs.ValidationError) -> str:
    place = "".join(f"/{part}" for part in error.instance_path)
    return f"{place or 'the message'}: {error.message}"


@cache
def _validators(direction: Direction) -> dict[str, jsonschema_rs.Validator]:
    schema = json_fixture(f"protocol/{direction}.schema.json")
    kinds = [branch["$ref"].rpartition("/")[2] for branch in schema["oneOf"]]
    return {kind: jsonschema_rs.validator_for({"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]}) for kind in kinds}


PLAIN = "plain"
"""The capability to ask for plain replies, which only a loop that always streams has not."""
SERVER_LOOP = "server-loop"
"""The profile of servers that run the loop themselves: they take requests and no cases."""
AGENT_LOOP = "agent-loop-010"
"""The profile of loops whose model writes Solutions in place of tool calls."""
ALONE = frozenset({SERVER_LOOP, AGENT_LOOP})
"""The profiles that stand alone: what claims one is judged by what it claims, and not by ``core``; and only what claims
one is judged by it."""


LONGEST_NAME = 200
"""The most characters of a name or version that are kept."""


@dataclass(frozen=True, slots=True)
class Started:
    """What an implementation is and can do, as its driver declared it."""

    name: str
    version: str
    language: str
    wires: tuple[str, ...]
    modes: tuple[str, ...]
    profiles: tuple[str, ...]
    capabilities: Mapping[str, bool]
    dialect: Mapping[str, Any]

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> Started:
        """From a ``started`` message that the schema has passed."""
        return cls(
            name=printable(message["name"], LONGEST_NAME),
            version=printable(message["version"], LONGEST_NAME),
            language=printable(message["language"], LONGEST_NAME),
            wires=tuple(message["wires"]),
            modes=tuple(message["modes"]),
            profiles=tuple(message["profiles"]),
            capabilities=message["capabilities"],
            dialect=message.get("dialect", {}),
        )

    @property
    def claimed(self) -> tuple[str, ...]:
        """The profiles that it is judged by: ``core`` and its own, or its own alone where one of them stands alone."""
        return self.profiles if self.alone else ("core", *self.profiles)

    @property
    def alone(self) -> bool:
        """Whether it is judged by the profiles that it claims and by no other."""
        return not ALONE.isdisjoint(self.profiles)

    @property
    def serves(self) -> bool:
        """Whether it is a server that runs the loop itself."""
        return SERVER_LOOP in self.profiles

    def can(self, capability: str) -> bool:
        """Whether the capability was declared present. One is taken for present where nothing is said of it."""
        return self.capabilities.get(capability, capability == PLAIN)

    def serializable(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "name": self.name,
            "version": self.version,
            "language": self.language,
            "wires": list(self.wires),
            "modes": list(self.modes),
            "profiles": list(self.profiles),
            "capabilities": dict(self.capabilities),
            "dialect": dict(self.dialect),
        }
