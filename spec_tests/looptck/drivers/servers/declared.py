"""The declaration of a server, in its file or by its object: what it is and can do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import jsonschema_rs

from looptck.catalogue.data import json_fixture
from looptck.catalogue.wrongs import wrong
from looptck.catalogue.yaml_files import pointer
from looptck.drivers.protocol import SERVER_LOOP, Started
from looptck.values.frozen import dataclass

USUAL = "usual"
"""The default set-up of a server."""
MODEL = "model"
"""The capability of servers whose model is a file that looptck writes."""


@dataclass(frozen=True, slots=True)
class Declared:
    """An implementation and its set-ups."""

    name: str
    version: str
    language: str
    wires: tuple[str, ...]
    capabilities: frozenset[str]
    setups: frozenset[str]
    dialect: Mapping[str, Any]

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> Declared:
        """From a declaration that the schema has accepted."""
        return cls(
            name=message["name"],
            version=message["version"],
            language=message.get("language", ""),
            wires=tuple(message["wires"]),
            capabilities=frozenset(message["capabilities"]),
            setups=frozenset(message["setups"]),
            dialect=message.get("dialect", {}),
        )

    @property
    def started(self) -> Started:
        """The declaration in the driver protocol's form; each set-up becomes a capability."""
        able = {"stream", *self.capabilities, *(self.setups - {USUAL})}
        return Started(
            name=self.name,
            version=self.version,
            language=self.language,
            wires=self.wires,
            modes=("sync",),
            profiles=(SERVER_LOOP,),
            capabilities=dict.fromkeys(sorted(able), True),
            dialect=self.dialect,
        )


def complaint(message: Any) -> str:
    """What is wrong with a declaration; empty if it is valid."""
    try:
        json.dumps(message, ensure_ascii=False).encode()
        schema = json_fixture("server.schema.json")
        found = [
            f"{pointer(error.instance_path)}: {wrong(error, schema)}" for error in _validator().iter_errors(message)
        ]
    except (TypeError, ValueError, RecursionError) as error:  # from an object in this process, which sends no JSON text
        return f"it is not JSON: {error}"
    return "; ".join(found[:3])


@cache
def _validator() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(json_fixture("server.schema.json"))
