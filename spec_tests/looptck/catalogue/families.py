"""Families: the requirements by what they are about, read from ``fixtures/families.yaml``; pages show them so."""

from __future__ import annotations

from functools import cache

from looptck.catalogue.data import fixture
from looptck.catalogue.requirements import Requirement, catalogue
from looptck.catalogue.yaml_files import load
from looptck.values.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """Requirements that are about one thing."""

    id: str
    title: str
    about: str
    requirements: tuple[Requirement, ...]
    """Those that are judged, in the catalogue's order for a profile, else in the order of the file."""


@cache
def families() -> tuple[Family, ...]:
    """Those of `core`, with the rows of other profiles that stand for theirs, then one for each other profile.

    Raises:
        BadFile: the file breaks its schema.
        KeyError: it names a requirement that does not exist.
    """
    rows = load(fixture("families.yaml"), fixture("families.schema.json"))
    known = catalogue()
    standing: dict[str, list[Requirement]] = {}
    for row in known:
        standing.setdefault(row.judged_as, []).append(row)
    core = [
        Family(one["id"], one["title"], one["about"], tuple(row for id in one["requirements"] for row in standing[id]))
        for one in rows
    ]
    taken = {row.id for family in core for row in family.requirements}
    others = [
        Family(profile.name, profile.name, profile.title, own)
        for profile in known.profiles.values()
        if (own := tuple(row for row in profile.requirements if not row.excluded and row.id not in taken))
    ]
    return (*core, *others)
