"""Mutants: loops with one fault each, and what each of them says that it must fail."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from looptck.catalogue import Catalogue, Requirement, unknown
from looptck.drivers.serve import load

PREFIX = "python:"


class BadMutant(Exception):
    """A mutant that does not say well what it is; the message names it and the mend."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A driver of a loop with one fault, and the requirements that the fault must fail."""

    name: str
    """A slug, made from the name of the class."""
    driver: str
    """As ``looptck run`` takes it."""
    fault: str
    """What it does wrong, in one sentence."""
    profile: str
    """Its requirements are of this one; so is the noise that it may make."""
    breaks: tuple[str, ...]
    """The requirements that it must fail."""
    also: Mapping[str, str]
    """The requirements that fall with them, each with the reason."""
    cells: tuple[str, ...]
    """Where it is judged, unless all cells are asked for."""
    coarse: bool = False
    """A fault so gross that much falls with it: it proves the cases of what it breaks, and is judged by them alone."""


def read(reference: str, catalogue: Catalogue) -> tuple[Mutant, ...]:
    """The mutants in a collection of driver classes that ``python:MODULE:NAME`` or ``python:FILE.py:NAME`` names.

    Each class has ``breaks``, a tuple of requirement ids, and may have ``also``, a mapping of ids to reasons,
    ``cells``, a tuple of patterns, and ``coarse``, true or false. The first sentence of its docstring states the fault.
    A class with ``open`` is one of servers.

    Raises:
        BadMutant: the collection cannot be had, or a class in it does not say what it breaks.
    """
    if not reference.startswith(PREFIX):
        raise BadMutant(f"{reference!r} names no mutants: write python:MODULE:NAME or python:FILE.py:NAME")
    try:
        classes = [*load(reference.removeprefix(PREFIX))]
    except Exception as error:
        raise BadMutant(f"{reference} cannot be read: {type(error).__name__}: {error}") from error
    mutants = tuple(_mutant(one, catalogue) for one in classes)
    if not mutants:
        raise BadMutant(f"{reference} holds no mutant, so nothing would be proven")
    twice = {one.name for one in mutants if sum(other.name == one.name for other in mutants) > 1}
    if twice:
        raise BadMutant(f"{reference}: two mutants share a name: {', '.join(sorted(twice))}")
    return mutants


def named(mutants: Iterable[Mutant], names: Iterable[str]) -> tuple[Mutant, ...]:
    """Those of these names; all, where there are none.

    Raises:
        BadMutant: there is none of a name.
    """
    known = {mutant.name: mutant for mutant in mutants}
    for name in names:
        if name not in known:
            raise BadMutant(unknown("mutant", name, list(known)))
    return tuple(known[name] for name in names) or tuple(known.values())


def disagreements(mutants: Iterable[Mutant], requirements: Iterable[Requirement]) -> list[str]:
    """Where a mutant says that it breaks a requirement and the catalogue's ``killed_by`` does not, or the reverse."""
    written = {(row.id, name) for row in requirements for name in row.killed_by}
    said = {(id, mutant.name) for mutant in mutants for id in mutant.breaks}
    return [
        *(f"{id}: the catalogue does not name `{name}` in its killed_by" for id, name in sorted(said - written)),
        *(f"{id}: killed_by names `{name}`, which does not say so" for id, name in sorted(written - said)),
    ]


def _mutant(one: Any, catalogue: Catalogue) -> Mutant:
    name = getattr(one, "__name__", repr(one))
    breaks = tuple(getattr(one, "breaks", ()))
    also = dict(getattr(one, "also", {}))
    doc = inspect.cleandoc(getattr(one, "__doc__", None) or "")
    if not breaks or not doc:
        raise BadMutant(f"mutant {name}: give it `breaks`, the ids that it must fail, and a docstring with its fault")
    rows = {row.id: row for row in catalogue}
    for id in (*breaks, *also):
        if id not in rows:
            raise BadMutant(f"mutant {name}: {unknown('requirement', id, list(rows))}")
        if rows[id].excluded:
            raise BadMutant(f"mutant {name}: {id} is excluded, so nothing can fail it")
    profiles = {rows[id].profile for id in (*breaks, *also)}
    if len(profiles) > 1:
        raise BadMutant(
            f"mutant {name}: one mutant, one profile; its requirements are of {', '.join(sorted(profiles))}"
        )
    if both := set(breaks) & set(also):
        raise BadMutant(f"mutant {name}: {', '.join(sorted(both))} stands in `breaks` and in `also`")
    coarse = bool(getattr(one, "coarse", False))
    if coarse and also:
        raise BadMutant(f"mutant {name}: nobody looks at what falls with a coarse one: leave its `also` out")
    return Mutant(
        name=slug(name),
        driver=f"{'server:' if hasattr(one, 'open') else ''}{PREFIX}{one.__module__}:{one.__qualname__}",
        fault=re.split(r"(?<=[.:])\s", doc, maxsplit=1)[0].rstrip(":."),
        profile=profiles.pop(),
        breaks=breaks,
        also=also,
        cells=tuple(getattr(one, "cells", ())) or ("*",),
        coarse=coarse,
    )


def slug(name: str) -> str:
    """The name of a class as the catalogue writes it: ``OneTooMany`` as ``one-too-many``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()
