"""What may be at each place of a request, and by which rule all else is refused, is what was reviewed."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from meta.judge.damage import refused
from meta.judge.judged import JudgedWire
from meta.judge.wires import JUDGED

WHOLE = [
    pytest.param(wire, body, id=f"{wire.name}-{number}") for wire in JUDGED for number, body in enumerate(wire.whole)
]


@pytest.mark.parametrize(("wire", "body"), WHOLE)
def test_damage_is_refused(wire: JudgedWire, body: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    """Whatever is done to a place of a good request, the same rule refuses it."""
    assert snapshot == refused(wire.judge, body)
