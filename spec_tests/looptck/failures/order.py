"""The order of causes: what a person should mend first comes first."""

from __future__ import annotations

from collections.abc import Sequence

from looptck.catalogue.requirements import IMPACTS, LEVELS, Requirement
from looptck.failures.groups import Finding

GIVEN_UP = "driver: given-up:"
"""How the reason begins of a check that was not played because the driver had failed too often before."""
EVERYWHERE = 100
"""The failures from which on a cause may be in all traffic. A row about whole conversations names a cause only if it
fails so much more often than all other rows."""
A_FIFTH = 5


def order(row: Requirement, group: Sequence[Finding], judged: int) -> tuple[bool, bool, bool, bool, int, int, int]:
    """The place of a cause: errors come first, then failures by impact, level and number.

    A SHOULD counts as one impact less: a MUST that breaks ordinary conversations precedes it. What fails a fifth of
    all checks precedes both, as the rest may be its consequence. What was only not reached comes last, as it says
    nothing of what is wrong.

    Args:
        row: the requirement that names it.
        group: its failures.
        judged: how many checks have passed or failed.
    """
    verdicts = {one.result.verdict for one in group}
    is_given_up = all(one.result.reason.startswith(GIVEN_UP) for one in group)  # the faults before it say why
    return (
        "error" not in verdicts,
        is_given_up,
        "fail" not in verdicts,
        len(group) < EVERYWHERE or len(group) * A_FIFTH < judged,
        impact(row) + LEVELS.index(row.level),
        LEVELS.index(row.level),
        -len(group),
    )


def impact(row: Requirement) -> int:
    """The place of the impact of a requirement among all impacts; the worst is 0."""
    return IMPACTS.index(row.impact) if row.impact in IMPACTS else len(IMPACTS)
