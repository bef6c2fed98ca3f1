"""JSON that may be anything: read as what it should be, and as nothing where it is something else."""

from __future__ import annotations

import json
from typing import Any


def as_object(value: object) -> dict[str, Any]:
    """The object that should be there; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The list that should be there; an empty one for anything else."""
    return value if isinstance(value, list) else []


def objects_in(value: object) -> list[dict[str, Any]]:
    """The objects of the list that should be there; what is no object in it is left out."""
    return [one for one in as_list(value) if isinstance(one, dict)]


def as_text(value: object) -> str:
    """A text, or the joined texts of a list of parts; empty for anything else."""
    if isinstance(value, str):
        return value
    texts = (as_object(part).get("text") for part in as_list(value))
    return "".join(text for text in texts if isinstance(text, str))


def is_object(text: str) -> bool:
    """Whether a text is the JSON of an object; one without a character is that of an empty object."""
    try:
        return not text.strip() or isinstance(json.loads(text), dict)
    except ValueError:
        return False
