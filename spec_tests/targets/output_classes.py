"""The schema of an output as a user writes it: a model class of pydantic, or a list of one.

None where no annotation says it here. `looptck-zod.mjs` has the same for JavaScript.
"""

from __future__ import annotations

from typing import Any

from looptck.signatures import written


def written_class(schema: dict[str, Any]) -> Any:
    """The annotation of a parameter that has this schema."""
    members = {"type": "object", "properties": {"output": schema}, "required": ["output"]}
    function = written({"name": "give", "description": "", "parameters": members}, lambda output: output)
    return function.__annotations__["output"] if function else None
