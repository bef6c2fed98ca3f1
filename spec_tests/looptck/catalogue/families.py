"""Families: the requirements by what they are about, read from ``fixtures/families.yaml``; pages show them so."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from looptck.catalogue.data import fixture
from looptck.catalogue.requirements import Requirement, catalogue
from looptck.catalogue.yaml_files import load

CORE = "core"
"""The profile that has several families; every other one is a family."""


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
    """Those of `core`, followed by one for each other profile.

    Raises:
        BadFile: the file breaks its schema.
        KeyError: it names a requirement that does not exist.
    """
    rows = load(fixture("families.yaml"), fixture("families.schema.json"))
    known = catalogue()
    core = [
        Family(row["id"], row["title"], row["about"], tuple(known[id] for id in row["requirements"])) for row in rows
    ]
    others = [
        Family(
            profile.name, profile.name, profile.title, tuple(row for row in profile.requirements if not row.excluded)
        )
        for profile in known.profiles.values()
        if profile.name != CORE
    ]
    return (*core, *others)
