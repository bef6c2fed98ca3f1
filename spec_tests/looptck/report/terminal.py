"""The terminal output of ``looptck run``: progress, then a table by requirement, the causes and the counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import TYPE_CHECKING

import pytest
from rich.console import Console
from rich.text import Text

from looptck.failures.blocks import blocks, one_line_each, wrapped
from looptck.report import traits
from looptck.report.progress import Progress
from looptck.report.table import STYLES, table
from looptck.suite.summary import causes_of, judged_nothing, troubles, unexpected, unjudged
from looptck.values.plain import amount
from looptck.values.verdicts import AGAINST, Result, counted

if TYPE_CHECKING:
    from looptck.failures.causes import Cause
    from looptck.suite.record import Record

BETWEEN_LINES = 15.0
"""Seconds between two progress lines if the output is not a terminal."""


class Terminal:
    """A pytest plugin that replaces pytest's own terminal output."""

    def __init__(self, console: Console, record: Record, *, quiet: bool = False, durations: int | None = None) -> None:
        self._console = console
        self._record = record
        self._quiet = quiet
        self._durations = durations
        self._status = console.status("starting") if console.is_terminal and not quiet else None
        self._last = -BETWEEN_LINES
        self._progress = Progress(record)
        self.broken: list[str] = []
        """Errors in looptck itself, outside the checks."""
        record.listeners.append(self._on_result)
        self.go_on()

    @pytest.hookimpl
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(str(report.longrepr))

    @pytest.hookimpl
    def pytest_internalerror(self, excrepr: object) -> None:
        self.broken.append(str(excrepr))

    def stop(self) -> None:
        """Show no progress any more."""
        if self._status is not None:
            self._status.stop()

    def go_on(self) -> None:
        """Show progress, again."""
        if self._status is not None:
            self._status.start()

    def finish(self) -> None:
        """Print the report at the end of the run."""
        self.stop()
        for text in self.broken:
            self._console.print(Text(text, style="red"))
        record = self._record
        found = causes_of(record, [one for one in record.findings if not one.known])
        if record.checks and (found or not self._quiet):
            self._console.print(table(record, brief=self._quiet or bool(found)))
        if not self._quiet and record.answers:
            self._traits(brief=bool(found))
        self._causes(found)
        self._divergences(record)
        self._counts(record)

    def _traits(self, *, brief: bool) -> None:
        """Print the table of traits, or a short form if there are failures to read."""
        answers = self._record.answers
        self._console.print()
        if not brief:
            self._console.print(traits.table(self._title(), answers))
            return
        self._console.print(f"{self._title()} (--trait NAME has details)", style="bold")
        for line in traits.brief(answers):
            self._console.print(line, markup=False, highlight=False)

    def _title(self) -> str:
        """The heading of the traits."""
        started = self._record.started
        return f"{started.name} {started.version}: what the documents leave open; recorded, not judged"

    def _causes(self, found: Sequence[Cause]) -> None:
        """Print one line or one block per cause."""
        if not found:
            return
        judged = [one.cell for one in self._record.results if one.verdict != "not-applicable"]
        cells = list(dict.fromkeys(judged))
        if self._quiet:
            self._console.print()
            for line in one_line_each(found, cells):
                lines = wrapped(line, self._console.width) if self._console.is_terminal else [line]
                self._console.print(Text("\n".join(lines)), soft_wrap=True)
            return
        failures = sum(len(cause.findings) for cause in found)
        if len(found) > 1:
            causes_of = f"{amount(failures, 'failure')}, {amount(len(found), 'cause')}, the worst first"
            self._console.print(f"\n{causes_of}", style="bold")
        for lines in blocks(found, cells, self._console.width):
            self._console.print()
            self._console.print(_styled("\n".join(lines)), soft_wrap=True)

    def _on_result(self, result: Result) -> None:
        now = monotonic()
        if self._status is None and now - self._last < BETWEEN_LINES:
            return
        self._last = now
        line = f"{self._progress.line(now)}: {result.requirement} [{result.cell}]"
        if self._status is not None:
            self._status.update(Text(line))
        elif not self._quiet:
            self._console.print(line, style="dim", markup=False, highlight=False)

    def _divergences(self, record: Record) -> None:
        answers: dict[str, list[str]] = defaultdict(list)
        for result in record.results:
            if result.verdict == "divergence":
                answers[result.reason].append(result.cell)
        if answers and not self._quiet:
            self._console.print("\ndivergences, recorded, not judged:", style="bold")
            for reason, where in answers.items():
                self._console.print(f"  {reason}  [dim]({amount(len(set(where)), 'cell')})[/]", highlight=False)

    def _counts(self, record: Record) -> None:
        self._console.print()
        for trouble in [*troubles(record), *filter(None, [judged_nothing(record)])]:
            self._console.print(Text(trouble, style="bold red"), soft_wrap=True)
        if record.checks and (left := unjudged(record)):
            why = "a process that played them has ended" if record.has_lost else "the run was interrupted"
            message = f"no verdict for {left} of {amount(record.checks, 'check')}: {why}"
            self._console.print(Text(message, style="bold red"))
        if record.answers:
            self._console.print(traits.counts(record.answers), style="dim", highlight=False)
        line = Text()
        for verdict, count in counted(record.results).items():
            if count:
                line.append(f"{count} {verdict}", style=STYLES[verdict]).append("   ")
        unknown = len(unexpected(record))
        against = sum(result.verdict in AGAINST for result in record.results)
        known = f", {against} known failures" if against and not unknown else ""
        total = len(record.results)
        more = f", {total} verdicts" if total > record.checks else ""  # a refused request has one of its own
        line.append(f"({amount(record.checks, 'check')}{more}{known})", style="dim")
        if record.checks or not record.answers:
            self._console.print(line)
        if record.left_out or record.sampled:
            self._console.print(_left_out(record), style="dim", highlight=False)
        if self._durations is not None:
            text = "\n".join(_durations(record, self._durations))
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def _durations(record: Record, most: int) -> Iterator[str]:
    """Where the time went: its shares, then the slowest checks. Runs at the same time have each their own time."""
    whole, shares = record.spent.whole, record.spent.shares()
    added = sum(shares.values())
    beside = f", in which runs at the same time took {added - whole:.1f} s more" if added - whole >= 0.1 else ""
    yield ""
    yield f"{whole:.1f} s in all checks, of all processes together{beside}:"
    for words, seconds in shares.items():
        yield f"  {seconds:8.1f} s  {seconds / added if added else 0:4.0%}  {words}"
    for id, seconds in record.spent.slowest(most):
        yield f"  {seconds:8.2f} s        {id}"


def _left_out(record: Record) -> str:
    """What a common run has left out."""
    left = [f"{amount(len(record.left_out), 'check')} left out"] if record.left_out else []
    sampled = [f"{amount(len(record.sampled), 'property', 'properties')} on few examples"] if record.sampled else []
    return f"the common run: {', '.join([*left, *sampled])}; --thorough plays everything"


def _styled(text: str) -> Text:
    """A failure report with its first line highlighted."""
    first, _, rest = text.partition("\n")
    return Text(first, style="bold red").append("\n" + rest, style="default")
