"""What may be at each place of a request, and by which rule all else is refused, is what was reviewed."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from looptck.wires.openai_chat.judge import judge
from meta.judge.cases_whole import WHOLE
from meta.judge.damage import refused


@pytest.mark.parametrize("body", WHOLE, ids=range(len(WHOLE)))
def test_damage_is_refused(body: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    """Whatever is done to a place of a good request, the same rule refuses it."""
    assert snapshot == refused(judge, body)
