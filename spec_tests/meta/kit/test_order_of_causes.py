"""The order of causes: what a person should mend first."""

from __future__ import annotations

import pytest

from looptck.failures.causes import causes
from looptck.values.verdicts import Result
from meta.kit.causing import LOST, PLAIN, REFUSED, ROWS, finding, named


def test_faults_of_the_driver_stand_first() -> None:
    """An error says nothing about the loop and is told before all that does."""
    broken = finding("order", verdict="error")
    broken.result.reason = "driver: crashed: exit status 1"

    assert ["order", "leak"] == list(named(finding("leak", LOST, run="r2"), broken))


def test_what_was_not_played_stands_behind_why() -> None:
    """The checks that a driver was not started for any more come after the fault that ended it."""
    left, broken = finding("leak", verdict="error", run="r2"), finding("order", verdict="error")
    left.result.reason = "driver: given-up: the driver is not started again"
    broken.result.reason = "driver: crashed: exit status 1"

    assert ["order", "leak"] == list(named(left, broken))


def test_causes_are_ordered_by_impact_then_level_then_size() -> None:
    """What hurts most stands first, a SHOULD as if it hurt less; what was only not reached stands behind all others."""
    found = [
        finding("order", ("refused", "a")),
        finding("bom", ("refused", "b")),
        finding("answer", ("refused", "c"), verdict="not-reached"),
        finding("echo", ("refused", "d")),
        finding("leak", ("refused", "e")),
        finding("slip", ("refused", "f")),
        finding("slip", ("refused", "f"), run="r2"),
    ]

    assert ["leak", "echo", "slip", "bom", "order", "answer"] == list(named(*found))


@pytest.mark.parametrize(
    ("failures", "others", "first"),
    [(100, 400, "echo"), (99, 300, "leak"), (100, 402, "leak")],
    ids=["a fifth", "too few", "too small a part"],
)
def test_what_fails_everywhere_stands_first(failures: int, others: int, first: str) -> None:
    """A fault in all traffic precedes worse ones, which may be its consequence; of one hundred failures, a fifth."""
    all_over = [finding("echo", REFUSED, run=f"r{n}") for n in range(failures)]
    rare = finding("leak", LOST, run="other")
    passed = [Result("bom", "core", "SHOULD", PLAIN, f"case-{n}", "pass") for n in range(others - 1)]
    failed = [one.result for one in (*all_over, rare)]

    assert first == causes([rare, *all_over], ROWS, [*failed, *passed])[0].row.id
