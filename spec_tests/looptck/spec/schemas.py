"""A tool's parameter schema in a normal form, in which equivalent schemas are equal."""

from __future__ import annotations

from typing import Any


def parameters(schema: Any) -> dict[str, tuple[Any, Any, bool]]:
    """Type, description and whether it is required, for each parameter that is declared or required."""
    required = _of(list, schema, "required")
    properties = _of(dict, schema, "properties")
    known = {
        name: (_member(one, "type"), _member(one, "description"), name in required) for name, one in properties.items()
    }
    return known | {name: (None, None, True) for name in required if name not in properties}


def _of(kind: type, schema: Any, key: str) -> Any:
    value = _member(schema, key)
    return value if isinstance(value, kind) else kind()


def _member(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
