"""Holds JSON to the fields that a pydantic model declares.

The official SDKs let fields pass that their models do not name, as a client must. What our encoders write has to be
named there, member by member; this module says what is not, for any SDK.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel


def undeclared(model_instance: Any, raw_json: Any) -> list[str]:
    """JSON pointers to the members of the JSON that the model parsed from it does not declare."""
    return list(_undeclared(model_instance, raw_json, ""))


def _undeclared(parsed: Any, raw: Any, pointer: str) -> Iterator[str]:
    if isinstance(parsed, BaseModel):
        names = {field.alias or name: name for name, field in type(parsed).model_fields.items()}
        for member, value in raw.items():
            place = f"{pointer}/{_escaped(member)}"
            if member in names:
                yield from _undeclared(getattr(parsed, names[member]), value, place)
            else:
                yield place
    elif isinstance(parsed, list | tuple):
        for position, (one, value) in enumerate(zip(parsed, raw, strict=True)):
            yield from _undeclared(one, value, f"{pointer}/{position}")
    elif isinstance(parsed, dict):
        for member, value in parsed.items():
            yield from _undeclared(value, raw[member], f"{pointer}/{_escaped(member)}")


def _escaped(member: str) -> str:
    return member.replace("~", "~0").replace("/", "~1")
