"""Options that several commands have, and how a command ends."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

if TYPE_CHECKING:
    from looptck.suite.options import Options
    from looptck.suite.units import Shard

Function = TypeVar("Function", bound=Callable[..., Any])

EXIT = """
Exit status: 0 clean, 1 findings, 2 could not run.
"""


class Trouble(click.ClickException):
    """The command cannot run; the message is the reason."""

    exit_code = 2


class Seconds(click.FloatRange):
    """A time of more than nothing; a run that waits no time would call any loop a hung one."""

    name = "seconds"

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number of seconds. Fails where it is none, also for NaN, which is in no range and out of none."""
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value!r} is not a number of seconds.", param, ctx)
        return seconds


def one_driver(ctx: click.Context, param: click.Parameter, drivers: tuple[str, ...]) -> str | None:
    """The driver that is named; None: none is. Raises click.UsageError where there are several."""
    if len(drivers) > 1:
        raise click.UsageError("--driver is given more than once: run each driver by itself, then looptck compare")
    if drivers and not drivers[0].strip():
        raise click.UsageError("--driver is empty, as an unset variable is; without --driver the reference is tested")
    return drivers[0] if drivers else None


def options(*names: str) -> Callable[[Function], Function]:
    """Decorate a command with the options of these names, in order."""

    def decorate(command: Function) -> Function:
        for name in reversed(names):
            command = OPTIONS[name](command)
        return command

    return decorate


OPTIONS: dict[str, Callable[[Any], Any]] = {
    "driver": click.option(
        "--driver",
        metavar="DRIVER",
        multiple=True,
        callback=one_driver,
        help="The implementation under test: python:MODULE:NAME, python:FILE.py:NAME, cmd:COMMAND, server:FILE or "
        "program:FILE.  "
        "[default: the reference]",
    ),
    "profile": click.option("--profile", multiple=True, metavar="NAME", help="Only this profile. May be repeated."),
    "requirement": click.option(
        "--requirement", multiple=True, metavar="ID", help="Only this requirement; * is a wildcard. May be repeated."
    ),
    "cell": click.option(
        "--cell",
        multiple=True,
        metavar="CELL",
        help="Only these cells, such as openai-chat/stream/sync; * is a wildcard. May be repeated.",
    ),
    "case": click.option(
        "--case", "cases", multiple=True, metavar="CASE", help="Only this case; * is a wildcard. May be repeated."
    ),
    "trait": click.option(
        "--trait",
        "traits",
        multiple=True,
        metavar="ID",
        help="Only this trait, and only the requirements named with --requirement. May be repeated.",
    ),
    "level": click.option(
        "--level",
        type=click.Choice(["MUST", "SHOULD", "MAY"], case_sensitive=False),
        default="MAY",
        help="Only requirements of this level or a higher one.",
    ),
    "known-failures": click.option(
        "--known-failures",
        type=click.Path(dir_okay=False, path_type=Path),
        help="YAML file of known failures; a stale entry fails the run.",
    ),
    "cassettes": click.option(
        "--cassettes",
        type=click.Path(file_okay=False, path_type=Path),
        help="Play the cassettes in this folder instead of those shipped with looptck.",
    ),
    "json": click.option(
        "--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write the results as JSON."
    ),
    "junit": click.option(
        "--junit", type=click.Path(dir_okay=False, path_type=Path), help="Write the results as JUnit XML."
    ),
    "trace": click.option(
        "--trace",
        metavar="DIR",
        type=click.Path(file_okay=False, path_type=Path),
        help="Write the requests, replies and tool runs of each failed run to files below DIR.",
    ),
    "timeout": click.option(
        "--timeout",
        type=Seconds(),
        default=20.0,
        show_default=True,
        help="Seconds without an event after which a run has hung.",
    ),
    "patience": click.option(
        "--patience",
        type=Seconds(),
        default=5.0,
        show_default=True,
        help="Seconds that a gate waits before it gives up.",
    ),
    "examples": click.option(
        "--examples",
        type=click.IntRange(1),
        metavar="N",
        help="Generated examples per property.  [default: 5; thorough 25]",
    ),
    "dialect": click.option(
        "--dialect",
        metavar="NAME",
        help="Speak as this compatible server does: a file in fixtures/dialects, such as openrouter or vllm.",
    ),
    "thorough": click.option(
        "--thorough",
        is_flag=True,
        help="Play every case in every cell, and 25 examples per property; so does any run that names what it plays.",
    ),
    "workers": click.option(
        "-j",
        "--workers",
        type=click.IntRange(1),
        metavar="N",
        help="Play in N processes, each with its own driver.  [default: two for each core; one if little is selected]",
    ),
    "shard": click.option(
        "--shard", metavar="I/N", help="Play only part I of N of the run; looptck merge makes one run of the parts."
    ),
    "tx": click.option(
        "--tx",
        "hosts",
        multiple=True,
        metavar="SPEC",
        help="Play in a process there, as pytest-xdist takes it, such as socket=HOST:PORT. May be repeated.",
    ),
    "durations": click.option(
        "--durations",
        type=click.IntRange(0),
        metavar="N",
        help="Print where the time went (loop, gates, provider, judge, checks), and the N slowest checks.",
    ),
    "quiet": click.option(
        "-q", "--quiet", is_flag=True, help="Print only the failed requirements, one line per cause, and the counts."
    ),
}


def chosen_options(
    *,
    driver: str | None,
    timeout: float,
    patience: float,
    examples: int | None,
    thorough: bool = False,
    profile: tuple[str, ...] = (),
    requirement: tuple[str, ...] = (),
    cell: tuple[str, ...] = (),
    cases: tuple[str, ...] = (),
    traits: tuple[str, ...] = (),
    level: str = "MAY",
    known_failures: Path | None = None,
    cassettes: Path | None = None,
    trace: Path | None = None,
    shard: str | None = None,
    dialect: str | None = None,
) -> Options:
    """The options of a run, as a command line has chosen them."""
    from looptck.bench.bench import Patience
    from looptck.suite.options import Options
    from looptck.suite.selection import Selection

    part = shard_of(shard) if shard else None
    selection = Selection(profile, requirement, cell, cases, level, traits)
    patience_of = Patience(timeout, patience)
    return Options(
        driver,
        selection,
        known_failures,
        patience_of,
        examples,
        cassettes,
        trace=trace,
        shard=part,
        thorough=thorough,
        dialect=dialect,
    )


def shard_of(text: str) -> Shard:
    """The part of a run that is meant. Raises click.UsageError where the text is none."""
    from looptck.suite.units import Shard

    try:
        return Shard.parse(text)
    except ValueError as error:
        raise click.UsageError(f"--shard: {error}") from error


def leave(status: int) -> NoReturn:
    """Exit, even if the implementation has left a thread that would keep the process alive."""
    from looptck.guard import playing

    if playing.is_muted():  # nobody has read the report
        status = Trouble.exit_code
    playing.finish(status)
    if any(not thread.daemon and thread is not threading.main_thread() for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
