"""The commands for cassettes."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from looptck.cli.options import EXIT, Trouble
from looptck.values.plain import amount


@click.group()
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
        raise Trouble(str(error)) from error
    for line in found.lines:
        click.echo(line)
    click.echo(f"{amount(len(found.lines), 'finding')} in {amount(found.checked, 'cassette')}")
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
        raise Trouble(str(error)) from error
    for line in lines:
        click.echo(line)
    click.echo(amount(len(lines), "difference"))
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
        raise Trouble(str(error)) from error
    for group in found:
        others = ", ".join(one.scenario for one in group.others)
        click.echo(f"{group.representative.file}{f': also {others}' if others else ''}")
        for one in group.odd:
            click.echo(f"    {one.file} is odd: {odd[one.file]}")
    selected = sum(len(group.selected) for group in found)
    total = selected + sum(len(group.others) for group in found)
    click.echo(f"{amount(len(found), 'structure')} in {amount(total, 'cassette')}, of which {selected} are selected")


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
        raise Trouble(str(error)) from error
    for one in selected:
        click.echo(one.file)
    click.echo(amount(len(selected), "cassette"))
