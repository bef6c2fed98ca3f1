"""Mutants: loops with one fault each, and the requirements that each declares to break."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any

from looptck.catalogue.requirements import Catalogue, unknown
from looptck.driver import load
from looptck.values.frozen import dataclass

PREFIX = "python:"


class BadMutant(Exception):
    """An invalid mutant declaration; the message names the mutant and the fix."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A driver of a loop with one fault, and the requirements that the fault must fail."""

    name: str
    """A slug, made from the name of the class."""
    driver: str
    """The value for ``looptck run --driver``."""
    fault: str
    """The fault, in one sentence."""
    profile: str
    """The profile of its requirements; it is judged by this profile only."""
    breaks: tuple[str, ...]
    """The requirements that it must fail."""
    collateral: Mapping[str, str]
    """The requirements that fail as a consequence, each with the reason."""
    cells: tuple[str, ...]
    """The cells in which it is judged, unless all cells are requested."""
    broad: bool = False
    """Whether many other requirements fail too; if so, only the checks of what it breaks judge it."""


def read(reference: str, catalogue: Catalogue) -> tuple[Mutant, ...]:
    """The mutants in a collection of driver classes that ``python:MODULE:NAME`` or ``python:FILE.py:NAME`` names.

    Each class has ``breaks``, a tuple of requirement ids, and may have ``collateral``, a mapping of ids to reasons,
    ``cells``, a tuple of patterns, and ``broad``, true or false. The first sentence of its docstring states the fault.
    A class with ``open`` is one of servers, and one with ``described`` a program.

    Raises:
        BadMutant: the collection cannot be loaded, or a class in it does not declare what it breaks.
    """
    if not reference.startswith(PREFIX):
        raise BadMutant(
            f"{reference!r} is not a collection of mutants: write python:MODULE:NAME or python:FILE.py:NAME"
        )
    try:
        classes = [*load(reference.removeprefix(PREFIX))]
    except Exception as error:
        raise BadMutant(f"{reference} cannot be read: {type(error).__name__}: {error}") from error
    mutants = tuple(_mutant(one, catalogue) for one in classes)
    if not mutants:
        raise BadMutant(f"{reference} contains no mutants, so nothing would be proven")
    twice = {one.name for one in mutants if sum(other.name == one.name for other in mutants) > 1}
    if twice:
        raise BadMutant(f"{reference}: two mutants share a name: {', '.join(sorted(twice))}")
    return mutants


def named(mutants: Iterable[Mutant], names: Iterable[str]) -> tuple[Mutant, ...]:
    """The mutants with these names; without names, all.

    Raises:
        BadMutant: no mutant has one of the names.
    """
    known = {mutant.name: mutant for mutant in mutants}
    for name in names:
        if name not in known:
            raise BadMutant(unknown("mutant", name, list(known)))
    return tuple(known[name] for name in names) or tuple(known.values())


def _mutant(one: Any, catalogue: Catalogue) -> Mutant:
    name = getattr(one, "__name__", repr(one))
    breaks = tuple(getattr(one, "breaks", ()))
    collateral = dict(getattr(one, "collateral", {}))
    doc = inspect.cleandoc(getattr(one, "__doc__", None) or "")
    if not breaks or not doc:
        raise BadMutant(f"mutant {name}: declare `breaks`, the ids that it must fail, and a docstring with its fault")
    rows = {row.id: row for row in catalogue}
    for id in (*breaks, *collateral):
        if id not in rows:
            raise BadMutant(f"mutant {name}: {unknown('requirement', id, list(rows))}")
        if rows[id].excluded:
            raise BadMutant(f"mutant {name}: {id} is excluded, so nothing can fail it")
    profiles = {rows[id].profile for id in (*breaks, *collateral)}
    if len(profiles) > 1:
        raise BadMutant(
            f"mutant {name}: all requirements must be of one profile; they are of {', '.join(sorted(profiles))}"
        )
    if both := set(breaks) & set(collateral):
        raise BadMutant(f"mutant {name}: {', '.join(sorted(both))} is in `breaks` and in `collateral`")
    broad = bool(getattr(one, "broad", False))
    if broad and collateral:
        raise BadMutant(f"mutant {name}: the collateral of a broad mutant is not judged: remove `collateral`")
    return Mutant(
        name=slug(name),
        driver=f"{_kind(one)}{PREFIX}{one.__module__}:{one.__qualname__}",
        fault=re.split(r"(?<=[.:])\s", doc, maxsplit=1)[0].rstrip(":."),
        profile=profiles.pop(),
        breaks=breaks,
        collateral=collateral,
        cells=tuple(getattr(one, "cells", ())) or ("*",),
        broad=broad,
    )


def _kind(one: Any) -> str:
    """What the driver's name begins with: a class with ``open`` has servers, one with ``described`` is a program."""
    return "server:" if hasattr(one, "open") else "program:" if hasattr(one, "described") else ""


def slug(name: str) -> str:
    """The slug of a class name: ``one-too-many`` for ``OneTooMany``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()
