"""Runs the suite on every strange loop with a fault, and counts where the report finds and names it: ``tox -e naming``.

This is no test: CI plays to these loops only what proves something, and this plays to each what a person would. A line
is printed for each fault that is not named by the first line of the report.

The exit status is 0 if each fault is found, 1 if one is not, 2 if a run has no results or nothing was selected.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import click

from tools.naming.hearing import Heard, heard
from tools.naming.strange import Fault, faults


@click.command(help=(__doc__ or "").partition("\n\n")[0])
@click.argument("names", nargs=-1)
@click.option("--every", default=1, show_default=True, type=click.IntRange(1), help="Only each Nth of them.")
@click.option("--workers", default=2, show_default=True, type=click.IntRange(1), help="Runs at the same time.")
@click.option("--seconds", default=300.0, show_default=True, help="What one run may take.")
def main(names: tuple[str, ...], every: int, workers: int, seconds: float) -> None:
    """Play the faults whose names match one of the patterns; all, where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = [one for one in faults(Path(folder)) if not names or any(fnmatch(one.name, name) for name in names)]
        every_nth = chosen[::every]
        if not every_nth:
            click.echo("no fault has such a name", err=True)
            sys.exit(2)
        told = []
        for one in _each(every_nth, workers, seconds):
            told.append(one)
            if line := _line(one):
                click.echo(line)
    click.echo(_counts(told))
    sys.exit(2 if any(one.trouble for one in told) else 0 if all(one.is_found for one in told) else 1)


def _each(chosen: Sequence[Fault], workers: int, seconds: float) -> Iterator[Heard]:
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(partial(heard, seconds=seconds), chosen)


def _line(one: Heard) -> str:
    """What is wrong with the report; empty if nothing is."""
    if one.trouble:
        return f"{one.fault.name}: no results: {one.trouble}"
    if one.is_named:
        return ""
    rows = ", ".join(sorted(one.fault.rows))
    if not one.causes:
        return f"{one.fault.name}: nothing counts against it; {rows} should"
    state = "not found" if not one.is_found else f"cause {one.place}" if one.place else "named by no cause"
    row, because = one.causes[0]
    return f"{one.fault.name}: {rows}: {state}; the first is {row}: {because}"


def _counts(told: Sequence[Heard]) -> str:
    played = [one for one in told if not one.trouble]
    found, named = sum(one.is_found for one in played), sum(one.is_named for one in played)
    return f"faults played: {len(played)}; found: {found}; named by the first line: {named}"


if __name__ == "__main__":
    main()
