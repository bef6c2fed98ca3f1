"""Sizes of a run: what the common one, for which a person waits, leaves out of the thorough one.

It plays every requirement in every cell.

- Each case is played on each wire, plain and as a stream. Where both can be run sync and async, a case is played in one
  of the two, in turns, and in both only if it is the first of a requirement. On 37 implementations the failures of the
  other half were of requirements that failed in this half too, but for one requirement of one implementation.
- Of the dresses in which a test plays the same it takes one, and another one on each wire, plain or stream, so that all
  cells together see many.
- A lengthy check is left out where others check the same requirement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from looptck.suite.units import run_of

if TYPE_CHECKING:
    import pytest

    from looptck.bench.checks import Check
    from looptck.values.cell import Cell


EXAMPLES = 25
"""Examples for each property in a thorough run, and in one that names what it plays."""
FEW_EXAMPLES = 5
"""In the common run."""


def spare(checks: Mapping[pytest.Item, Check], is_judged: Callable[[Check], bool]) -> set[pytest.Item]:
    """The tests that the common run leaves out.

    Args:
        checks: those of a thorough run.
        is_judged: whether the implementation declares what a check needs. Those for which it does not cost nothing,
            and stand for none.
    """
    left = _lengthy(checks) | _dresses(checks)
    return left | _turns({item: one for item, one in checks.items() if item not in left and is_judged(one)})


def _lengthy(checks: Mapping[pytest.Item, Check]) -> set[pytest.Item]:
    long = {item for item in checks if item.get_closest_marker("looptck_lengthy")}
    judged = {_judged(check) for item, check in checks.items() if item not in long}
    return {item for item in long if _judged(checks[item]) in judged}


def _judged(check: Check) -> tuple[str, str]:
    """What it judges: a requirement, in a cell."""
    return check.requirement.id, str(check.cell)


def _dresses(checks: Mapping[pytest.Item, Check]) -> set[pytest.Item]:
    dresses: dict[tuple[str, str, str], list[pytest.Item]] = defaultdict(list)
    for item, check in checks.items():
        if item.get_closest_marker("looptck_dress"):
            dresses[(item.nodeid.partition("[")[0], *_judged(check))].append(item)
    order = list(dict.fromkeys((check.cell.wire, check.cell.stream) for check in checks.values()))
    left: set[pytest.Item] = set()
    for many in dresses.values():
        of = checks[many[0]].cell
        left |= {*many} - {many[order.index((of.wire, of.stream)) % len(many)]}
    return left


def _turns(checks: Mapping[pytest.Item, Check]) -> set[pytest.Item]:
    """What is played in the other of the two modes. Checks that share a run stay together."""
    runs: dict[Hashable, list[pytest.Item]] = defaultdict(list)
    first: dict[tuple[str, str], Hashable] = {}
    twins: dict[Hashable, dict[Hashable, None]] = defaultdict(dict)
    for item, check in checks.items():
        run = run_of(item.nodeid)
        runs[run].append(item)
        first.setdefault(_judged(check), run)
        twins[run_of(item.nodeid.replace(str(check.cell), _half(check.cell)))][run] = None
    needed = {*first.values()}
    alike = [many for many in map(list, twins.values()) if needed.isdisjoint(many)]
    kept = needed | {many[turn % len(many)] for turn, many in enumerate(alike)}
    return {item for run, items in runs.items() if run not in kept for item in items}


def _half(cell: Cell) -> str:
    """A cell without its mode, in the form of a cell."""
    return str(replace(cell, mode="any"))
