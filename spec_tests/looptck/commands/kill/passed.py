"""What the loop without a fault has passed in an earlier run, and so need not be played again."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from looptck.bench.bench import Bench
from looptck.catalogue.content import content
from looptck.catalogue.yaml_files import BadFile
from looptck.commands.kill.plan import Planned
from looptck.report.results import Results, read
from looptck.suite.options import CouldNotRun
from looptck.values.verdicts import Result

Names = tuple[str, str, str]
"""The names of a check's requirement, cell and case."""
OTHERWISE = frozenset({"--dialect", "--cassettes"})
"""Options with which a run plays something else under the same names."""


def passed(files: Iterable[Path], bench: Bench) -> set[Names]:
    """The checks that the loop without a fault has passed, as the results of earlier runs say.

    Args:
        files: what ``looptck run --json`` wrote.
        bench: the loop without a fault.

    Raises:
        CouldNotRun: a file is not one of results, or is one of another loop or of another looptck.
    """
    try:
        return {names for path in files for names in _of(_own(read(path), bench))}
    except BadFile as error:
        raise CouldNotRun(str(error)) from error


def left(planned: Iterable[Planned], passed: Collection[Names]) -> list[Planned]:
    """The checks that have still to be played."""
    return [one for one in planned if one.check.names not in passed]


def _own(results: Results, bench: Bench) -> Results:
    """The results, if they are of this loop and of this looptck."""
    if results.driver != bench.driver or results.implementation != bench.started.serializable():
        raise CouldNotRun(f"{results.path} has the results of {results.name}, run as {results.driver}; another loop")
    other = [word for word in (results.selection or {}).get("options", ()) if word in OTHERWISE]
    if other:
        raise CouldNotRun(f"{results.path} has the results of a run with {other[0]}; mutants are judged without it")
    if results.content != content():
        raise CouldNotRun(f"{results.path} was written by another looptck; run the loop without a fault once more")
    return results


def _of(results: Results) -> set[Names]:
    """What has passed and has not also failed: what is noticed beside a check has the check's names."""
    return {_names(one) for one in results.results if one.verdict == "pass"} - {
        _names(one) for one in results.results if one.verdict not in {"pass", "divergence"}
    }


def _names(one: Result) -> Names:
    return one.requirement, one.cell, one.case
