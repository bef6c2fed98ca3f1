"""Sizes of a run: what the common one, for which a person waits, leaves out of the thorough one.

It plays every requirement in every cell. Of the dresses in which a test plays the same it plays one in each cell,
another one on each wire, plain or stream, so that all cells together see many. A lengthy check is left out where others
check the same requirement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from looptck.bench.checks import Check


EXAMPLES = 25
"""Examples for each property in a thorough run, and in one that names what it plays."""
FEW_EXAMPLES = 5
"""In the common run."""


def spare(checks: Mapping[pytest.Item, Check]) -> set[pytest.Item]:
    """The tests that the common run leaves out."""
    dresses: dict[tuple[str, str, str], list[pytest.Item]] = defaultdict(list)
    others: dict[tuple[str, str], int] = defaultdict(int)
    lengthy: dict[pytest.Item, tuple[str, str]] = {}
    for item, check in checks.items():
        row, cell = check.requirement.id, str(check.cell)
        if item.get_closest_marker("looptck_dress"):
            dresses[item.nodeid.partition("[")[0], row, cell].append(item)
        if item.get_closest_marker("looptck_lengthy"):
            lengthy[item] = row, cell
        else:
            others[row, cell] += 1
    order = list(dict.fromkeys((check.cell.wire, check.cell.stream) for check in checks.values()))
    left = {item for item, pair in lengthy.items() if others[pair]}
    for many in dresses.values():
        of = checks[many[0]].cell
        left |= {*many} - {many[order.index((of.wire, of.stream)) % len(many)]}
    return left
