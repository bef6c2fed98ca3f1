"""Mutants of a loop from outside: each is played by an installed kit as a person would: ``tox -e outside``. No test.

DRIVER is the driver of a loop that passes the common run. Statements of the loop's modules are changed one at a time,
where that run reaches them. What survives is what the kit does not see in a loop that it has not met.

The exit status is 0 if nothing survives, 1 if something does, 2 if the loop cannot be played or fails as it is.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import click

from looptck.suite.options import CouldNotRun
from tools.outside.fates import NOT_PLAYED, SURVIVED, Kept, counts, fate, lines
from tools.outside.loop import Loop, Mutant, sample
from tools.outside.marking import MARK, MARKER, marked, reached
from tools.outside.playing import Heard, Kit

PROVEN, FINDINGS, COULD_NOT_RUN = 0, 1, 2


@click.command(help=(__doc__ or "").partition("\n\nThe exit")[0])
@click.argument("driver", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--module", "modules", multiple=True, metavar="PATH", help="Of the loop: only loop.py, for example.")
@click.option("--count", type=click.IntRange(1), help="Only so many mutants, chosen at random.")
@click.option("--seed", default=1, show_default=True, help="Chooses them.")
@click.option("--site", "text", default="", metavar="TEXT", help="Only mutants whose names hold this.")
@click.option("--again", is_flag=True, help="Play again what has survived, or was not played.")
@click.option("--kit", type=click.Path(exists=True, path_type=Path), help="The looptck command of another environment.")
@click.option("--option", "more", multiple=True, metavar="WORD", help="A further word of `looptck run`.")
@click.option("--workers", default=min(2, os.cpu_count() or 1), show_default=True, type=click.IntRange(1))
@click.option("--seconds", default=150.0, show_default=True, help="What one run may take.")
@click.option("--json", "file", default="mutants.json", show_default=True, type=click.Path(path_type=Path))
def main(
    driver: Path,
    modules: tuple[str, ...],
    count: int | None,
    seed: int,
    text: str,
    again: bool,
    kit: Path | None,
    more: tuple[str, ...],
    workers: int,
    seconds: float,
    file: Path,
) -> None:
    """Play the mutants, print what became of each, and keep it in the file, from which another run goes on."""
    command = [str(kit.absolute())] if kit else [sys.executable, "-m", "looptck.cli"]
    playing = Kit(command, seconds, more)
    try:
        loop = Loop.beside(driver.absolute(), modules)
        kept = Kept.of(file, loop.digest)
        if not kept.reached:
            kept.reached = _reached(loop, playing)
            kept.write()
    except CouldNotRun as error:
        click.echo(f"could not run: {error}", err=True)
        sys.exit(COULD_NOT_RUN)
    found = list(loop.mutants({module: set(numbers) for module, numbers in kept.reached.items()}))
    chosen = sample([one for one in found if text in one.name], count, seed)
    if not chosen:
        click.echo("could not run: nothing was selected", err=True)
        sys.exit(COULD_NOT_RUN)
    old = [] if not again else [one for one in kept.fates.values() if one["fate"] in (SURVIVED, NOT_PLAYED)]
    over = {one["digest"] for one in old}
    left = [one for one in chosen if one.digest not in kept.fates or one.digest in over]
    for one in _played(left, loop, playing, workers):
        kept.add(one)
        for line in lines(one):
            click.echo(line)
    told = counts([kept.fates[one.digest] for one in chosen])
    click.echo(f"{len(found)} mutants on reached lines; " + ", ".join(f"{n} {what}" for what, n in told.items()))
    sys.exit(FINDINGS if told[SURVIVED] else PROVEN)


def _reached(loop: Loop, kit: Kit) -> dict[str, list[int]]:
    """The lines by module that the common run reaches.

    Raises:
        CouldNotRun: the loop does not pass it.
    """
    with tempfile.TemporaryDirectory(prefix="looptck-outside-") as folder:
        copy = Path(folder, "loop")
        changed = {module: marked(module, source) for module, source in loop.modules.items()}
        heard = kit.heard(loop, {**changed, f"{MARK}.py": MARKER}, copy)
        if heard.trouble:
            raise CouldNotRun(heard.trouble)
        if heard.rows:
            raise CouldNotRun(f"the loop as it is fails {': '.join(heard.causes[0])}")
        return {module: sorted(numbers) for module, numbers in reached(copy).items()}


def _played(mutants: Sequence[Mutant], loop: Loop, kit: Kit, workers: int) -> Iterator[dict[str, Any]]:
    """What became of each, in the order in which they end; Ctrl-C ends it with those that are played by then.

    The threads only play: CPython 3.11 may fail to parse in one thread while another one does.
    """

    def play(mutant: Mutant) -> tuple[Mutant, Heard]:
        with tempfile.TemporaryDirectory(prefix="looptck-outside-") as folder:
            return mutant, kit.heard(loop, {mutant.module: mutant.source}, Path(folder, "loop"))

    pool = ThreadPoolExecutor(workers)
    try:
        for done in as_completed([pool.submit(play, mutant) for mutant in mutants]):
            yield fate(*done.result())
    finally:
        pool.shutdown(cancel_futures=True)


if __name__ == "__main__":
    main()
