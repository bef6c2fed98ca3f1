"""References in the schema of an output that name nothing, because the schema was wrapped without its definitions."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.outputs import Wanted, dangling

PLACE: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}
OWN: dict[str, Any] = {"type": "object", "properties": {"from": {"$ref": "#/$defs/Place"}}, "$defs": {"Place": PLACE}}
INSIDE: dict[str, Any] = {"type": "object", "properties": {"value": OWN}}
HOISTED = {**INSIDE, "$defs": OWN["$defs"]}
WANTED = Wanted(OWN, {"from": {"city": "Paris"}}, {"weather": "Tells the weather."})


def _by_tool(schema: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [], "tools": [{"name": "deliver", "description": "", "input_schema": schema}]}


def _by_format(schema: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [], "output_config": {"format": {"type": "json_schema", "schema": schema}}}


@pytest.mark.parametrize("shown", [_by_tool, _by_format], ids=["tool", "format"])
@pytest.mark.parametrize(
    ("schema", "reference"),
    [(OWN, ""), (HOISTED, ""), (INSIDE, "#/$defs/Place"), ({"type": "object"}, "")],
    ids=["as-it-is", "hoisted", "inside", "none"],
)
def test_definitions_are_at_the_top(shown: Any, schema: Any, reference: str) -> None:
    """A reference is read from the top of the whole schema."""
    assert reference == dangling(shown(schema), "anthropic-messages", WANTED)


def test_a_body_that_is_none_has_no_schema() -> None:
    """A request that is no object has no references."""
    assert dangling(None, "anthropic-messages", WANTED) == ""
