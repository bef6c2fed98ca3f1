"""Coverage: which statements of the documents a run has tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from looptck.catalogue.requirements import Profile, Requirement, catalogue
from looptck.catalogue.yaml_files import BadFile
from looptck.commands.pytest_run import run_pytest
from looptck.drivers import reference
from looptck.report.console import could_not_run, output_console
from looptck.report.results import read
from looptck.suite.options import CouldNotRun, Options
from looptck.suite.session import Session
from looptck.suite.summary import kit_version
from looptck.values.frozen import dataclass
from looptck.values.verdicts import Result, Verdict

DECIDED: frozenset[Verdict] = frozenset({"pass", "fail"})
"""The verdicts of a tested statement: its deciding event happened."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The statements of one profile, grouped by what a run did with them."""

    profile: Profile
    tested: tuple[Requirement, ...]
    excluded: tuple[Requirement, ...]
    inapplicable: dict[Requirement, str]
    """Statements whose checks were all not applicable to this implementation, each with the reason."""
    untested: tuple[Requirement, ...]

    @property
    def lacking(self) -> bool:
        """Whether the profile is declared finished and has untested statements."""
        return self.profile.finished and bool(self.untested)


def coverage_of(profile: Profile, results: Sequence[Result]) -> Coverage:
    """Group a profile's statements by the results of a run."""
    decided = {result.requirement for result in results if result.verdict in DECIDED}
    waived = {result.requirement: result.reason for result in results if result.verdict == "not-applicable"}
    rows = [row for row in profile.requirements if row.excluded is None]
    inapplicable = {row: waived[row.id] for row in rows if row.id in waived and row.id not in decided}
    return Coverage(
        profile,
        tested=tuple(row for row in rows if row.id in decided),
        excluded=tuple(row for row in profile.requirements if row.excluded is not None),
        inapplicable=inapplicable,
        untested=tuple(row for row in rows if row.id not in decided and row not in inapplicable),
    )


def cover(options: Options) -> int:
    """Run the suite and print the coverage of each chosen profile; exit status 0, 1 (untested statements) or 2.

    Without a driver, each profile is run on the reference that claims it.
    """
    console = output_console()
    results: list[Result] = []
    try:
        profiles = catalogue().named(options.selection.profiles)
        for one in _by_driver(options):
            session = Session.begin(replace(one, asks=False))
            run_pytest(session)
            results += session.record.results
    except (CouldNotRun, ValueError) as error:
        return could_not_run(console, str(error))
    return _report(console, results, profiles)


def _by_driver(options: Options) -> list[Options]:
    if options.driver:
        return [options]
    profiles: dict[str, list[str]] = {}
    for profile in catalogue().named(options.selection.profiles):
        profiles.setdefault(reference([profile.name]), []).append(profile.name)
    return [
        replace(options, driver=driver, selection=replace(options.selection, profiles=tuple(names)))
        for driver, names in profiles.items()
    ]


def cover_results(paths: Sequence[Path], names: Sequence[str]) -> int:
    """Print the coverage of earlier runs from their result files; exit statuses as in `cover`."""
    console = output_console()
    try:
        profiles = catalogue().named(names)
        runs = [read(path) for path in paths]
    except (BadFile, ValueError) as error:
        return could_not_run(console, str(error))
    for warning in (run.other_kit(kit_version()) for run in runs):
        if warning is not None:
            console.print(warning, style="yellow", markup=False, soft_wrap=True)
    results = [result for run in runs for result in run.results]
    return _report(console, results, profiles)


def _report(console: Console, results: Sequence[Result], profiles: Sequence[Profile]) -> int:
    if not results:
        return could_not_run(console, "no check ran, so no statement is covered")
    found = [coverage_of(profile, results) for profile in profiles]
    _print(console, found)
    return 1 if any(one.lacking for one in found) else 0


def _print(console: Console, found: list[Coverage]) -> None:
    counts = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("profile", "statements", "tested", "excluded", "not applicable", "untested", ""):
        counts.add_column(name, justify="left" if name in {"profile", ""} else "right")
    for one in found:
        sorts = (one.profile.requirements, one.tested, one.excluded, one.inapplicable, one.untested)
        state = "incomplete" if one.untested else "complete" if one.profile.finished else "not finished yet"
        counts.add_row(one.profile.name, *(str(len(rows)) for rows in sorts), state)
    console.print(counts)
    for one in found:
        for word, rows in (
            ("excluded", one.excluded),
            ("not applicable", one.inapplicable),
            ("untested", one.untested),
        ):
            for row in rows:
                style = "bold red" if word == "untested" and one.lacking else "dim"
                reason = f": {row.excluded or one.inapplicable.get(row) or row.source}"
                console.print(Text(f"{word}  {row.id}{reason}", style=style), soft_wrap=True)
