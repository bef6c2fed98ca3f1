"""The check that holds JSON to the fields of a model."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from meta.wires.strict_models import undeclared


class _Inner(BaseModel):
    model_config = ConfigDict(extra="allow")

    known: int = 0


class _Outer(BaseModel):
    model_config = ConfigDict(extra="allow")

    inner: _Inner | None = None
    many: list[_Inner | str] = []
    named: dict[str, _Inner] = {}
    free: object = None
    renamed: int = Field(0, alias="from")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({}, []),
        ({"inner": {"known": 1}, "many": ["x", {"known": 2}], "named": {"a": {}}, "from": 1}, []),
        ({"free": {"anything": [{"at": "all"}]}}, []),
        ({"odd": 1, "inner": None}, ["/odd"]),
        ({"renamed": 1}, ["/renamed"]),
        ({"inner": {"odd": 1}}, ["/inner/odd"]),
        ({"many": ["x", {"odd": 1, "known": 2}]}, ["/many/1/odd"]),
        ({"named": {"a/b~c": {"odd": 1}}}, ["/named/a~1b~0c/odd"]),
    ],
)
def test_undeclared_members(raw: dict[str, Any], expected: list[str]) -> None:
    """A member that its model does not name is found at any depth, and what is declared free is free."""
    assert expected == undeclared(_Outer.model_validate(raw), raw)
