"""The reviewed list: mutants that nothing can kill, or that nothing needs to, each with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from looptck.catalogue.yaml_files import BadFile, load
from looptck.suite.options import CouldNotRun

LIST = Path(__file__).with_name("equivalents_reference.yaml")
SCHEMA = Path(__file__).with_name("equivalents.schema.json")


def equivalents(known: Iterable[str], path: Path = LIST) -> Mapping[str, str]:
    """The reason for each mutant on the list; ``known`` are the names of all mutants that there are.

    Raises:
        CouldNotRun: the file is not what it should be, with the place, or names what is no mutant.
    """
    try:
        listed: dict[str, str] = load(path, SCHEMA)
    except BadFile as error:
        raise CouldNotRun(str(error)) from error
    names = set(known)
    strange = [name for name in listed if name not in names]
    if strange:
        raise CouldNotRun(f"{path.name} names what is no mutant, or no longer: {'; '.join(strange)}")
    return listed
