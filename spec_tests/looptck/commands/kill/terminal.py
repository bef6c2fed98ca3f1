"""The terminal output of ``looptck kill``: progress, then requirements, complaints and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic

from rich.console import Console
from rich.table import Table
from rich.text import Text

from looptck.commands.kill.columns import Column, State
from looptck.commands.kill.matrix import Matrix, Row
from looptck.values.plain import amount

ALL = (
    "bold: a mutant that fails only this requirement; collateral: the number of other mutants that fail it; "
    "cases: the number of its cases that some mutant fails"
)
OWN = (
    "each mutant was judged only by the checks of what it breaks, each requirement until one failed; its collateral "
    "failures are unknown, and so are the cases that it fails"
)
BETWEEN_LINES = 5.0
"""Seconds between two progress lines if the output is not a terminal."""
STYLES = {State.KILLED: "green", State.BY_OTHERS: "bold red", State.SURVIVED: "bold red", State.BROKEN: "bold magenta"}


class Terminal:
    """Prints the progress of a matrix, and its report at the end."""

    def __init__(self, console: Console, mutants: int, *, quiet: bool) -> None:
        self._console = console
        self._mutants = mutants
        self._quiet = quiet
        self._status = console.status("running the suite on the loop without a fault") if self._overwrites else None
        self._last = monotonic()
        if self._status is not None:
            self._status.start()

    def on_column(self, columns: Sequence[Column]) -> None:
        """Show that another mutant, the last of these, has been judged."""
        column = columns[-1]
        line = f"{len(columns)} of {amount(self._mutants, 'mutant')}: {column.mutant.name} {column.state}"
        if self._status is not None:
            self._status.update(Text(line))
        elif not self._quiet and monotonic() - self._last >= BETWEEN_LINES:
            self._last = monotonic()
            self._console.print(line, style="dim", markup=False, highlight=False)

    def finish(self, matrix: Matrix, seconds: float) -> None:
        """Print the report; the last line has the counts."""
        self.close()
        if not self._quiet:
            self._console.print(_mutants(matrix) if not matrix.requirements else _requirements(matrix))
            self._console.print()
        for complaint in matrix.complaints:
            self._console.print(Text(complaint, style="bold red"), soft_wrap=True)
        if matrix.idle:
            line = f"idle, since other mutants fail the same requirements and cases: {', '.join(matrix.idle)}"
            self._console.print(Text(line, style="yellow"), soft_wrap=True)
        self._console.print(_counts(matrix, seconds), soft_wrap=True)

    def close(self) -> None:
        """Stop showing the progress."""
        if self._status is not None:
            self._status.stop()

    @property
    def _overwrites(self) -> bool:
        return self._console.is_terminal and not self._quiet


def _requirements(matrix: Matrix) -> Table:
    """A row for each requirement, with the mutants that prove it can fail."""
    shown = _table("requirement", "killed by", "collateral", "cases")
    profile = ""
    for row in matrix.rows:
        if row.requirement.profile != profile:
            profile = row.requirement.profile
            shown.add_row(Text(profile, style="bold underline"))
        killers = Text(", ").join(
            Text(name, style="bold green" if name in row.alone else "green") for name in row.killers
        )
        none = Text(row.requirement.no_mutant or "nothing", style="dim" if row.requirement.no_mutant else "bold red")
        others = Text(str(len(row.others) or ""), "dim")
        shown.add_row(row.requirement.id, killers if row.killers else none, others, _cases(row))
    shown.caption = OWN if matrix.made.own else ALL
    shown.caption_justify = "left"
    return shown


def _cases(row: Row) -> Text:
    """The number of cases that at least one mutant fails."""
    if row.requirement.no_mutant or not row.cases:
        return Text("")
    proven = f"{len(row.cases) - len(row.unproven)} of {len(row.cases)}"
    return Text(proven, "yellow") if row.unproven else Text(str(len(row.cases)), "dim")


def _mutants(matrix: Matrix) -> Table:
    """A row for each mutant, with the requirements that it fails."""
    shown = _table("mutant", "", "requirements")
    for column in matrix.columns:
        seen = Text("\n").join(
            [
                *(
                    Text(f"{id}: failed, as expected", style="green")
                    for id in column.mutant.breaks
                    if id in column.failed
                ),
                *(
                    Text(f"{id}: {why}", style="dim")
                    for id, why in column.mutant.collateral.items()
                    if id in column.failed
                ),
                *(Text(f"{id}: not reached", style="dim") for id in sorted(column.hidden)),
            ]
        )
        shown.add_row(column.mutant.name, Text(str(column.state), style=STYLES[column.state]), seen)
    return shown


def _table(*headers: str) -> Table:
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for name in headers:
        shown.add_column(name)
    return shown


def _counts(matrix: Matrix, seconds: float) -> Text:
    counts = matrix.counted()
    line = Text()
    for state in State:
        if counts[state] or state is State.KILLED or state is State.SURVIVED:
            line.append(f"{counts[state]} {state}", style=STYLES[state] if counts[state] else "dim").append("   ")
    line.append(f"{counts['noisy']} noisy", style="bold red" if counts["noisy"] else "dim").append("   ")
    if matrix.requirements and not matrix.made.own:
        line.append(f"{counts['idle']} idle", style="yellow" if counts["idle"] else "dim").append("   ")
    about = amount(len(matrix.columns), "mutant")
    if matrix.requirements:
        killed = f"{counts['requirements killed']} of {counts['requirements']} requirements"
        without = f"{counts['requirements without a mutant']} without one"
        about += (
            f"; {killed}, {without}" if matrix.made.own else f"; {killed}, {_alone(counts)}, {without}{_proven(counts)}"
        )
    if matrix.made.own:
        about += "; each judged only by the checks of what it breaks, until one fails"
    return line.append(f"({about}; {seconds:.0f} s)", style="dim")


def _alone(counts: Mapping[str, int]) -> str:
    return f"{counts['requirements killed alone']} of them alone"


def _proven(counts: Mapping[str, int]) -> str:
    return f"; {counts['cases'] - counts['cases without a mutant']} of {counts['cases']} cases"
