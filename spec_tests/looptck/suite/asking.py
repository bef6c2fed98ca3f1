"""Asking: a trait in a cell, the loop as a test of traits sees it, and the answers of a session.

There is an answer to every question, whatever the loop does: what a test raises is one too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Unpack

import pytest

from looptck.bench.bench import Bench, Scenario
from looptck.bench.checks import Check, Implementation, Liveness, RunOverrides
from looptck.bench.run import Run
from looptck.catalogue.traits import UNDECIDED, Answer, Trait, traits
from looptck.drivers import DriverFault, Started
from looptck.provider.script import step
from looptck.suite.selection import concerns, missing
from looptck.values.cell import Cell
from looptck.values.outcome import Failed
from looptck.values.printable import printable
from looptck.values.verdicts import NotApplicable, NotReached
from looptck.wires import WIRES

MOST = 200
"""Characters of a detail."""
_CHANGING = re.compile(r"http://127\.0\.0\.1:\d+/c\d+|0x[0-9a-f]{6,}")
"""What is another text in every run: where the provider is, and where an object lies in memory."""


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
    """What a session asks about traits, and what it was answered."""

    wanted: bool = False
    """Whether it asks at all."""
    questions: list[Question] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    played: dict[tuple[str, Cell], Run | Exception] = field(default_factory=dict)
    """Runs that several traits are read from, by name and cell."""
    by_run: dict[str, list[Answer]] = field(default_factory=dict)
    """Answers by the id of the run that they rest on."""

    def take(self, answer: Answer, runs: Iterable[Run]) -> None:
        """Take an answer in."""
        self.answers.append(answer)
        for run in runs:
            self.by_run.setdefault(run.id, []).append(answer)

    def spoil(self, fault: DriverFault) -> None:
        """A run turned out to be broken when it was over: what was read from it is no answer."""
        for answer in self.by_run.get(fault.run or "", []):
            answer.answer, answer.detail = "error", cut(str(fault))

    def serializable(self) -> list[dict[str, str]]:
        """The answers as ``--json`` writes them, in the order of the traits."""
        places = {trait.id: place for place, trait in enumerate(traits())}
        return [answer.serializable() for answer in sorted(self.answers, key=lambda one: places[one.trait])]


@dataclass(slots=True)
class Loop(Implementation):
    """The implementation under test, as one test of a trait sees it."""

    survey: Survey = field(default_factory=Survey)
    trait: Trait | None = None
    answer: Answer | None = None

    def plays(self, *what: Any, **how: Unpack[RunOverrides]) -> Run:
        """Play this script to the loop, to its end.

        Raises:
            NotApplicable: the wire has no words for one of its turns.
        """
        self.can_be_said(*what)
        self.scenario.plays(*what)
        return self.run(**how)

    def can_be_said(self, *what: Any) -> None:
        """Raises NotApplicable where the wire has no words for one of these turns."""
        for turn in (step(one).turn for one in what):
            if turn is not None and not WIRES[self.cell.wire].can_say(turn, stream=self.cell.stream):
                raise NotApplicable(f"{self.cell.wire} has no words for this turn in a reply of this kind")

    def once(self, name: str, play: Callable[[], Run]) -> Run:
        """The run of this name in this cell, played once for all traits that are read from it."""
        key = name, self.cell
        if key not in self.survey.played:
            try:
                self.survey.played[key] = play()
            except Exception as error:  # noqa: BLE001  whatever it is, it is the answer of each of them
                self.survey.played[key] = error
        found = self.survey.played[key]
        if isinstance(found, Exception):
            raise found
        if not any(run is found for run in self.runs):
            self.runs.append(found)
        return found

    def answers(self, name: str, detail: object = "") -> None:
        """Give the answer, by its name; ``detail`` is what showed it.

        Raises:
            ValueError: the trait has no such answer, or has been answered already.
        """
        assert self.trait is not None
        if self.answer is not None:
            raise ValueError(f"{self.trait.id} was answered with {self.answer.answer} before it was with {name}")
        if name not in self.trait.answers:
            raise ValueError(f"{self.trait.id} has no answer {name!r}; it has {', '.join(self.trait.answers)}")
        self.answer = Answer(self.trait.id, str(self.cell), name, printable(cut(str(detail))))


def loop_for(question: Question, bench: Bench, survey: Survey) -> Loop:
    """The loop, to be asked this question."""
    bench.leave()
    check = Check(question.trait.row, question.cell, question.trait.id)
    return Loop(bench, check, Scenario(), survey=survey, trait=question.trait)


def require(question: Question, started: Started) -> None:
    """Raises NotApplicable where the question is about other cells, or needs a capability declared absent."""
    row, cell = question.trait.row, question.cell
    if not concerns(row, cell):
        where = {None: "", True: "streams", False: "plain replies"}[row.streams]
        raise NotApplicable(f"it is about {' of '.join(word for word in (where, ', '.join(row.wires)) if word)}")
    if lacking := missing(row, cell, started):
        raise NotApplicable(f"the driver declares no capability `{lacking}`")


def answer_of(question: Question, loop: Loop | None, error: BaseException | None) -> Answer:
    """The answer to a question, from what its test has said or raised."""
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
    """Take in what a finished phase of a test has told, and make its report agree."""
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
            return "error", "looptck itself: the test has given no answer"
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


def told(failed: Failed) -> str:
    """An error as a detail: its class and what it says."""
    return f"{failed.type}: {failed.message}" if failed.message else failed.type


def cut(text: str) -> str:
    """A detail on one line, cut in the middle where it is long."""
    line = " ".join(_CHANGING.sub("…", text).split())
    return line if len(line) <= MOST else f"{line[: MOST // 2]} … {line[-MOST // 3 :]}"
