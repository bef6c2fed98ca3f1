"""The commands about published implementations: all of them for a site, or one for its verdicts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from looptck.cli.options import EXIT, Seconds, Trouble, shard_of

_FOLDER = click.Path(file_okay=False, path_type=Path)
_TARGETS = click.option(
    "--targets",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="The folder of the implementations.  [default: spec_tests/targets of a checkout]",
)
_STAYS = "Exit status: 0 clean, 1 findings, 2 could not begin. What is kept stays when it is interrupted."


@click.command(epilog=_STAYS)
@click.argument("names", nargs=-1)
@_TARGETS
@click.option("--results", type=_FOLDER, help="Where results are kept.  [default: .tox/matrix of a checkout]")
@click.option("--site", type=_FOLDER, help="Build the site of all that is kept in this folder.")
@click.option("-j", "--workers", type=click.IntRange(1), default=1, show_default=True, help="Installations at a time.")
@click.option("--shard", metavar="I/N", help="Play only every N-th implementation, beginning with the I-th.")
@click.option("--again", is_flag=True, help="Play those too whose results are current.")
@click.option("--no-play", "plays", flag_value=False, default=True, help="Play nothing; only build the site.")
@click.option("--thorough", is_flag=True, help="Play every case in every cell, as in looptck run.")
@click.option(
    "--longest", type=Seconds(), default=3600.0, show_default=True, help="Seconds after which a run is ended."
)
def matrix(names: tuple[str, ...], *, targets: Path | None, results: Path | None, **chosen: Any) -> None:
    """Play published implementations (all, or those with these NAMES) and build a site of what they do."""
    need_site()
    from looptck.commands.matrix.command import ENVIRONMENTS, TARGETS, MatrixOptions
    from looptck.commands.matrix.command import matrix as play_all

    options = ("--thorough",) if chosen.pop("thorough") else ()
    shard, kept = shard_of(chosen.pop("shard") or "1/1"), results or ENVIRONMENTS.with_name("matrix")
    folder = targets or _there(TARGETS)
    sys.exit(play_all(MatrixOptions(names, folder, kept, shard=shard, options=options, **chosen)))


@click.command(context_settings={"ignore_unknown_options": True}, epilog=EXIT)
@click.argument("name")
@_TARGETS
@click.option("--smoke", is_flag=True, help="Only test whether its driver speaks the protocol.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[OPTION OF RUN]...")
def target(name: str, *, targets: Path | None, smoke: bool, words: tuple[str, ...]) -> None:
    """Install the published implementation NAME (or pattern) in its own environment, and run the suite on it."""
    need_site()
    from looptck.commands.matrix.command import TARGETS, play

    sys.exit(play([name], targets or _there(TARGETS), "smoke" if smoke else "run", words))


@click.command(epilog="Exit status: 0 written, 2 could not write.")
@click.argument("results", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--badge", type=click.Path(dir_okay=False, path_type=Path), help="Write a badge, as SVG, to this file.")
def summary(results: Path, badge: Path | None) -> None:
    """Print the summary of RESULTS, as `looptck run --json` wrote them, in Markdown: for the page of a CI job."""
    need_site()
    from looptck.catalogue.yaml_files import BadFile, reason
    from looptck.report.results import read_json
    from looptck.report.site.entries import Entry
    from looptck.report.site.summing import badge as drawn
    from looptck.report.site.summing import markdown_summary

    try:
        data = read_json(results)
        entry = Entry(str(data["implementation"]["name"]), data)
        if badge is not None:
            badge.write_text(drawn(entry), encoding="utf-8")
    except BadFile as error:
        raise Trouble(str(error)) from error
    except OSError as error:
        raise Trouble(f"{badge}: cannot be written: {reason(error)}") from error
    click.echo(markdown_summary(entry))


def need_site() -> None:
    """Raises Trouble if the packages that make pages are not installed."""
    from looptck.catalogue.extras import NotInstalled, need

    try:
        need("What makes pages", "site")
    except NotInstalled as error:
        raise Trouble(str(error)) from error


def _there(folder: Path) -> Path:
    """The targets of a checkout."""
    if not folder.is_dir():
        raise Trouble("an installed looptck has no targets: name a folder of them with --targets, or use a checkout")
    return folder
