"""The matrix as one HTML page, without scripts and external resources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from looptck.catalogue.requirements import Requirement, catalogue
from looptck.commands.kill import marks
from looptck.commands.kill.columns import Column
from looptck.commands.kill.marks import MEANINGS, Mark
from looptck.commands.kill.matrix import Matrix, Row
from looptck.values.frozen import dataclass

LONGEST = 180
"""The most characters of a reason."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """A requirement under a mutant, with its mark."""

    id: str
    column: Column
    mark: Mark

    @property
    def why(self) -> str:
        return shortened(marks.reason(self.column, self.id))

    @property
    def seen(self) -> str:
        """The first failed check, if the reason of the mark is another text."""
        return shortened(marks.seen(self.column, self.id)) if self.mark is Mark.ALSO else ""

    @property
    def more(self) -> int:
        """The number of further failed checks."""
        return max(0, len(self.column.failed.get(self.id, ())) - 1)


@dataclass(frozen=True, slots=True)
class Span:
    """Adjacent entries of a row with the same mark: many that passed or were not reached, or a single other one."""

    mark: Mark | None
    width: int
    meeting: Meeting | None


@dataclass(frozen=True, slots=True)
class Line:
    """A requirement: its description and its row of the matrix."""

    id: str
    requirement: Requirement | None
    complaint: str
    met: Sequence[Meeting]
    spans: Sequence[Span]
    cases: int
    unproven: Sequence[str]
    """The cases that no mutant fails."""

    @property
    def excuse(self) -> str:
        return (self.requirement and self.requirement.no_mutant) or ""

    def by(self, *wanted: str) -> list[Meeting]:
        """The meetings with these marks, in the order of the marks."""
        return [one for mark in wanted for one in self.met if one.mark == mark]


@dataclass(frozen=True, slots=True)
class Head:
    """A mutant, and its result for each requirement."""

    column: Column
    met: Sequence[Meeting]

    def by(self, *wanted: str) -> list[Meeting]:
        """The meetings with these marks, in the order of the marks."""
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
        """The length of the longest requirement id, in characters."""
        return max((len(line.id) for line in self.lines), default=0)


def page(matrix: Matrix) -> str:
    """The complete HTML page."""
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
    """The result, in one sentence."""
    complaints = len(matrix.complaints)
    if complaints:
        return "One thing needs a fix" if complaints == 1 else f"{complaints} things need a fix"
    if not matrix.rows:
        return "The mutant fails as declared" if len(matrix.columns) == 1 else "The mutants fail as declared"
    excused = matrix.counted()["requirements without a mutant"]
    return f"Every requirement{f' except {excused}' if excused else ''} has been shown to fail"


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
    """A text cut to `LONGEST` characters."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def prose(text: str) -> Markup:
    """A sentence as HTML, with words in backticks as code."""
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
