"""The command ``looptck``."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

if TYPE_CHECKING:
    from looptck.suite.session import Options

Function = TypeVar("Function", bound=Callable[..., Any])

EXIT = """
Exit status: 0 clean, 1 findings, 2 could not run.
"""


_WIRES = ["openai-chat", "openai-responses", "anthropic-messages"]


class _Trouble(click.ClickException):
    """The command cannot run; the message is the reason."""

    exit_code = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="looptck")
def main() -> None:
    """A technology compatibility kit for LLM agent loops."""


def _options(*names: str) -> Callable[[Function], Function]:
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
        help="The implementation under test: python:MODULE:NAME, python:FILE.py:NAME, cmd:COMMAND or server:FILE.  "
        "[default: the reference]",
    ),
    "profile": click.option("--profile", multiple=True, metavar="NAME", help="Only this profile. May be repeated."),
    "requirement": click.option(
        "--requirement", multiple=True, metavar="ID", help="Only this requirement. May be repeated."
    ),
    "cell": click.option(
        "--cell",
        multiple=True,
        metavar="CELL",
        help="Only these cells, such as openai-chat/stream/sync; * is a wildcard. May be repeated.",
    ),
    "case": click.option("--case", "cases", multiple=True, metavar="CASE", help="Only this case. May be repeated."),
    "trait": click.option(
        "--trait",
        "traits",
        multiple=True,
        metavar="ID",
        help="Only this trait, and only the requirements named with --requirement. May be repeated.",
    ),
    "level": click.option(
        "--level",
        type=click.Choice(["MUST", "SHOULD", "MAY"]),
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
        "--timeout", default=20.0, show_default=True, help="Seconds without an event after which a run has hung."
    ),
    "patience": click.option(
        "--patience", default=5.0, show_default=True, help="Seconds that a gate waits before it gives up."
    ),
    "examples": click.option("--examples", default=25, show_default=True, help="Generated examples per property."),
    "quiet": click.option(
        "-q", "--quiet", is_flag=True, help="Print only the failed requirements, one line per cause, and the counts."
    ),
}


@main.command(epilog=EXIT)
@_options(*OPTIONS)
def run(**chosen: Any) -> None:
    """Run the suite on an implementation and print the verdicts."""
    from looptck.commands.pytest_run import run_suite

    json_file, junit, quiet = chosen.pop("json_file"), chosen.pop("junit"), chosen.pop("quiet")
    _leave(run_suite(_chosen(**chosen), json_file=json_file, junit=junit, quiet=quiet))


def _chosen(
    *,
    driver: str | None,
    timeout: float,
    patience: float,
    examples: int,
    profile: tuple[str, ...] = (),
    requirement: tuple[str, ...] = (),
    cell: tuple[str, ...] = (),
    cases: tuple[str, ...] = (),
    traits: tuple[str, ...] = (),
    level: str = "MAY",
    known_failures: Path | None = None,
    cassettes: Path | None = None,
    trace: Path | None = None,
) -> Options:
    from looptck.bench.bench import Patience
    from looptck.suite.selection import Selection
    from looptck.suite.session import Options

    selection = Selection(profile, requirement, cell, cases, level, traits)
    patience_of = Patience(timeout, patience)
    return Options(driver, selection, known_failures, patience_of, examples, cassettes, trace=trace)


def _leave(status: int) -> NoReturn:
    """Exit, even if the implementation has left a thread that would keep the process alive."""
    from looptck.guard import playing

    playing.finish(status)
    if any(not thread.daemon and thread is not threading.main_thread() for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


@main.command(epilog=EXIT)
@click.option("--driver", required=True, metavar="DRIVER", help="The driver to test.")
@click.option("--timeout", default=20.0, show_default=True, help="Seconds that one run may take.")
def smoke(driver: str, timeout: float) -> None:
    """Test whether a driver speaks the protocol. This does not judge the implementation behind it."""
    from looptck.commands.smoke import smoke_test

    _leave(smoke_test(driver, timeout))


@main.command(epilog="Exit status: 0 written, 2 could not write.")
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option("--process", "kind", flag_value="process", help="A Python class, run in a separate environment.")
@click.option("--javascript", "kind", flag_value="javascript", help="A program in Node.js.")
def init(folder: Path, kind: str | None) -> None:
    """Write a driver to start from into FOLDER; by default a Python class."""
    from looptck.commands.init import write

    try:
        made = write(kind or "python", folder)  # type: ignore[arg-type]
    except OSError as error:
        raise _Trouble(str(error)) from error
    for path in made.files:
        click.echo(f"wrote {path}")
    click.echo(f"""
Write the line that calls your loop in {made.files[0]}, then:

    looptck smoke --driver "{made.driver}"
    looptck run --driver "{made.driver}\"""")


@main.command("list")
@_options("profile")
def list_requirements(profile: tuple[str, ...]) -> None:
    """List the requirements of each profile (id, level and text), then the traits."""
    from looptck.report.pages import listing

    click.echo(listing(profile), nl=False)


@main.command()
@click.argument("requirement")
@_options("driver")
def explain(requirement: str, driver: str | None) -> None:
    """Explain a REQUIREMENT (text, source, checks) or a trait (question, answers)."""
    from looptck.report.pages import explanation

    click.echo(explanation(requirement, driver), nl=False)


@main.command(epilog=EXIT)
@_options("driver", "profile", "requirement", "cell", "case", "level", "cassettes", "timeout", "patience", "examples")
@click.option(
    "--results",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Read the results of an earlier run, as --json wrote them, instead of running the suite.",
)
@click.option(
    "--into",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The file of known failures to extend; its present content is not changed.",
)
def baseline(results: Path | None, into: Path, **chosen: Any) -> None:
    """Record today's failures as known failures: one entry per requirement and cells that no entry covers yet."""
    from looptck.commands.baseline import baseline as write

    _leave(write(_chosen(**chosen), into, results))


@main.command(epilog=EXIT)
@_options("driver", "profile", "timeout", "patience", "examples")
@click.option(
    "--results",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Read the results of an earlier run, as --json wrote them, instead of running the suite. May be repeated.",
)
def coverage(results: tuple[Path, ...], **chosen: Any) -> None:
    """Run the suite and list which statements of the documents were tested, excluded or left untested."""
    from looptck.commands.coverage import cover, cover_results

    _leave(cover_results(results, chosen["profile"]) if results else cover(_chosen(**chosen)))


@main.command(epilog="Exit status: 0 the same, 1 differences, 2 could not compare.")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.option("--all", "everything", is_flag=True, help="Also print what is the same in both.")
@click.option(
    "--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write the comparison as JSON."
)
def compare(a: Path, b: Path, *, everything: bool, json_file: Path | None) -> None:
    """Compare the results that `looptck run --json` wrote to files A and B: two loops, or two versions of one."""
    from looptck.catalogue.yaml_files import BadFile
    from looptck.report.compare import compare as compare_files

    try:
        sys.exit(compare_files(a, b, everything=everything, json_file=json_file))
    except BadFile as error:
        raise _Trouble(str(error)) from error


@main.command(epilog=EXIT)
@_options("driver", "profile", "requirement", "cell", "cassettes", "json")
@click.option(
    "--mutants",
    metavar="MUTANTS",
    help="Driver classes with one fault each: python:MODULE:NAME or python:FILE.py:NAME.  [default: the reference's]",
)
@click.option("--mutant", "names", multiple=True, metavar="NAME", help="Only this mutant. May be repeated.")
@click.option("--full", is_flag=True, help="Judge each mutant in every cell, not only in those that it declares.")
@click.option(
    "--own", is_flag=True, help="Judge each mutant only by the checks of what it breaks; collateral goes undetected."
)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write the matrix as a page.")
@click.option(
    "--proofs",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write which mutants must fail each requirement to this file, and run nothing.",
)
@click.option("--workers", type=click.IntRange(1), help="Mutants judged in parallel.  [default: number of cores + 1]")
@click.option("--timeout", type=float, help="Seconds of silence after which a run has hung.  [default: 10; servers 30]")
@click.option("--patience", default=3.0, show_default=True, help="Seconds that a gate waits before it gives up.")
@click.option("--examples", default=1, show_default=True, help="Generated examples per property.")
@_options("quiet")
def kill(**chosen: Any) -> None:
    """Prove that each check can fail: run the suite on mutants (loops with one fault each) and print the matrix."""
    from looptck.kill.command import KillOptions, write_proofs
    from looptck.kill.command import kill as make

    if proofs := chosen.pop("proofs"):
        _leave(write_proofs(proofs))
    json_file, html, quiet = chosen.pop("json_file"), chosen.pop("html"), chosen.pop("quiet")
    if html and chosen["own"]:
        raise click.UsageError(
            "--html and --own exclude each other: the page shows collateral, which --own does not judge"
        )
    selected = {"profiles": chosen.pop("profile"), "requirements": chosen.pop("requirement")}
    wanted = KillOptions(cells=chosen.pop("cell"), **selected, **chosen)
    _leave(make(wanted, json_file=json_file, html=html, quiet=quiet))


@main.group()
def cassettes() -> None:
    """Check, compare and select cassettes."""


@cassettes.command("check", epilog=EXIT)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
def check_cassettes(paths: tuple[Path, ...]) -> None:
    """Check the cassettes at PATHS (files or folders; default: all cassettes shipped with looptck).

    Checks the schema, the hash, secrets, changes of the case since the recording, every request, and the dialect.
    """
    from looptck.cassettes.check import check
    from looptck.catalogue.yaml_files import BadFile

    try:
        found = check(paths)
    except BadFile as error:
        raise _Trouble(str(error)) from error
    for line in found.lines:
        click.echo(line)
    click.echo(f"{len(found.lines)} findings in {found.checked} cassettes")
    sys.exit(1 if found.lines else 0)


@cassettes.command("diff", epilog=EXIT)
@click.argument("left", type=click.Path(path_type=Path))
@click.argument("right", type=click.Path(path_type=Path))
@click.option("--content", is_flag=True, help="Compare the contents too, except ids and times.")
def diff_cassettes(left: Path, right: Path, *, content: bool) -> None:
    """Print how the structure differs from LEFT to RIGHT: two cassettes, or two folders of cassettes."""
    from looptck.cassettes.diff import changes
    from looptck.catalogue.yaml_files import BadFile

    try:
        lines = list(changes(left, right, content=content))
    except BadFile as error:
        raise _Trouble(str(error)) from error
    for line in lines:
        click.echo(line)
    click.echo(f"{len(lines)} differences")
    sys.exit(1 if lines else 0)


@cassettes.command("structures", epilog=EXIT)
@click.argument("folder", required=False, type=click.Path(path_type=Path))
def structures_of_cassettes(folder: Path | None) -> None:
    """List the structures of the cassettes in FOLDER (default: those shipped), each with its representative cassette.

    A structure is the set of JSON members with their types, and the order of the events. Odd cassettes, which are
    selected in any case, are listed with the reason.
    """
    from looptck.cassettes import cassettes as cassettes_in
    from looptck.cassettes.selection import groups, odd_recordings
    from looptck.catalogue.yaml_files import BadFile

    try:
        odd = odd_recordings()
        found = groups(cassettes_in(folder), odd)
    except BadFile as error:
        raise _Trouble(str(error)) from error
    for group in found:
        others = ", ".join(one.scenario for one in group.others)
        click.echo(f"{group.representative.file}{f': also {others}' if others else ''}")
        for one in group.odd:
            click.echo(f"    {one.file} is odd: {odd[one.file]}")
    selected = sum(len(group.selected) for group in found)
    total = selected + sum(len(group.others) for group in found)
    click.echo(f"{len(found)} structures in {total} cassettes, of which {selected} are selected")


@cassettes.command("select", epilog=EXIT)
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path))
def select_cassettes(source: Path, target: Path) -> None:
    """Copy one cassette of each structure, and the odd ones, from the folder SOURCE to TARGET, an empty folder."""
    from looptck.cassettes.selection import select
    from looptck.catalogue.yaml_files import BadFile

    try:
        selected = select(source, target)
    except BadFile as error:
        raise _Trouble(str(error)) from error
    for one in selected:
        click.echo(one.file)
    click.echo(f"{len(selected)} cassettes")


@main.command(epilog=EXIT)
@click.option("--upstream", required=True, metavar="WHICH", help="openai, anthropic, scripted, or a base URL.")
@click.option("--model", metavar="NAME", help="The model to request; `scripted` needs none.")
@click.option(
    "--name", metavar="TEXT", help="The server's name in the provenance of the cassettes, if --upstream is a URL."
)
@click.option(
    "--dialect", default="", metavar="NAME", help="The file in fixtures/deviations that describes the server."
)
@click.option("--wire", "wires", multiple=True, type=click.Choice(_WIRES), help="Only this wire. May be repeated.")
@click.option("--scenario", "scenarios", multiple=True, metavar="CASE", help="Only this case. May be repeated.")
@click.option("--mode", type=click.Choice(["plain", "stream"]), help="Only this mode.  [default: both]")
@click.option("--update", is_flag=True, help="Overwrite recordings that have changed.")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to write to.  [default: cassettes/ of a checkout]",
)
@click.option("--timeout", default=120.0, show_default=True, help="Seconds that one reply may take.")
def record(**chosen: Any) -> None:
    """Record cases from a real server as redacted cassettes. Needs the extra `record` (for `scripted` that one too)."""
    from looptck.catalogue.extras import NotInstalled, need

    try:
        need("Recording", "record")
        if chosen["upstream"] == "scripted":
            need("The scripted model", "scripted")
    except NotInstalled as error:
        raise _Trouble(str(error)) from error
    from looptck.recording.record import CouldNotRecord, RecordOptions
    from looptck.recording.record import record as record_all

    try:
        _leave(record_all(RecordOptions(**chosen), click.echo))
    except CouldNotRecord as error:
        raise _Trouble(str(error)) from error


GUARDED = frozenset({"run", "smoke", "baseline", "coverage", "kill"})
"""The commands that run drivers and loops."""


def entry() -> None:
    """Run the command line; one that runs drivers and loops does so in a process of its own, under a guard."""
    from looptck.guard import playing

    words = sys.argv[1:]
    if not playing.begin() and words[:1] and words[0] in GUARDED and not {"-h", "--help"} & {*words}:
        from looptck.guard.watching import watch

        sys.exit(watch(words))
    try:
        main()
    except SystemExit as end:
        if not playing.has_noted():  # a word that is no option, say
            playing.finish(end.code if isinstance(end.code, int) else 2)
        raise


if __name__ == "__main__":
    entry()
