"""Traits: a trait in a cell, the loop as seen by a test of a trait, and the answers of a session.

Every question gets an answer, whatever the loop does: an exception of the test counts as an answer too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any, Unpack

import pytest

from looptck.bench.bench import Bench
from looptck.bench.checks import Check, Implementation, Liveness, RunOverrides
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.catalogue.traits import UNDECIDED, Answer, Trait, traits
from looptck.drivers import DriverFault, Started
from looptck.provider.script import step
from looptck.suite.selection import concerns, missing
from looptck.values.cell import Cell
from looptck.values.frozen import dataclass
from looptck.values.outcome import Failed
from looptck.values.printable import printable, steady
from looptck.values.verdicts import NotApplicable, NotReached, no_capability
from looptck.wires import WIRES

MOST = 200
"""The most characters of a detail."""


@dataclass(frozen=True, slots=True)
class Question:
    """A trait in a cell."""

    trait: Trait
    cell: Cell

    @property
    def id(self) -> str:
        return f"{self.trait.id}/{self.cell}"


@dataclass(slots=True)
class Survey:
    """The questions of a session about traits, and the answers."""

    wanted: bool = False
    """Whether the session asks about traits."""
    questions: list[Question] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    """Those of the session's record."""
    played: dict[tuple[str, Cell], Run | Exception] = field(default_factory=dict)
    """Runs that answer several traits, by name and cell."""
    by_run: dict[str, list[Answer]] = field(default_factory=dict)
    """Answers by the id of the run that they were read from."""

    def place(self, question: Question) -> int | None:
        """Which question of the session it is, counted from 1; None: none of them."""
        trait, cell = question.trait.id, question.cell
        asked = enumerate(self.questions, 1)
        return next((place for place, one in asked if one.trait.id == trait and one.cell == cell), None)

    def take(self, answer: Answer, runs: Iterable[Run]) -> None:
        """Add an answer and the runs that it was read from."""
        self.answers.append(answer)
        for run in runs:
            self.by_run.setdefault(run.id, []).append(answer)

    def spoil(self, fault: DriverFault) -> None:
        """Turn the answers of a run into errors, because the driver fault came to light after the run."""
        for answer in self.by_run.get(fault.run or "", []):
            answer.answer, answer.detail = "error", cut(str(fault))

    def serializable(self) -> list[dict[str, str]]:
        """The answers as ``--json`` writes them, in the order of the traits."""
        places = {trait.id: place for place, trait in enumerate(traits())}
        return [answer.serializable() for answer in sorted(self.answers, key=lambda one: places[one.trait])]


@dataclass(slots=True)
class Loop(Implementation):
    """The implementation under test, as seen by one test of a trait."""

    plays_several: bool = True
    survey: Survey = field(default_factory=Survey)
    trait: Trait | None = None
    answer: Answer | None = None

    def plays(self, *what: Any, **how: Unpack[RunOverrides]) -> Run:
        """Run the loop on this script until the run ends.

        Raises:
            NotApplicable: the wire cannot express one of the turns.
        """
        self.can_be_said(*what)
        self.scenario.plays(*what)
        return self.run(**how)

    def can_be_said(self, *what: Any) -> None:
        """Raises NotApplicable if the wire cannot express one of these turns."""
        for turn in (step(one).turn for one in what):
            if turn is not None and not WIRES[self.cell.wire].can_say(turn, stream=self.cell.stream):
                raise NotApplicable(f"{self.cell.wire} cannot express this turn in a reply of this kind")

    def once(self, name: str, play: Callable[[], Run]) -> Run:
        """The run of this name in this cell, played once for all traits that use it."""
        key = name, self.cell
        if key not in self.survey.played:
            try:
                self.survey.played[key] = play()
            except Exception as error:  # noqa: BLE001  any error answers each of the traits
                self.survey.played[key] = error
        found = self.survey.played[key]
        if isinstance(found, Exception):
            raise found
        if not any(run is found for run in self.runs):
            self.runs.append(found)
        return found

    def answers(self, name: str, detail: object = "") -> None:
        """Record the answer, by its name; ``detail`` is the evidence.

        Raises:
            ValueError: the trait has no such answer, or has an answer already.
        """
        assert self.trait is not None
        if self.answer is not None:
            raise ValueError(f"{self.trait.id} already has the answer {self.answer.answer}, and gets a second, {name}")
        if name not in self.trait.answers:
            raise ValueError(f"{self.trait.id} has no answer {name!r}; it has {', '.join(self.trait.answers)}")
        self.answer = Answer(self.trait.id, str(self.cell), name, printable(cut(str(detail))))


def loop_for(question: Question, bench: Bench, survey: Survey) -> Loop:
    """The loop for the test of this question."""
    bench.enter(f"t{survey.place(question) or ''}")
    check = Check(question.trait.row, question.cell, question.trait.id)
    return Loop(bench, check, Scenario(), survey=survey, trait=question.trait)


def require(question: Question, started: Started) -> None:
    """Raises NotApplicable if the question concerns other cells or needs a capability that is declared absent."""
    row, cell = question.trait.row, question.cell
    if not concerns(row, cell):
        where = {None: "", True: "streams", False: "plain replies"}[row.streams]
        raise NotApplicable(
            f"the trait concerns {' of '.join(word for word in (where, ', '.join(row.wires)) if word)} only"
        )
    if lacking := missing(row, cell, started):
        raise NotApplicable(no_capability(lacking))


def answer_of(question: Question, loop: Loop | None, error: BaseException | None) -> Answer:
    """The answer to a question, from what its test has recorded or raised."""
    if error is None and loop is not None and loop.answer is not None:
        return loop.answer
    word, detail = _undecided(error)
    return Answer(question.trait.id, str(question.cell), word, printable(cut(detail)))


def take_in(
    survey: Survey,
    item: pytest.Item,
    question: Question,
    loop: Loop | None,
    call: pytest.CallInfo[None],
    report: pytest.TestReport,
) -> None:
    """Record the answer of a finished test phase, and make pytest's report agree with it."""
    error = call.excinfo.value if call.excinfo else None
    if call.when == "teardown" or (call.when == "setup" and error is None):
        return
    if isinstance(error, KeyboardInterrupt | pytest.exit.Exception):
        return
    answer = answer_of(question, loop, error)
    survey.take(answer, loop.runs if loop else ())
    item.user_properties += [("trait", answer.trait), ("cell", answer.cell), ("answer", answer.answer)]
    report.outcome = "passed"
    report.longrepr = None
    if answer.answer in UNDECIDED:
        report.outcome = "skipped"
        report.longrepr = ("", 0, f"{answer.answer}: {answer.detail}")


def _undecided(error: BaseException | None) -> tuple[str, str]:
    match error:
        case None:
            return "error", "looptck itself: the test recorded no answer"
        case NotApplicable():
            return "not-applicable", str(error)
        case NotReached():
            return "not-reached", str(error)
        case Liveness():
            return "no-outcome", str(error)
        case DriverFault():
            return "error", str(error)
        case _:
            return "error", f"looptck itself: {type(error).__name__}: {error}"


def error_text(failed: Failed) -> str:
    """An error as a detail: its type and its message."""
    return f"{failed.type}: {failed.message}" if failed.message else failed.type


def cut(text: str) -> str:
    """A detail on one line, cut in the middle if it is long."""
    line = " ".join(steady(text).split())
    return line if len(line) <= MOST else f"{line[: MOST // 2]} … {line[-MOST // 3 :]}"
