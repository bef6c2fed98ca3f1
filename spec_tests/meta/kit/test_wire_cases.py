"""looptck's list of adversarial wire cases: each number is tested by a requirement, or excluded with a reason."""

from __future__ import annotations

from looptck.catalogue import catalogue
from looptck.wires import WIRES

LISTS = {"ANT": ("anthropic-messages", 35), "OCC": ("openai-chat", 30), "ORS": ("openai-responses", 27)}
"""By prefix: the wire, and how many cases its list has."""


def test_every_number_has_a_requirement() -> None:
    """No case of the lists is forgotten, and no row names a case that there is not."""
    named = {number for row in catalogue() for number in row.cases}

    assert {f"{prefix}-{n:02}" for prefix, (_, count) in LISTS.items() for n in range(1, count + 1)} == named


def test_a_number_stands_with_a_row_of_its_wire() -> None:
    """A row that tests a case of a wire concerns that wire."""
    for row in catalogue():
        for number in row.cases:
            wire, _ = LISTS[number[:3]]
            assert wire in (row.wires or WIRES), f"{row.id} names {number}, and does not concern {wire}"
