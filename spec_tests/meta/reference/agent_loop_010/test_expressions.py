"""References and expressions: what is one, what it needs, what it stands for."""

from __future__ import annotations

import pytest

from looptck_reference.agent_loop_010.expressions import (
    BadExpression,
    FirstOf,
    Path,
    references,
)

A, B, C = Path("state", ("a",)), Path("input", ("b", "0")), Path("plan-b", ("c", "ключ"))


def test_references_are_found_in_nested_values() -> None:
    """In objects and arrays, however deep; in no key and in no other text."""
    value = {"†state.key": ["†state.a", {"deep": ["†input.b.0 || †state.a", 1, None, True]}], "text": "as †state.a"}

    assert [A, FirstOf((B, A))] == list(references(value))


def test_one_unreadable_reference_spoils_a_value() -> None:
    """Wherever it stands."""
    with pytest.raises(BadExpression):
        list(references(["†state.a", {"deep": "†"}]))
