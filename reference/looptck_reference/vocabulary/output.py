"""The output of a run whose caller wants a value of a schema in place of a text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import jsonschema_rs

from looptck_reference.vocabulary.errors import BadOutput
from looptck_reference.vocabulary.values import Json

__all__ = ["Output"]

MEMBER = "value"
"""The member of an object that has an output which is none."""


@dataclass(frozen=True, slots=True)
class Output:
    """A JSON Schema. The services take that of an object, so another one becomes the schema of its only member."""

    schema: Json

    @property
    def is_object(self) -> bool:
        """Whether the schema is that of an object, and goes to the service as it is."""
        return self.schema.get("type") == "object"

    @property
    def wrapped(self) -> Json:
        """The schema for the service, with the caller's definitions where references look for them."""
        if self.is_object:
            return self.schema
        whole = {"type": "object", "properties": {MEMBER: self.schema}, "required": [MEMBER]}
        return {**whole, "additionalProperties": False} | {
            name: self.schema[name] for name in ("$defs", "definitions") if name in self.schema
        }

    def read(self, text: str) -> Any:
        """The value in a text of the model.

        Raises:
            BadOutput: the text is no JSON, or the value does not fit the schema.
        """
        try:
            value = json.loads(text)
            jsonschema_rs.validate(self.wrapped, value)
        except (ValueError, RecursionError, jsonschema_rs.ValidationError) as error:
            raise BadOutput(f"the answer is no output of the schema that was asked for: {error}") from error
        return value if self.is_object else value[MEMBER]
