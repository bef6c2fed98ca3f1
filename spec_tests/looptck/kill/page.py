"""The matrix as one HTML page: no script, and nothing that has to be fetched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from looptck.catalogue.requirements import Requirement, catalogue
from looptck.kill import marks
from looptck.kill.columns import Column
from looptck.kill.marks import MEANINGS, Mark
from looptck.kill.matrix import Matrix, Row

LONGEST = 180
"""How many characters of a reason are shown."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """A requirement and a mutant, and what became of them."""

    id: str
    column: Column
    mark: Mark

    @property
    def why(self) -> str:
        return shortened(marks.reason(self.column, self.id))

    @property
    def seen(self) -> str:
        """What the first check saw, where that is not the reason."""
        return shortened(marks.seen(self.column, self.id)) if self.mark is Mark.ALSO else ""

    @property
    def more(self) -> int:
        """How many other checks failed too."""
        return max(0, len(self.column.failed.get(self.id, ())) - 1)


@dataclass(frozen=True, slots=True)
class Span:
    """Neighbours in a row that look the same: many that passed or were not reached, or one with more to say."""

    mark: Mark | None
    width: int
    meeting: Meeting | None


@dataclass(frozen=True, slots=True)
class Line:
    """A requirement: what is known of it, and its row of the matrix."""

    id: str
    requirement: Requirement | None
    complaint: str
    met: Sequence[Meeting]
    spans: Sequence[Span]
    cases: int
    unproven: Sequence[str]
    """Those of the cases that no mutant has failed."""

    @property
    def excuse(self) -> str:
        return (self.requirement and self.requirement.no_mutant) or ""

    def by(self, *wanted: str) -> list[Meeting]:
        """The meetings with these marks, in the order of the marks."""
        return [one for mark in wanted for one in self.met if one.mark == mark]


@dataclass(frozen=True, slots=True)
class Head:
    """A mutant, and all that it did."""

    column: Column
    met: Sequence[Meeting]

    def by(self, *wanted: str) -> list[Meeting]:
        """As that of a line."""
        return [one for mark in wanted for one in self.met if one.mark == mark]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The matrix of one profile."""

    profile: str
    title: str
    heads: Sequence[Head]
    lines: Sequence[Line]

    @property
    def tall(self) -> int:
        """The length of the longest name of a mutant, in characters."""
        return max((len(head.column.mutant.name) for head in self.heads), default=0)

    @property
    def wide(self) -> int:
        """That of a requirement's id."""
        return max((len(line.id) for line in self.lines), default=0)


def page(matrix: Matrix) -> str:
    """The page, whole in itself."""
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            matrix=matrix,
            counts=matrix.counted(),
            headline=headline(matrix),
            sheets=[*sheets(matrix)],
            meanings=MEANINGS,
        )
    )


def headline(matrix: Matrix) -> str:
    """What came out, in one sentence."""
    complaints = len(matrix.complaints)
    if complaints:
        return "One thing is to be mended" if complaints == 1 else f"{complaints} things are to be mended"
    if not matrix.rows:
        return "The mutant does what it says" if len(matrix.columns) == 1 else "The mutants do what they say"
    excused = matrix.counted()["requirements without a mutant"]
    return f"Every requirement{f' but {excused}' if excused else ''} has been seen to fail"


def sheets(matrix: Matrix) -> Iterator[Sheet]:
    """A matrix for each profile, its mutants in the order of the first requirement that they break."""
    known = {row.id: row for row in (*catalogue(), *matrix.requirements)}
    places = {id: place for place, id in enumerate(known)}
    rows = {row.requirement.id: row for row in matrix.rows}
    profiles = dict.fromkeys([one.requirement.profile for one in matrix.rows])
    profiles |= dict.fromkeys(column.mutant.profile for column in matrix.columns)
    for profile in profiles:
        columns = [column for column in matrix.columns if column.mutant.profile == profile]
        columns.sort(key=lambda column: [places.get(id, len(places)) for id in column.mutant.breaks])
        heads = [Head(one, [Meeting(id, one, mark) for id, mark in marks.marked(one).items()]) for one in columns]
        met: dict[str, dict[str, Meeting]] = defaultdict(dict)
        for head in heads:
            for meeting in head.met:
                met[meeting.id][head.column.mutant.name] = meeting
        ids = {*met, *(id for id, row in rows.items() if row.requirement.profile == profile)}
        lines = [
            _line(id, known.get(id), rows.get(id), columns, met[id])
            for id in sorted(ids, key=lambda one: (places.get(one, len(places)), one))
        ]
        title = catalogue().profiles[profile].title if profile in catalogue().profiles else ""
        yield Sheet(profile, title, heads, lines)


def shortened(text: str) -> str:
    """As much of a text as a person reads in a matrix."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def prose(text: str) -> Markup:
    """A sentence with its words between backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    marked = [Markup("<code>{}</code>").format(part) if n % 2 else escape(part) for n, part in enumerate(parts)]
    return Markup("").join(marked)


def _line(
    id: str, requirement: Requirement | None, row: Row | None, columns: Sequence[Column], met: Mapping[str, Meeting]
) -> Line:
    meetings = [met.get(column.mutant.name) for column in columns]
    return Line(
        id,
        requirement,
        row.complaint if row else "",
        [one for one in meetings if one is not None],
        [*_spans(meetings)],
        len(row.cases) if row else 0,
        row.unproven if row else (),
    )


def _spans(meetings: Sequence[Meeting | None]) -> Iterator[Span]:
    for mark, group in groupby(meetings, key=lambda one: one.mark if one else None):
        alike = [*group]
        if mark is None or mark is Mark.UNREACHED:
            yield Span(mark, len(alike), None)
        else:
            yield from (Span(mark, 1, one) for one in alike)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = prose
    return environment
