"""Families: every requirement that is judged is in one."""

from __future__ import annotations

from collections import Counter

from looptck.catalogue.families import families
from looptck.catalogue.requirements import catalogue


def test_every_requirement_is_in_one_family() -> None:
    """A new requirement of core has to be put into one; others are with what they stand for, or with their profile."""
    found = Counter(row.id for family in families() for row in family.requirements)

    assert {row.id: 1 for row in catalogue() if not row.excluded} == dict(found)


def test_core_has_several() -> None:
    """Families of core come first, and hold what other profiles judge in place of it."""
    profiles = [{catalogue()[row.judged_as].profile for row in family.requirements} for family in families()]
    of_core = [one == {"core"} for one in profiles]

    assert sorted(of_core, reverse=True) == of_core
    assert sum(of_core) > 5
