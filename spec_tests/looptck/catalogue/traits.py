"""Traits: what the documents leave open, as questions with named answers, read from ``fixtures/traits/``.

A trait is asked of every loop in every cell and never judged. There is always an answer: that the question could not be
decided is one too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from looptck.catalogue.data import fixture
from looptck.catalogue.requirements import Requirement, catalogue, unknown
from looptck.catalogue.yaml_files import BadFile, load

if TYPE_CHECKING:
    import pytest

PROFILE = "core"
"""The profile with which traits are asked."""
UNDECIDED: Mapping[str, str] = {
    "not-reached": "The run ended before the event that decides it.",
    "not-applicable": "It cannot be asked here: the wire has no words for it, or the driver declares no capability.",
    "no-outcome": "The run never ended.",
    "error": "The kit's or the driver's own fault.",
}
"""The answers that any trait may have."""


@dataclass(frozen=True, slots=True)
class Trait:
    """One question."""

    id: str
    topic: str
    question: str
    answers: Mapping[str, str]
    """What each of its own answers means."""
    exact: bool
    """Whether the detail is part of the answer."""
    requirement: str | None
    """The requirement that judges what lies beside it."""
    row: Requirement
    """As a row of the catalogue, for whoever asks whether it concerns a cell."""

    @property
    def meanings(self) -> Mapping[str, str]:
        """Every answer that it may have, and what it means."""
        return {**self.answers, **UNDECIDED}


@dataclass(slots=True)
class Answer:
    """What a loop does in a cell, by the answers of a trait; ``detail`` is the text, error or number that showed it."""

    trait: str
    cell: str
    answer: str
    detail: str = ""

    def serializable(self) -> dict[str, str]:
        """As a JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Traits:
    """All traits, in the order in which they are told."""

    by_id: Mapping[str, Trait]

    def __iter__(self) -> Iterator[Trait]:
        return iter(self.by_id.values())

    def __getitem__(self, id: str) -> Trait:
        """The trait with this id. Raises KeyError, with the nearest ids, where there is none."""
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
    """The traits that the kit ships.

    Raises:
        BadFile: a file breaks the schema, an id stands twice, or a row names what does not exist.
    """
    return read(fixture("traits"))


def read(folder: Path) -> Traits:
    """The traits in a folder: YAML files, checked against ``trait.schema.json`` beside them."""
    found: dict[str, Trait] = {}
    for path in sorted(folder.glob("*.yaml")):
        for one in _read(path, load(path, folder / "trait.schema.json")):
            if one.id in found:
                raise BadFile(path, f"the id {one.id} stands twice")
            found[one.id] = one
    if not found:
        raise BadFile(folder, "there is no trait in it")
    return Traits(found)


def _read(path: Path, data: dict[str, Any]) -> Iterator[Trait]:
    requirements = [row.id for row in catalogue()]
    for topic in data["topics"]:
        for row in topic["traits"]:
            beside = row.get("requirement")
            if beside is not None and beside not in requirements:
                raise BadFile(path, f"{row['id']}: {unknown('requirement', beside, requirements)}")
            yield Trait(
                id=row["id"],
                topic=topic["topic"],
                question=row["question"],
                answers=_answers(path, row, data["shared"]),
                exact=row.get("exact", False),
                requirement=beside,
                row=_row(row),
            )


def _answers(path: Path, row: dict[str, Any], shared: dict[str, dict[str, str]]) -> dict[str, str]:
    """Its own answers, then the shared ones."""
    answers: dict[str, str] = dict(row.get("answers", {}))
    for name in row.get("shares", ()):
        if name not in shared:
            raise BadFile(path, f"{row['id']}: {unknown('set of shared answers', name, list(shared))}")
        answers = {**answers, **{answer: meaning for answer, meaning in shared[name].items() if answer not in answers}}
    if taken := sorted(answers.keys() & UNDECIDED.keys()):
        raise BadFile(path, f"{row['id']}: any trait may be answered with {', '.join(taken)}, so leave it out")
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
