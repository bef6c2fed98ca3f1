"""Generic mutants of the reference, and mutants of the judge's rules: ``tox -e mutation``. Nothing here is a test.

``reference``: each comparison flipped, each condition negated, each return dropped and so on; the suite has to notice,
or the reference's unit tests. ``judge``: each rule dropped; the judge's tests have to notice.

The exit status is 0 if nothing survives but what the reviewed list explains, 1 for findings, 2 if it could not run.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic

import click

from looptck.suite.options import CouldNotRun
from tools.mutation import judge as judges
from tools.mutation import reference as references
from tools.mutation.equivalents import equivalents
from tools.mutation.judge import Rule
from tools.mutation.sites import Site
from tools.mutation.telling import Report
from tools.mutation.trials import Kill, Mutant, Trial, trials

PROVEN, FINDINGS, COULD_NOT_RUN = 0, 1, 2
BETWEEN_LINES = 20.0
"""Seconds between two lines of progress."""


@click.command(help=(__doc__ or "").partition("\n\n")[0])
@click.argument("what", type=click.Choice(["reference", "judge"]))
@click.option("--module", "modules", multiple=True, metavar="PATH", help="Of the reference: only loop.py, for example.")
@click.option("--cell", "cells", multiple=True, metavar="CELL", help="Of the suite: only these cells.")
@click.option("--site", "text", default="", metavar="TEXT", help="Only mutants whose names hold this.")
@click.option("--kept", type=click.Path(path_type=Path), help="Keep in this file which check executes which line.")
@click.option("--workers", default=min(2, os.cpu_count() or 1), show_default=True, help="Mutants at the same time.")
@click.option("--seconds", default=60.0, show_default=True, help="What one mutant may take.")
@click.option("--json", "file", type=click.Path(path_type=Path), help="Write what became of each mutant to this file.")
def main(
    what: str,
    modules: tuple[str, ...],
    cells: tuple[str, ...],
    text: str,
    workers: int,
    seconds: float,
    kept: Path | None,
    file: Path | None,
) -> None:
    """Try the mutants and print what became of them."""
    with tempfile.TemporaryDirectory(prefix="looptck-mutation-") as folder:
        tempfile.tempdir = folder  # a mutant that is ended leaves its files behind
        try:
            report: Report[Site] | Report[Rule]
            if what == "reference":
                report = _reference(modules, cells, text, kept, workers, seconds)
            else:
                report = _judge(text, workers, seconds)
        except CouldNotRun as error:
            click.echo(f"could not run: {error}", err=True)
            sys.exit(COULD_NOT_RUN)
        finally:
            tempfile.tempdir = None
    for line in report.lines():
        click.echo(line)
    if file:
        file.write_text(json.dumps(report.serializable(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.exit(COULD_NOT_RUN if report.troubles else FINDINGS if report.survivors or report.stale else PROVEN)


def _reference(
    modules: Sequence[str], cells: tuple[str, ...], text: str, kept: Path | None, workers: int, seconds: float
) -> Report[Site]:
    listed = equivalents(site.name for site in references.every_site())
    sites = references.every_site(modules, text)
    examiner = references.Reference.learnt(cells, kept)
    tried = _tried(examiner.examine, sites, listed, workers, seconds)
    return Report(tried, listed, references.shown, len(sites) - len(tried))


def _judge(text: str, workers: int, seconds: float) -> Report[Rule]:
    listed = equivalents((rule.name for rule in judges.every_rule()), judges.LIST)
    rules = judges.every_rule(text)
    tried = _tried(judges.examine, rules, listed, workers, seconds)
    return Report(tried, listed, judges.shown, len(rules) - len(tried))


def _tried(
    examine: Callable[[Mutant], Kill | None],
    mutants: Sequence[Mutant],
    listed: Container[str],
    workers: int,
    seconds: float,
) -> list[Trial[Mutant]]:
    """What became of all mutants, in their order; a line for each that survives, and one of progress now and then.

    Ctrl-C ends it with the mutants that were tried until then.
    """
    tried: dict[str, Trial[Mutant]] = {}
    told = monotonic()
    with suppress(KeyboardInterrupt):
        for trial in trials(examine, mutants, workers=workers, seconds=seconds):
            tried[trial.mutant.name] = trial
            if trial.kill is None and trial.mutant.name not in listed:
                click.echo(f"not killed: {trial.mutant.name}", err=True)
            if monotonic() - told >= BETWEEN_LINES:
                told = monotonic()
                alive = sum(one.kill is None for one in tried.values())
                click.echo(f"{len(tried)} of {len(mutants)} mutants; {alive} were not killed", err=True)
    return [tried[mutant.name] for mutant in mutants if mutant.name in tried]


if __name__ == "__main__":
    main()
