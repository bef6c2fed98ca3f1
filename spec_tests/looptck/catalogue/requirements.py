"""The catalogue: every requirement of every profile, read from ``fixtures/requirements/``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from pathlib import Path
from typing import Any

from looptck.catalogue.data import fixture, json_fixture
from looptck.catalogue.yaml_files import BadFile, load
from looptck.values.frozen import dataclass
from looptck.values.verdicts import Result, Verdict

LEVELS = ("MUST", "SHOULD", "MAY")
IMPACTS = ("unsafe", "broken", "fragile", "untidy")
"""The worst first: something runs unasked, runs twice, leaks or gets lost; the service refuses a request or the answer
is wrong; legal but rare traffic breaks the loop; only order and convenience suffer."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a requirement comes from."""

    document: str
    title: str
    section: str
    url: str | None

    def __str__(self) -> str:
        return f"{self.title}, {self.section}"


@dataclass(frozen=True, slots=True)
class Otherwise:
    """A section of a profile's document that decides otherwise than a requirement of another profile."""

    profile: str
    section: str
    wires: tuple[str, ...]
    """The wires on which it does; empty: all."""

    def __str__(self) -> str:
        return f"{self.profile}, {self.section}" + (f" (wires: {', '.join(self.wires)})" if self.wires else "")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One testable statement, or one that is excluded with a reason."""

    id: str
    profile: str
    level: str
    text: str
    sources: tuple[Source, ...]
    observed_at: str
    added: str
    impact: str | None = None
    """The consequence of a failure for users: one of `IMPACTS`."""
    general: bool = False
    """Whether it is about a whole conversation, and so fails along with more specific requirements."""
    wires: tuple[str, ...] = ()
    """The wires that the requirement concerns; empty: all."""
    streams: bool | None = None
    """Whether the requirement concerns streams only, plain replies only, or (None) both."""
    needs: tuple[str, ...] = ()
    """The capabilities that a loop needs for the requirement to apply."""
    otherwise: tuple[Otherwise, ...] = ()
    """What decides otherwise: an implementation that follows such a profile is not judged by it."""
    unless: tuple[tuple[str, str], ...] = ()
    """The words of the dialect, and their values, with which a loop declares that it does otherwise on purpose."""
    anywhere: bool = False
    """Whether every loop with the needed capabilities is judged by it, even without claiming its profile."""
    killed_by: tuple[str, ...] = ()
    """The mutants that must fail it, as ``fixtures/proofs.json`` names them."""
    no_mutant: str | None = None
    """Why no mutant can break it."""
    excluded: str | None = None
    stands_for: str | None = None
    """The requirement of another profile that it judges in its own; None: it is its own."""
    cases: tuple[str, ...] = ()
    """The cases of that requirement on which it is judged; a test's name without brackets is all of its variants."""

    @property
    def judged_as(self) -> str:
        """The id by which tests and declared cases name it."""
        return self.stands_for or self.id

    def plays(self, case: str) -> bool:
        """Whether it is judged on this case of the requirement that it stands for, or on any of its own."""
        return self.stands_for is None or not {case, case.partition("[")[0]}.isdisjoint(self.cases)

    def plays_a_variant(self, test: str) -> bool:
        """Whether it is judged on a variant of this test."""
        return any(case.partition("[")[0] == test for case in self.cases)

    def result(self, cell: str, case: str, verdict: Verdict, reason: str = "") -> Result:
        """A verdict on it, by this case in this cell."""
        return Result(self.id, self.profile, self.level, cell, case, verdict, reason)

    @property
    def source(self) -> str:
        return "; ".join(map(str, self.sources))

    @property
    def excused_by(self) -> list[str]:
        """What a driver may declare of a loop that does otherwise on purpose: ``dialect.WORD "VALUE"``."""
        return [f'dialect.{word} "{value}"' for word, value in self.unless]


@dataclass(frozen=True, slots=True)
class Profile:
    """A document's set of requirements."""

    name: str
    title: str
    finished: bool
    """Whether every statement of the document must be tested or excluded."""
    requirements: tuple[Requirement, ...]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All profiles, by name."""

    profiles: dict[str, Profile]
    rows: Mapping[str, Requirement] = field(init=False, repr=False)
    """All requirements, by id."""
    _standing: Mapping[str, Sequence[Requirement]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", {row.id: row for row in self})
        standing: dict[str, list[Requirement]] = {}
        for row in self:
            if row.stands_for is not None:
                standing.setdefault(row.stands_for, []).append(row)
        object.__setattr__(self, "_standing", standing)

    def __iter__(self) -> Iterator[Requirement]:
        for profile in self.profiles.values():
            yield from profile.requirements

    def standing_for(self, id: str) -> Sequence[Requirement]:
        """The rows of other profiles that stand for a requirement."""
        return self._standing.get(id, ())

    def named(self, names: Sequence[str]) -> list[Profile]:
        """The profiles of these names, or all. Raises ValueError, with similar names, if a name is that of none."""
        for name in names:
            if name not in self.profiles:
                raise ValueError(unknown("profile", name, [*self.profiles]))
        return [profile for profile in self.profiles.values() if not names or profile.name in names]

    def matching(self, patterns: Sequence[str]) -> list[str]:
        """The ids of the requirements that these ids or patterns with ``*`` name, in their order there, each once.

        Raises:
            KeyError: one of them names none, with similar ids.
        """
        found: dict[str, None] = {}
        for pattern in patterns:
            ids = [id for id in self.rows if fits(id, pattern)] if "*" in pattern else [self[pattern].id]
            if not ids:
                raise KeyError(unknown("requirement", pattern, [*self.rows]))
            found |= dict.fromkeys(ids)
        return [*found]

    def __getitem__(self, id: str) -> Requirement:
        """The requirement with this id. Raises KeyError, with similar ids, if there is none."""
        if id not in self.rows:
            raise KeyError(unknown("requirement", id, [*self.rows]))
        return self.rows[id]


FEW = 10
"""The most names that a message lists."""


def fits(text: str, pattern: str) -> bool:
    """Whether a text fits. Only ``*`` is special: names of cases may contain other pattern characters."""
    if "*" not in pattern:
        return text == pattern
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def unknown(what: str, name: str, known: Iterator[str] | list[str]) -> str:
    """A message for an unknown name: with similar known names, or with all if they are few and none is similar."""
    from difflib import get_close_matches

    names = list(dict.fromkeys(known))
    near = get_close_matches(name, names, n=3, cutoff=0.6) or [one for one in names if name and name in one][:3]
    there_are = f"; there are {', '.join(names)}" if len(names) <= FEW else ""
    return f"there is no {what} {name!r}" + (f"; did you mean {' or '.join(near)}?" if near else there_are)


@cache
def catalogue() -> Catalogue:
    """The catalogue that looptck ships.

    Raises:
        BadFile: a profile breaks the schema, or an id is defined twice.
    """
    return read(fixture("requirements"), json_fixture("proofs.json"))


def read(folder: Path, proofs: Mapping[str, Sequence[str]] | None = None) -> Catalogue:
    """The catalogue in a folder: a YAML file for each profile, checked against the folder's ``profile.schema.json``.

    ``proofs`` are the names of the mutants that must fail each requirement, by its id.
    """
    profiles: dict[str, Profile] = {}
    places: dict[str, Path] = {}
    files = {path: load(path, folder / "profile.schema.json") for path in sorted(folder.glob("*.yaml"))}
    for path, data in files.items():
        for row in data["requirements"]:
            for document in (key for source in row["source"] for key in source if key not in data["documents"]):
                raise BadFile(path, f"{row['id']}: {unknown('document', document, list(data['documents']))}")
        profile = _profile(data, proofs or {})
        if profile.name in profiles:
            raise BadFile(path, f"the profile {profile.name} is already defined in another file")
        for requirement in profile.requirements:
            if requirement.id in places:
                raise BadFile(path, f"the id {requirement.id} is already defined in {places[requirement.id].name}")
            places[requirement.id] = path
        profiles[profile.name] = profile
    if not profiles:
        raise BadFile(folder, "there is no profile in it")
    rows = {row.id: row for profile in profiles.values() for row in profile.requirements}
    for row in rows.values():
        for name in (one.profile for one in row.otherwise if one.profile not in profiles):
            raise BadFile(places[row.id], f"{row.id}: {unknown('profile', name, list(profiles))}")
    for path, data in files.items():
        taken = tuple(_pointing(path, one, data, rows, proofs or {}) for one in data.get("points_at", ()))
        if taken:
            whole = profiles[data["profile"]]
            profiles[whole.name] = replace(whole, requirements=(*taken, *whole.requirements))
    return Catalogue(profiles)


def _pointing(
    path: Path,
    one: dict[str, Any],
    data: dict[str, Any],
    rows: Mapping[str, Requirement],
    proofs: Mapping[str, Sequence[str]],
) -> Requirement:
    """The row of a profile that stands for one of another."""
    if one["row"] not in rows:
        raise BadFile(path, unknown("requirement", one["row"], [*rows]))
    row, id = rows[one["row"]], f"{data['profile']}-{one['row']}"
    text = row.text
    for word in one.get("reworded", ()):
        if word not in data.get("rewordings", {}):
            raise BadFile(path, f"{one['row']}: {unknown('rewording', word, [*data.get('rewordings', {})])}")
        text = f"{text[:-1]}; {data['rewordings'][word]}."
    return replace(
        row,
        id=id,
        profile=data["profile"],
        level=one.get("level", row.level),
        text=text,
        observed_at="driver",
        added=one["added"],
        streams={"stream": True, "plain": False}.get(one.get("cells", ""), row.streams),
        needs=tuple(one.get("needs", ())),
        otherwise=(),
        unless=(),
        killed_by=tuple(proofs.get(id, ())),
        no_mutant=one.get("no_mutant"),
        stands_for=row.id,
        cases=tuple(one["cases"]),
    )


def _profile(data: dict[str, Any], proofs: Mapping[str, Sequence[str]]) -> Profile:
    rows = tuple(_requirement(row, data, proofs.get(row["id"], ())) for row in data["requirements"])
    return Profile(data["profile"], data["title"], data["finished"], rows)


def _requirement(row: dict[str, Any], data: dict[str, Any], killed_by: Sequence[str]) -> Requirement:
    return Requirement(
        id=row["id"],
        profile=data["profile"],
        level=row["level"],
        text=row["text"],
        sources=tuple(_source(source, data["documents"]) for source in row["source"]),
        observed_at=row["observed_at"],
        added=row["added"],
        impact=row.get("impact"),
        general=row.get("general", False),
        wires=tuple(row.get("wires", ())),
        streams={"stream": True, "plain": False}.get(row.get("cells", "")),
        needs=tuple(row.get("needs", ())),
        otherwise=tuple(
            Otherwise(one["profile"], one["section"], tuple(one.get("wires", ()))) for one in row.get("otherwise", ())
        ),
        unless=tuple(row.get("unless", {}).items()),
        anywhere=row.get("anywhere", False),
        killed_by=tuple(killed_by),
        no_mutant=row.get("no_mutant"),
        excluded=row.get("excluded"),
    )


def _source(source: dict[str, str], documents: dict[str, dict[str, str]]) -> Source:
    (key, section), *_ = source.items()
    document = documents[key]
    return Source(key, document["title"], section, document.get("url"))
