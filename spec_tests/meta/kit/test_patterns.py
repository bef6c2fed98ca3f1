"""Requirements may be named by patterns: `*` matches anything, and what matches nothing is told."""

from __future__ import annotations

import pytest

from looptck.catalogue.requirements import catalogue
from looptck.commands.kill.command import Kill
from looptck.commands.kill.options import KillOptions
from looptck.suite.options import CouldNotRun
from looptck.suite.selection import Selection

LIMITS = ["limit-is-a-ceiling", "limit-of-zero-runs-no-tool"]


def test_patterns_name_all_that_fit() -> None:
    """Ids and patterns can be mixed, and none is named twice."""
    found = catalogue().matching(["limit-*", "limit-is-a-ceiling", "key-is-sent"])

    assert {*LIMITS, "key-is-sent"} <= {*found}
    assert all(id.startswith("limit-") or id == "key-is-sent" for id in found)
    assert len(found) == len(set(found))
    assert [row.id for row in catalogue()] == catalogue().matching(["*"])


@pytest.mark.parametrize(("name", "words"), [("limt-*", "'limt-\\*'$"), ("limit-is-ceiling", "did you mean limit-is")])
def test_what_fits_nothing_is_told(name: str, words: str) -> None:
    """By ``run`` and by ``kill``."""
    with pytest.raises(ValueError, match=words):
        Selection(requirements=(name,)).check(catalogue())
    with pytest.raises(CouldNotRun, match=words):
        Kill(KillOptions(requirements=(name,)))


def test_mutants_of_a_pattern() -> None:
    """Those that break one of its requirements are played, in the profiles of these."""
    by_pattern = Kill(KillOptions(requirements=("limit-*",)))
    by_ids = Kill(KillOptions(requirements=tuple(catalogue().matching(["limit-*"]))))

    assert [one.name for one in by_ids.mutants] == [one.name for one in by_pattern.mutants] != []
