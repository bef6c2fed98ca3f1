"""The commands, each of which imports what it needs when it is called."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from looptck.cli.cassettes import cassettes
from looptck.cli.matrix import matrix, need_site, summary, target
from looptck.cli.options import EXIT, OPTIONS, Seconds, Trouble, chosen_options, leave, one_driver, options
from looptck.guard.importing import importing

_DRIVER = re.compile(r"\b(python|cmd|server|program):|\.(py|mjs|js)\b")
"""What looks like an implementation."""
_WIRES = ["openai-chat", "openai-responses", "anthropic-messages"]


class _Commands(click.Group):
    """The commands. One that is interrupted has not been able to run."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command.

        Raises:
            Trouble: it was interrupted.
            click.UsageError: its words are wrong; a driver without its option is told where it belongs.
        """
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Trouble("it was interrupted") from None
        except click.UsageError as error:
            if error.message.startswith("Got unexpected extra argument") and _DRIVER.search(error.message):
                raise click.UsageError(f"{error.message}; an implementation is named by --driver", error.ctx) from None
            raise


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="looptck")
def main() -> None:
    """A technology compatibility kit for LLM agent loops."""


main.add_command(cassettes)
main.add_command(matrix)
main.add_command(target)
main.add_command(summary)


@main.command(epilog=EXIT)
@options(*OPTIONS)
@click.option("--html", type=click.Path(file_okay=False, path_type=Path), help="Write the results as pages below DIR.")
def run(**chosen: Any) -> None:
    """Run the suite on an implementation and print the verdicts."""
    if chosen["html"] is not None:
        need_site()
    with importing():
        from looptck.commands.pytest_run import run_suite
    how = {name: chosen.pop(name) for name in ("json_file", "junit", "html", "quiet", "workers", "hosts", "durations")}
    leave(run_suite(chosen_options(**chosen), **how))


@main.command(epilog=EXIT)
@click.option(
    "--driver", required=True, metavar="DRIVER", multiple=True, callback=one_driver, help="The driver to test."
)
@click.option(
    "--timeout",
    type=Seconds(),
    help="Seconds that the start and each run may take.  [default: 20; the start as long as for `run`]",
)
def smoke(driver: str, timeout: float | None) -> None:
    """Test whether a driver speaks the protocol. This does not judge the implementation behind it."""
    from looptck.commands.smoke import smoke_test

    leave(smoke_test(driver, timeout))


@main.command(epilog="Exit status: 0 written, 2 could not write.")
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option("--process", "kind", flag_value="process", help="A Python class, run in a separate environment.")
@click.option("--javascript", "kind", flag_value="javascript", help="A program in Node.js.")
def init(folder: Path, kind: str | None) -> None:
    """Write a driver to start from into FOLDER; by default a Python class."""
    from looptck.catalogue.data import page
    from looptck.catalogue.yaml_files import reason
    from looptck.commands.init import write

    if folder.suffix in {".py", ".mjs"} and not folder.exists():
        raise Trouble(f"{folder} is the name of a file, and init wants that of a folder: leave it out for this one")
    try:
        made = write(kind or "python", folder)  # type: ignore[arg-type]
    except FileExistsError as error:
        raise Trouble(str(error)) from error
    except OSError as error:
        raise Trouble(f"{folder}: cannot be written: {reason(error)}") from error
    for path in made.files:
        click.echo(f"wrote {path}")
    click.echo(f"""
Write the line that calls your loop in {made.files[0]}, then:

    looptck smoke --driver "{made.driver}"
    looptck run --driver "{made.driver}"

{page("driver-in-ten-minutes.md")} answers the questions that every driver raises.""")


@main.command("list")
@options("profile")
def list_requirements(profile: tuple[str, ...]) -> None:
    """List the requirements of each profile (id, level and text), then the traits."""
    from looptck.report.pages import listing

    click.echo(listing(profile), nl=False)


@main.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@options("driver")
def explain(ids: Sequence[str], driver: str | None) -> None:
    """Explain requirements (text, source, checks), traits (question, answers) and rules of a service by their IDs."""
    from looptck.report.pages import explanation

    click.echo("\n".join(explanation(id, driver) for id in ids), nl=False)


@main.command(epilog=EXIT)
@options(
    "driver",
    "profile",
    "requirement",
    "cell",
    "case",
    "level",
    "cassettes",
    "timeout",
    "patience",
    "examples",
    "thorough",
)
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

    leave(write(chosen_options(**chosen), into, results))


@main.command(epilog=EXIT)
@options("driver", "profile", "timeout", "patience")
@click.option("--examples", type=click.IntRange(1), metavar="N", help="Generated examples per property.  [default: 5]")
@click.option(
    "--results",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Read the results of an earlier run, as --json wrote them, instead of running the suite. May be repeated.",
)
def coverage(results: tuple[Path, ...], **chosen: Any) -> None:
    """Run the suite and list which statements of the documents were tested, excluded or left untested."""
    from looptck.commands.coverage import cover, cover_results

    leave(cover_results(results, chosen["profile"]) if results else cover(chosen_options(**chosen)))


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
        raise Trouble(str(error)) from error


@main.command(epilog=EXIT)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@options("json", "quiet")
def merge(files: tuple[Path, ...], *, json_file: Path | None, quiet: bool) -> None:
    """Make one run of its parts: FILES are what `looptck run --shard I/N --json` wrote, for each I of the same N."""
    from looptck.commands.merge import merge as merge_files

    sys.exit(merge_files(files, json_file=json_file, quiet=quiet))


@main.command(epilog=EXIT)
@options("driver", "profile", "requirement", "cell", "cassettes", "json")
@click.option(
    "--mutants",
    metavar="MUTANTS",
    help="Driver classes with one fault each: python:MODULE:NAME or python:FILE.py:NAME.  [default: the reference's]",
)
@click.option("--mutant", "names", multiple=True, metavar="NAME", help="Only this mutant. May be repeated.")
@click.option("--full", is_flag=True, help="Judge each mutant in every cell, not only in those that it declares.")
@click.option(
    "--own",
    is_flag=True,
    help="Judge each mutant only by the checks of what it breaks, each until one fails; collateral goes undetected.",
)
@click.option(
    "--passed",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Results of `looptck run --thorough --json` on the loop without a fault: what it has passed there is not "
    "played again. May be repeated.",
)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write the matrix as a page.")
@click.option(
    "--proofs",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write which mutants must fail each requirement to this file, and run nothing.",
)
@click.option("--workers", type=click.IntRange(1), help="Mutants judged in parallel.  [default: two for each core]")
@click.option(
    "--timeout", type=Seconds(), help="Seconds of silence after which a run has hung.  [default: 10; servers 30]"
)
@click.option(
    "--patience",
    type=Seconds(),
    default=3.0,
    show_default=True,
    help="Seconds that a gate waits before it gives up.",
)
@click.option(
    "--examples", type=click.IntRange(1), default=1, show_default=True, help="Generated examples per property."
)
@click.option("-q", "--quiet", is_flag=True, help="Print no progress and no table, only what is wrong and the counts.")
def kill(**chosen: Any) -> None:
    """Prove that each check can fail: run the suite on mutants (loops with one fault each) and print the matrix."""
    from looptck.commands.kill.command import kill as make
    from looptck.commands.kill.command import write_proofs
    from looptck.commands.kill.options import KillOptions

    if proofs := chosen.pop("proofs"):
        leave(write_proofs(proofs))
    json_file, html, quiet = chosen.pop("json_file"), chosen.pop("html"), chosen.pop("quiet")
    if html and chosen["own"]:
        raise click.UsageError(
            "--html and --own exclude each other: the page shows collateral, which --own does not judge"
        )
    selected = {"profiles": chosen.pop("profile"), "requirements": chosen.pop("requirement")}
    wanted = KillOptions(cells=chosen.pop("cell"), **selected, **chosen)
    leave(make(wanted, json_file=json_file, html=html, quiet=quiet))


@main.command(
    epilog="Exit status: 0 clean, 1 findings, or the COMMAND has failed, 2 could not serve, or nothing was asked.",
)
@click.option("--script", type=click.Path(dir_okay=False, path_type=Path), help="The script that is played, in YAML.")
@click.option("--case", metavar="CASE", help="Play a declared case, and describe the tools that it calls.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8642,
    show_default=True,
    help="The port on 127.0.0.1; 0 is any that is free.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print no requests but those that something is wrong with.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def serve(script: Path | None, case: str | None, port: int, *, quiet: bool, command: tuple[str, ...]) -> None:
    """Play a script on a port, and print what is asked and what a real service would refuse.

    A COMMAND after `--` is run with OPENAI_BASE_URL and ANTHROPIC_BASE_URL set, and ends the service when it ends.
    """
    from looptck.catalogue.yaml_files import BadFile
    from looptck.commands.serve import CouldNotServe, ServeOptions
    from looptck.commands.serve import serve as serve_script

    if script is not None and case is not None:
        raise click.UsageError("--script and --case exclude each other")
    try:
        sys.exit(serve_script(ServeOptions(script, case, port, quiet, command), click.echo))
    except (BadFile, CouldNotServe) as error:
        raise Trouble(str(error)) from error


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
@click.option("--timeout", type=Seconds(), default=120.0, show_default=True, help="Seconds that one reply may take.")
def record(**chosen: Any) -> None:
    """Record cases from a real server as redacted cassettes. Needs the extra `record` (for `scripted` that one too)."""
    from looptck.catalogue.extras import NotInstalled, need

    try:
        need("Recording", "record")
        if chosen["upstream"] == "scripted":
            need("The scripted model", "scripted")
    except NotInstalled as error:
        raise Trouble(str(error)) from error
    from looptck.commands.recording.record import CouldNotRecord, RecordOptions
    from looptck.commands.recording.record import record as record_all

    try:
        leave(record_all(RecordOptions(**chosen), click.echo))
    except CouldNotRecord as error:
        raise Trouble(str(error)) from error
