"""The bench of a whole program: it plays scripts in the program's words, and reads marks back into tool runs.

A program that is given the kit's tools runs those: scripts are played as they are, and the toolbox tells what ran.

"Told" means of a program: an exit status that is not 0, a line that says so and that it does not print otherwise, or a
further request behind the end of the script.
The text for the caller is the answer of the script where the output holds it, and else the output.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from looptck.bench.bench import Patience, Running
from looptck.bench.benches import LoopBench
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.translation import Translation
from looptck.drivers.case_message import API_KEY, RunOptions
from looptck.drivers.idle import AtWork
from looptck.drivers.programs import Programs
from looptck.drivers.programs.scratch import Scratch
from looptck.provider import shared
from looptck.provider.habits import Habits
from looptck.provider.mock_run import CASE_TOOLS, MockRun
from looptck.provider.program_run import ProgramMockRun
from looptck.provider.renamed import Names
from looptck.provider.script import Script
from looptck.provider.toolbox import Toolbox
from looptck.values.cell import Cell
from looptck.values.framing import MODEL
from looptck.values.outcome import Outcome, Value
from looptck.values.program import Mark, ProgramRun
from looptck.values.transcript import Event, ToolBegan
from looptck.values.turns import Turn
from looptck.values.verdicts import NotApplicable

SILENCE = 60.0
"""Seconds without an event after which a program has hung: some take half a minute to start."""
HELD = 1.0
"""Seconds for which a stream is held right before its fault, ended by a mark: a process is slower than a function."""
LOOK = 0.005
"""Seconds between two looks into the file of marks."""
SAYS_SO = re.compile(
    r"error|fail|invalid|refus|declin|cut off|truncat|incomplete|interrupt|abort|lost|terminat|broke|retry|exceed|limit"
    r"|max.?tokens|length|filter|empty|no (response|output|content|answer)|unexpected|unable|cannot|could not",
    re.IGNORECASE,
)
"""Words by which a person recognizes a line that says that something is wrong."""
_VARIES = re.compile(r"\S*/\S*|\d+")
"""Paths and numbers, which differ from run to run."""


@dataclass(slots=True)
class Marks:
    """The file of marks of one run, watched by a thread until it is closed."""

    scratch: Scratch
    translation: Translation
    mock_run: ProgramMockRun
    into: list[Mark]
    _read: int = 0
    _reading: threading.Lock = field(default_factory=threading.Lock)
    _closed: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def watch(self) -> None:
        self._thread = threading.Thread(target=self._look, name="looptck marks", daemon=True)
        self._thread.start()

    def read(self) -> None:
        """Take in the lines that are complete by now."""
        with self._reading:
            try:
                with self.scratch.mark.open("rb") as file:
                    file.seek(self._read)
                    data = file.read()
            except OSError:
                return
            whole = data[: data.rfind(b"\n") + 1]
            self._read += len(whole)
            for line in whole.decode(errors="replace").splitlines():
                if (found := self.translation.meant(line)) is not None:
                    word, meant = found
                    self.into.append(Mark(self.mock_run.transcript.now(), word, meant.tool, meant.lost))
                    self.mock_run.marked(meant.tool, meant.arguments)

    def close(self) -> None:
        self._closed.set()
        if self._thread is not None:
            self._thread.join()
        self.read()

    def _look(self) -> None:
        while not self._closed.wait(LOOK):
            self.read()


class Replayed(Running):
    """A run that was played already: the same script in the same cell is not played twice."""

    def result(self) -> Run:
        return self.run


class ProgramBench(LoopBench):
    """A whole program, which takes one case after the other."""

    def __init__(self, driver: str, programs: Programs, patience: Patience) -> None:
        super().__init__(driver, programs, replace(patience, outcome=max(patience.outcome, SILENCE)))
        self._programs = programs
        self._numbers = count(1)
        self._usual: set[str] = set()
        """The lines that it prints when nothing is wrong."""
        self._open: dict[str, Marks] = {}
        self._played_before: dict[Any, Running] = {}

    def begin(
        self,
        scenario: Scenario,
        cell: Cell,
        *,
        name: str,
        profile: str = "core",
        options: RunOptions | None = None,
        after: MockRun | None = None,
        mark: str = "",
    ) -> Running:
        """Start a run of the scenario in its present state, unless it was played before.

        Raises:
            NotApplicable: it is to go on with another run.
        """
        if after is not None:
            raise NotApplicable("a whole program begins anew in each run")
        options = options or RunOptions()
        key = _key(scenario, cell, options)
        if key is not None and key in self._played_before:
            before = self._played_before[key]
            return Replayed(self, before.mock_run, before.run, before.future)
        running = self._begin(scenario, cell, options, name)
        if key is not None and name != "preflight":
            self._played_before[key] = running
        return running

    def _begin(self, scenario: Scenario, cell: Cell, options: RunOptions, name: str) -> Running:
        scratch = self._programs.scratch()
        one = self._programs.description
        handled = [tool.name for tool in options.offered if tool.handled]
        translation = Translation(one, scratch, next(self._numbers), handled, scenario.behaviours)
        mock_run = ProgramMockRun(
            self.wires[cell.wire],
            translation.script(scenario.script),
            Toolbox(dict(scenario.behaviours) if one.mark is None else {}),
            gates=scenario.gates,
            patience=self.patience.gate,
            habits=Habits(AtWork(self._pulse), HELD),
            rest=self._rest,
        )
        mock_run.ends = len(scenario.steps) if scenario.endless is None else None
        mock_run.accepts = one.accepts
        run = self._run(cell, (), mock_run)
        run.pruned, run.program = True, ProgramRun(one.mark is None)
        marks = Marks(scratch, translation, mock_run, run.program.marks)
        if one.mark is not None:
            run.offered = mock_run.offers = [one.mark.name]
            self._open[run.id] = marks
            mock_run.look = marks.read
            marks.watch()
        else:
            run.offered = handled
            mock_run.offered = options.offered
            mock_run.names = Names.by(one.mcp or "{name}", handled)
            mock_run.offers = [*mock_run.names.own]
            mock_run.transcript.watchers.append(_noting(mock_run, run.program.marks))
        prompt = next(text for role, text in reversed(options.messages) if role == "user")
        if self._programs.is_one_process:
            mock_run.task = f"task-{translation.number}."
            prompt = f"{prompt} (This is {mock_run.task})"
        base_url = self._base_url(mock_run, prompt)
        own = self.origin + mock_run.prefix
        case = {
            "wire": cell.wire,
            "base_url": base_url,
            "api_key": API_KEY,
            "model": MODEL,
            "prompt": prompt,
            "tools_url": own + CASE_TOOLS,
            "scratch": scratch,
            "before_the_end": marks.read,
        }
        future: Future[Outcome] = Future()
        self._programs.run(run.id, case, _unheard).add_done_callback(
            lambda ended: self._ended(run, mock_run, ended, future)
        )
        return Running(self, mock_run, run, future)

    def _base_url(self, mock_run: ProgramMockRun, prompt: str) -> str:
        """The base URL of a run: its own, or the one of a process that plays all of them."""
        if self._programs.is_one_process:
            self._provider.share(mock_run, prompt, ())
            return self.origin + shared.MODEL
        return f"{self._provider.open(mock_run)}/v1"

    def _ended(self, run: Run, mock_run: ProgramMockRun, ended: Future[Outcome], future: Future[Outcome]) -> None:
        """The program has ended: read its outcome in the words of the script."""
        assert run.program is not None
        run.program.exit = self._programs.exit(run.id)
        error = ended.exception()
        if error is not None:
            future.set_exception(error)
            return
        future.set_result(self._read(run, mock_run, ended.result()))

    def _read(self, run: Run, mock_run: ProgramMockRun, outcome: Outcome) -> Outcome:
        if not isinstance(outcome, Value):
            return outcome
        answer = _answer(mock_run.turns)
        lines = self._lines(run)
        if is_undisturbed(mock_run):
            self._usual |= lines
            lines = set()
        said = {_squeezed(turn.text) for turn in mock_run.turns.values() if turn.text}
        told = any(
            SAYS_SO.search(line) and not any(_squeezed(line) in text or text in _squeezed(line) for text in said)
            for line in lines - self._usual
        )
        told = told or mock_run.has_asked_again
        text = outcome.text or ""
        if answer and _squeezed(answer) in _squeezed(text):
            text = answer
        return Value(text, "other" if told else outcome.stop)

    def _lines(self, run: Run) -> set[str]:
        """What a run has printed, line by line, without what differs from run to run."""
        exit = run.program.exit if run.program is not None else None
        if exit is None:
            return set()
        return {
            _VARIES.sub("#", line.strip()) for line in (exit.stdout + "\n" + exit.stderr).splitlines() if line.strip()
        }

    def clear(self, running: Running) -> Exception | None:
        """Close the file of its marks too."""
        if (marks := self._open.pop(running.run.id, None)) is not None:
            marks.close()
        broken = super().clear(running)
        self._programs.forget(running.run.id)
        return broken


def _noting(mock_run: ProgramMockRun, into: list[Mark]) -> Callable[[Event], None]:
    """Notes each run of a tool of the kit, and whether the turn that was played last is broken."""

    def note(event: Event) -> None:
        if isinstance(event, ToolBegan):
            step = mock_run.script.step(mock_run.asked) if mock_run.asked else None
            lost = step is not None and step.fault is not None
            into.append(Mark(event.at, "", event.tool, lost, event.arguments))

    return note


def is_undisturbed(mock_run: ProgramMockRun) -> bool:
    """Whether nothing in a script is wrong: no fault, no broken call, and no stop reason but the usual ones."""
    steps = [step for step in mock_run.script.steps if step.turn is not None]
    return len(steps) == len(mock_run.script.steps) > 0 and all(
        step.fault is None and step.turn is not None and step.turn.stop in (None, "end", "calls") and step.turn.pieces
        for step in steps
    )


def _unheard(_text: str) -> None:
    """The chunks of a program are not heard."""


def _answer(turns: dict[int, Turn]) -> str | None:
    """The text of the last turn that was played."""
    return turns[max(turns)].text if turns else None


def _squeezed(text: str) -> str:
    """A text without blanks: terminals wrap it."""
    return "".join(text.split())


def _key(scenario: Scenario, cell: Cell, options: RunOptions) -> Any:
    """What two equal runs have in common; None if the script holds or has no end."""
    script: Script = scenario.script
    if script.endless is not None or scenario.gates or any(step.holds or step.before for step in script.steps):
        return None
    tools = repr(options.offered)
    behaviours = repr(sorted(scenario.behaviours.items()))
    return cell, script.steps, script.stateful, options.messages, tools, behaviours
