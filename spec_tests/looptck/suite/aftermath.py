"""What comes to light once a run has been judged: faults of its driver, and requests that came too late."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from looptck.bench.checks import Check
from looptck.bench.run import Run
from looptck.bench.standing import LATE, came_late, may_come_late
from looptck.drivers import DriverFault
from looptck.failures.failure import again
from looptck.failures.groups import Finding
from looptck.provider.server import Late
from looptck.suite.record import Record
from looptck.values.cell import Cell
from looptck.values.verdicts import Result

SEEN_BY_THE_SERVICE = frozenset(
    {
        "cancelled-run-asks-no-more",
        "cancelled-run-cancels-its-subagents",
        "cancelled-run-starts-no-tool",
        "cancelled-stream-is-closed",
    }
)
"""What comes after a cancel is the loop's doing, whenever its driver has ended the run."""


@dataclass
class Aftermath:
    """Which results were read from a run, and what becomes of them."""

    record: Record
    _by_run: dict[str, list[Result]] = field(default_factory=lambda: defaultdict(list))
    """Results by the id of the run that they were read from."""

    def read_from(self, result: Result, runs: Iterable[Run]) -> None:
        """A result was read from these runs."""
        for run in runs:
            self._by_run[run.id].append(result)

    def spoil(self, fault: DriverFault) -> None:
        """Turn the verdicts of a run into errors, since its driver was at fault after its end.

        A failure by what the service has seen of a cancelled run stays one.
        """
        for result in self._by_run.get(fault.run or "", []):
            if result.verdict == "fail" and result.requirement in SEEN_BY_THE_SERVICE:
                continue
            if result.verdict != "error":
                result.verdict, result.reason = "error", _spoiled(result, fault)
            if all(one.result is not result for one in self.record.findings):
                self._find(result, result.requirement, fault.run or "")

    def come_late(self, late: Iterable[Late], behind: int) -> None:
        """Add a failure for each run of which requests came when it was over.

        ``behind``: the place of the last check of the run, behind which these failures come.
        """
        for one in {one.run: one for one in reversed([*late])}.values():
            for result in self._by_run.get(one.run, [])[:1]:
                if not may_come_late(result.profile, one):
                    self._come_late(one, result, behind)

    def _come_late(self, late: Late, result: Result, behind: int) -> None:
        found = self.record.catalogue[LATE].result(result.cell, result.case, "fail", came_late(late))
        found.place = behind + result.place
        self._find(found, result.requirement, late.run)
        self.record.add(found, noticed=True)

    def _find(self, result: Result, played: str, run: str) -> None:
        """The details of a result; ``played`` is the requirement whose check the command in the report repeats."""
        check = Check(self.record.catalogue[played], Cell.parse(result.cell), result.case)
        line = again(self.record.driver, check, self.record.given)
        self.record.findings.append(Finding(result, runs=(run,), again=line))


def _spoiled(result: Result, fault: DriverFault) -> str:
    """The fault that came to light after the run of a result, and what the run itself has shown to be wrong."""
    first, *rest = str(fault).split("\n")
    if result.verdict in {"fail", "not-reached"}:
        first = f"{first}; the run itself: {result.verdict}, {result.reason}"
    return "\n".join([first, *rest])
