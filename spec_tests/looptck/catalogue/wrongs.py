"""What a schema does not allow, in words: with the names that there are, and the one that was meant."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema_rs


def wrong(error: jsonschema_rs.ValidationError, schema: Mapping[str, Any]) -> str:
    """What is wrong in the place of an error."""
    found = error.kind
    if isinstance(found, jsonschema_rs.ValidationErrorKind.Enum):
        return none_of(error.instance, [str(one) for one in found.options])
    if isinstance(found, jsonschema_rs.ValidationErrorKind.OneOfNotValid) and (names := _constants(found)):
        return none_of(error.instance, names)
    if isinstance(found, jsonschema_rs.ValidationErrorKind.AdditionalProperties):
        known = [*_at(schema, error.schema_path[:-1]).get("properties", ())]
        return error.message + "".join(meant(name, known) for name in found.unexpected)
    return error.message


def none_of(value: object, names: list[str]) -> str:
    """A word that is none of those that there are."""
    return f"{json.dumps(value, ensure_ascii=False)} is not one of {', '.join(names)}" + meant(value, names)


def meant(name: object, known: list[str]) -> str:
    """The question for the name that was meant; empty where none is similar."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1) if isinstance(name, str) else []
    return f"; did you mean {near[0]}?" if near else ""


def _constants(found: jsonschema_rs.ValidationErrorKind.OneOfNotValid) -> list[str]:
    """The words of a choice between nothing but words."""
    kinds = [inner.kind for errors in found.context for inner in errors]
    words = [one for one in kinds if isinstance(one, jsonschema_rs.ValidationErrorKind.Constant)]
    return [str(one.expected_value) for one in words] if len(words) == len(kinds) else []


def _at(schema: Mapping[str, Any], path: list[str | int]) -> Mapping[str, Any]:
    """The part of a schema at the path of an error, which has no references; empty where it is not there."""
    found: Any = schema
    for part in path:
        try:
            found = found[part]
        except (KeyError, IndexError, TypeError):
            return {}
    return found if isinstance(found, Mapping) else {}
