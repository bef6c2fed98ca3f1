"""Runs the reference and the judge on real traffic: ``tox -e corpus -- PATH…``. This is not a test.

Each path is a file of records or a folder of them (``records``). Every reply is decoded by the reference and read by
the kit, and both have to understand the same; every request is judged; and the request that the reference would send
next is judged too. What was not read, and what was refused, is counted by its reason.

The exit status is 0 if every line could be judged, 1 if there was one that could not, 2 for a path without records.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from tools.corpus import judged
from tools.corpus.records import BadLine, Record, Skipped, files, records
from tools.corpus.tally import Tally


@click.command(help=(__doc__ or "").partition("\n\n")[0])
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--examples", default=0, help="Number of records to name for each reason. Default: 0.")
def main(paths: tuple[Path, ...], examples: int) -> None:
    """Judge a corpus and print the counts."""
    try:
        named = files(paths)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    tally = Tally(examples)
    bad = 0
    for path in named:
        for bad_line in _bad_lines(path, tally):
            click.echo(f"{path}:{bad_line.line}: {bad_line.why}", err=True)
            bad += 1
    for row in tally.lines():
        click.echo(row)
    if bad:
        click.echo(f"{bad} lines could not be judged", err=True)
    sys.exit(1 if bad else 0)


def _bad_lines(path: Path, tally: Tally) -> Iterator[BadLine]:
    """Judge the records of a file; yield the lines that cannot be judged."""
    for record in records(path):
        match record:
            case BadLine():
                yield record
            case Skipped(api):
                tally.skipped[api] += 1
            case Record():
                try:
                    judged.judge(record, tally)
                except Exception as error:  # noqa: BLE001  one record must not end the run
                    yield BadLine(record.line, f"crashes looptck: {error!r}")


if __name__ == "__main__":
    main()
