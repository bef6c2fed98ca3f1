"""Mutants: how they are read, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from looptck.catalogue.requirements import Catalogue, Profile
from looptck.commands.kill.mutants import BadMutant, named, read, slug
from meta.kill.making import mutant, requirement

GOOD = "class Bent:\n    'Bends: it all. And more.'\n    breaks = ('one',)\n"
CATALOGUE = Catalogue(
    {
        "core": Profile("core", "Core", True, (requirement("one"), requirement("two"))),
        "other": Profile("other", "Other", True, (requirement("far", profile="other"),)),
    }
)


def reading(folder: Path, text: str) -> str:
    """Write a module of mutants; how they are named."""
    path = folder / "bent_loops.py"
    path.write_text(text, encoding="utf-8")
    return f"python:{path}:MUTANTS"


def test_mutant_says_what_it_is(tmp_path: Path) -> None:
    """Name, fault and driver come from the class; it is judged in every cell where it names none."""
    (one,) = read(reading(tmp_path, f"{GOOD}    collateral = {{'two': 'why'}}\nMUTANTS = [Bent]\n"), CATALOGUE)

    assert ("bent", "Bends", "core") == (one.name, one.fault, one.profile)
    assert ("python:bent_loops:Bent", ("one",), {"two": "why"}, ("*",)) == (
        one.driver,
        one.breaks,
        one.collateral,
        one.cells,
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("MUTANTS = []", "contains no mutants, so nothing would be proven"),
        ("class Bent:\n    breaks = ('one',)\nMUTANTS = [Bent]", "mutant Bent: declare `breaks`"),
        ("class Bent:\n    'Bends.'\nMUTANTS = [Bent]", "mutant Bent: declare `breaks`"),
        (GOOD.replace("'one'", "'onee'") + "MUTANTS = [Bent]", "there is no requirement 'onee'; did you mean one"),
        (GOOD.replace("'one'", "'one', 'far'") + "MUTANTS = [Bent]", "all requirements must be of one profile"),
        (GOOD + "    collateral = {'one': 'why'}\nMUTANTS = [Bent]", "one is in `breaks` and in `collateral`"),
        (
            GOOD + "    collateral = {'two': 'why'}\n    broad = True\nMUTANTS = [Bent]",
            "the collateral of a broad mutant is not judged",
        ),
        (GOOD + "MUTANTS = [Bent, Bent]", "two mutants share a name: bent"),
        ("MUTANTS = 1 / 0", "cannot be read: ZeroDivisionError"),
        ("OTHERS = []", "cannot be read: AttributeError"),
    ],
)
def test_what_is_no_mutant_is_refused(tmp_path: Path, text: str, told: str) -> None:
    """The error names the mutant and the mend."""
    with pytest.raises(BadMutant, match=re.escape(told)):
        read(reading(tmp_path, text), CATALOGUE)


def test_names_are_looked_up() -> None:
    """Those that were asked for, in that order; all where none was; and a near one for one that is not there."""
    one, two = mutant("bent", "one"), mutant("broken", "two")

    assert (two, one) == named([one, two], ["broken", "bent"])
    assert (one, two) == named([one, two], [])
    with pytest.raises(BadMutant, match="no mutant 'brokn'; did you mean broken"):
        named([one, two], ["brokn"])


@pytest.mark.parametrize(
    ("name", "told"),
    [("OneTooMany", "one-too-many"), ("SSEBroken", "sse-broken"), ("No400", "no400"), ("Ids2", "ids2")],
)
def test_names_are_slugs(name: str, told: str) -> None:
    """The name of a class as the catalogue writes it."""
    assert told == slug(name)
