"""The terminal output of ``looptck run``: progress, then a table by requirement, the causes and the counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING

import pytest
from rich.console import Console
from rich.text import Text

from looptck.failures.blocks import blocks, one_line
from looptck.report import traits
from looptck.report.progress import Progress
from looptck.report.table import STYLES, table
from looptck.suite.summary import causes_of, troubles, unexpected, unjudged
from looptck.values.verdicts import AGAINST, Result, counted

if TYPE_CHECKING:
    from looptck.failures.causes import Cause
    from looptck.suite.session import Session

BETWEEN_LINES = 15.0
"""Seconds between two progress lines if the output is not a terminal."""


class Terminal:
    """A pytest plugin that replaces pytest's own terminal output."""

    def __init__(self, console: Console, session: Session, *, quiet: bool = False) -> None:
        self._console = console
        self._session = session
        self._quiet = quiet
        self._status = console.status("starting") if console.is_terminal and not quiet else None
        self._last = -BETWEEN_LINES
        self._progress = Progress(session)
        self.broken: list[str] = []
        """Errors in looptck itself, outside the checks."""
        session.listeners.append(self._on_result)
        if self._status is not None:
            self._status.start()

    @pytest.hookimpl
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(str(report.longrepr))

    @pytest.hookimpl
    def pytest_internalerror(self, excrepr: object) -> None:
        self.broken.append(str(excrepr))

    def finish(self) -> None:
        """Print the report at the end of the run."""
        if self._status is not None:
            self._status.stop()
        for text in self.broken:
            self._console.print(Text(text, style="red"))
        session = self._session
        found = causes_of(session, [one for one in session.findings if not one.known])
        if session.chosen and (found or not self._quiet):
            self._console.print(table(session, brief=self._quiet or bool(found)))
        if not self._quiet and session.survey.answers:
            self._traits(brief=bool(found))
        self._causes(found)
        self._divergences(session)
        self._counts(session)

    def _traits(self, *, brief: bool) -> None:
        """Print the table of traits, or a short form if there are failures to read."""
        answers = self._session.survey.answers
        self._console.print()
        if not brief:
            self._console.print(traits.table(self._title(), answers))
            return
        self._console.print(f"{self._title()} (--trait NAME has details)", style="bold")
        for line in traits.brief(answers):
            self._console.print(line, markup=False, highlight=False)

    def _title(self) -> str:
        """The heading of the traits."""
        started = self._session.bench.started
        return f"{started.name} {started.version}: what the documents leave open; recorded, not judged"

    def _causes(self, found: Sequence[Cause]) -> None:
        """Print one line or one block per cause."""
        if not found:
            return
        judged = [one.cell for one in self._session.results if one.verdict != "not-applicable"]
        cells = list(dict.fromkeys(judged))
        if self._quiet:
            self._console.print()
            for cause in found:
                self._console.print(Text(one_line(cause, cells)), soft_wrap=True)
            return
        failures = sum(len(cause.findings) for cause in found)
        if len(found) > 1:
            self._console.print(f"\n{failures} failures, {len(found)} causes, the worst first", style="bold")
        for lines in blocks(found, cells):
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

    def _divergences(self, session: Session) -> None:
        answers: dict[str, list[str]] = defaultdict(list)
        for result in session.results:
            if result.verdict == "divergence":
                answers[result.reason].append(result.cell)
        if answers and not self._quiet:
            self._console.print("\ndivergences, recorded, not judged:", style="bold")
            for reason, where in answers.items():
                self._console.print(f"  {reason}  [dim]({len(set(where))} cells)[/]", highlight=False)

    def _counts(self, session: Session) -> None:
        self._console.print()
        for trouble in troubles(session):
            self._console.print(Text(trouble, style="bold red"), soft_wrap=True)
        if session.chosen and (left := unjudged(session)):
            message = f"no verdict for {left} of {len(session.chosen)} checks: the run was interrupted"
            self._console.print(Text(message, style="bold red"))
        if session.survey.answers:
            self._console.print(traits.counts(session.survey.answers), style="dim", highlight=False)
        line = Text()
        for verdict, count in counted(session.results).items():
            if count:
                line.append(f"{count} {verdict}", style=STYLES[verdict]).append("   ")
        unknown = len(unexpected(session))
        against = sum(result.verdict in AGAINST for result in session.results)
        known = f", {against} known failures" if against and not unknown else ""
        line.append(f"({len(session.chosen)} checks{known})", style="dim")
        if session.chosen or not session.survey.answers:
            self._console.print(line)


def _styled(text: str) -> Text:
    """A failure report with its first line highlighted."""
    first, _, rest = text.partition("\n")
    return Text(first, style="bold red").append("\n" + rest, style="default")
