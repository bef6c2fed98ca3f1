"""The terminal of ``looptck run``: progress while it runs, then a table by requirement, the failures and the counts."""

from __future__ import annotations

from collections import defaultdict
from time import monotonic
from typing import TYPE_CHECKING

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from looptck.verdicts import AGAINST, Result, Verdict, counted, worst

if TYPE_CHECKING:
    from looptck.session import Session

STYLES: dict[Verdict, str] = {
    "pass": "green",
    "fail": "bold red",
    "not-reached": "red",
    "not-applicable": "dim",
    "error": "bold magenta",
    "divergence": "cyan",
}
BETWEEN_LINES = 5.0
"""Seconds between two lines of progress where no line can be overwritten."""


class Terminal:
    """A pytest plugin in the place of pytest's own terminal."""

    def __init__(self, console: Console, session: Session, *, quiet: bool = False) -> None:
        self._console = console
        self._session = session
        self._quiet = quiet
        self._status = console.status("starting") if console.is_terminal and not quiet else None
        self._last = -BETWEEN_LINES
        self.broken: list[str] = []
        """What went wrong in the kit itself, before or beside the checks."""
        session.listeners.append(self._heard)
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
        """Print everything that is to be read at the end."""
        if self._status is not None:
            self._status.stop()
        for text in self.broken:
            self._console.print(Text(text, style="red"))
        session = self._session
        if not self._quiet:
            self._table(session)
        for text in session.failures:
            self._console.print()
            self._console.print(_styled(text), soft_wrap=True)
        self._divergences(session)
        self._counts(session)

    def _heard(self, result: Result) -> None:
        session = self._session
        now = monotonic()
        if self._status is None and now - self._last < BETWEEN_LINES:
            return
        self._last = now
        done = sum(one.verdict != "divergence" for one in session.results)
        against = sum(one.verdict in AGAINST for one in session.results)
        line = f"{done} of {len(session.chosen)} checks, {against} against: {result.requirement} [{result.cell}]"
        if self._status is not None:
            self._status.update(Text(line))
        elif not self._quiet:
            self._console.print(line, style="dim", markup=False, highlight=False)

    def _table(self, session: Session) -> None:
        rows: dict[str, dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
        for result in session.results:
            if result.verdict != "divergence":
                rows[result.requirement][result.cell].append(result)
        started = session.kit.started
        title = f"{started.name} {started.version} ({started.language})"
        table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
        table.add_column("requirement", no_wrap=True)
        table.add_column("level")
        cells = [cell for cell in session.cells() if any(str(cell) in by_cell for by_cell in rows.values())]
        for cell in cells:
            table.add_column(str(cell).replace("/", "\n"), no_wrap=True)
        profile = ""
        for row in session.catalogue:
            if row.id not in rows:
                continue
            if row.profile != profile:
                profile = row.profile
                table.add_row(Text(profile, style="bold underline"))
            words = (_verdict(rows[row.id].get(str(cell), []), session.is_known(row.id, cell)) for cell in cells)
            table.add_row(row.id, row.level, *words)
        self._console.print(table)

    def _divergences(self, session: Session) -> None:
        answers: dict[str, list[str]] = defaultdict(list)
        for result in session.results:
            if result.verdict == "divergence":
                answers[result.reason].append(result.cell)
        if answers and not self._quiet:
            self._console.print("\ndivergences, recorded and not judged:", style="bold")
            for reason, where in answers.items():
                self._console.print(f"  {reason}  [dim]({len(set(where))} cells)[/]", highlight=False)

    def _counts(self, session: Session) -> None:
        self._console.print()
        for trouble in session.troubles:
            self._console.print(Text(trouble, style="bold red"), soft_wrap=True)
        if session.chosen and session.unjudged:
            told = f"no verdict for {session.unjudged} of {len(session.chosen)} checks: the run was cut short"
            self._console.print(Text(told, style="bold red"))
        line = Text()
        for verdict, count in counted(session.results).items():
            if count:
                line.append(f"{count} {verdict}", style=STYLES[verdict]).append("   ")
        unknown = len(session.unexpected)
        against = sum(result.verdict in AGAINST for result in session.results)
        known = f", {against} known failures" if against and not unknown else ""
        line.append(f"({len(session.chosen)} checks{known})", style="dim")
        self._console.print(line)


def _verdict(results: list[Result], known: bool) -> Text:
    """One cell of the table: the worst verdict of its cases, and how many of them have it where not all do."""
    if not results:
        return Text("·", style="dim")
    verdict = worst(results)
    share = sum(result.verdict == verdict for result in results)
    word = "n/a" if verdict == "not-applicable" else verdict
    several = f" {share}/{len(results)}" if verdict in AGAINST and len(results) > 1 else ""
    if known and verdict in AGAINST:
        return Text(f"{word}{several} known", style="yellow")
    return Text(word + several, style=STYLES[verdict])


def _styled(text: str) -> Text:
    """A failure's text with its first line marked."""
    first, _, rest = text.partition("\n")
    return Text(first, style="bold red").append("\n" + rest, style="default")
