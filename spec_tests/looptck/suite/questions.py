"""Which collected test asks about a trait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from looptck.suite.asking import Question

ITEM = "loop"
"""The fixture that makes a test ask about a trait, with one item per cell. `looptck.spec.conftest` defines it."""


def question_of(item: pytest.Item) -> Question | None:
    """The question of an item; None if it asks about no trait."""
    callspec: Any = getattr(item, "callspec", None)
    question: Question | None = callspec.params.get(ITEM) if callspec else None
    return question if hasattr(question, "trait") else None
