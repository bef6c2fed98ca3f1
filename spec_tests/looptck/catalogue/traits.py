"""Traits: questions that no document decides, with named answers, read from ``fixtures/traits/``.

A trait is asked of every loop in every cell and never judged. Every question gets an answer, even if only that it could
not be decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from looptck.catalogue.data import fixture
from looptck.catalogue.requirements import Requirement, catalogue, unknown
from looptck.catalogue.yaml_files import BadFile, load
from looptck.values.frozen import dataclass

if TYPE_CHECKING:
    import pytest

PROFILE = "core"
"""The profile whose runs ask about traits."""
UNDECIDED: Mapping[str, str] = {
    "not-reached": "The run ended before the deciding event.",
    "not-applicable": "It cannot be asked here: the wire cannot express it, or the driver lacks a capability.",
    "no-outcome": "The run never ended.",
    "error": "A fault of looptck or of the driver.",
}
"""The answers that any trait may have."""


@dataclass(frozen=True, slots=True)
class Trait:
    """One question."""

    id: str
    topic: str
    question: str
    answers: Mapping[str, str]
    """The trait's own answers with their meanings."""
    exact: bool
    """Whether the detail is part of the answer."""
    requirement: str | None
    """A related requirement, which is judged."""
    row: Requirement
    """The trait as a requirement, to find out which cells it concerns."""

    @property
    def meanings(self) -> Mapping[str, str]:
        """Every possible answer, with its meaning."""
        return {**self.answers, **UNDECIDED}


@dataclass(slots=True)
class Answer:
    """The answer to a trait in a cell; ``detail`` is the text, error or number that is the evidence."""

    trait: str
    cell: str
    answer: str
    detail: str = ""

    def serializable(self) -> dict[str, str]:
        """As a JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Traits:
    """All traits, in the order of reports."""

    by_id: Mapping[str, Trait]

    def __iter__(self) -> Iterator[Trait]:
        return iter(self.by_id.values())

    def __getitem__(self, id: str) -> Trait:
        """The trait with this id. Raises KeyError, with similar ids, if there is none."""
        if id not in self.by_id:
            raise KeyError(unknown("trait", id, list(self.by_id)))
        return self.by_id[id]

    def __contains__(self, id: object) -> bool:
        return id in self.by_id


def trait(id: str) -> pytest.MarkDecorator:
    """Binds a test function to the trait that it asks about."""
    import pytest

    return pytest.mark.looptck_trait(id)


@cache
def traits() -> Traits:
    """The traits that looptck ships.

    Raises:
        BadFile: a file breaks the schema, an id is defined twice, or a name in it does not exist.
    """
    return read(fixture("traits"))


def read(folder: Path) -> Traits:
    """The traits in a folder: YAML files, checked against the folder's ``trait.schema.json``."""
    found: dict[str, Trait] = {}
    for path in sorted(folder.glob("*.yaml")):
        for one in _read(path, load(path, folder / "trait.schema.json")):
            if one.id in found:
                raise BadFile(path, f"the id {one.id} is defined twice")
            found[one.id] = one
    if not found:
        raise BadFile(folder, "there is no trait in it")
    return Traits(found)


def _read(path: Path, data: dict[str, Any]) -> Iterator[Trait]:
    requirements = [row.id for row in catalogue()]
    for topic in data["topics"]:
        for row in topic["traits"]:
            related = row.get("requirement")
            if related is not None and related not in requirements:
                raise BadFile(path, f"{row['id']}: {unknown('requirement', related, requirements)}")
            yield Trait(
                id=row["id"],
                topic=topic["topic"],
                question=row["question"],
                answers=_answers(path, row, data["shared"]),
                exact=row.get("exact", False),
                requirement=related,
                row=_row(row),
            )


def _answers(path: Path, row: dict[str, Any], shared: dict[str, dict[str, str]]) -> dict[str, str]:
    """The trait's own answers, then the shared ones."""
    answers: dict[str, str] = dict(row.get("answers", {}))
    for name in row.get("shares", ()):
        if name not in shared:
            raise BadFile(path, f"{row['id']}: {unknown('set of shared answers', name, list(shared))}")
        answers = {**answers, **{answer: meaning for answer, meaning in shared[name].items() if answer not in answers}}
    if taken := sorted(answers.keys() & UNDECIDED.keys()):
        raise BadFile(path, f"{row['id']}: every trait has the answers {', '.join(taken)}: do not list them")
    return answers


def _row(row: dict[str, Any]) -> Requirement:
    return Requirement(
        id=row["id"],
        profile=PROFILE,
        level="MAY",
        text=row["question"],
        sources=(),
        observed_at="driver",
        added=row["added"],
        wires=tuple(row.get("wires", ())),
        streams={"stream": True, "plain": False}.get(row.get("cells", "")),
        needs=tuple(row.get("needs", ())),
    )
