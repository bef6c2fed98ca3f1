"""Proofs: which mutants are to fail each requirement, generated from what the mutants say that they break."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from looptck.catalogue.requirements import catalogue
from looptck.commands.kill import options
from looptck.commands.kill.mutants import read
from looptck.commands.kill.proofs import AGAIN, disagreements, proofs, write
from meta.kill.making import mutant, requirement

BROAD = replace(mutant("a-broad-one", "one", "two"), broad=True)
BENT = mutant("bent", "two")


def test_shipped_proofs_are_those_of_the_mutants() -> None:
    """The catalogue names the mutants of each requirement, and no others."""
    rows = catalogue()
    collections = (options.MUTANTS, *options.COLLECTIONS.values())
    every = [mutant for collection in collections for mutant in read(collection, rows)]

    assert [] == disagreements(every, rows)


def test_broad_mutants_come_last() -> None:
    """The first of a requirement is one that fails little else, where there is one."""
    assert {"one": ["a-broad-one"], "two": ["bent", "a-broad-one"]} == proofs([BROAD, BENT])


def test_file_holds_a_line_for_each_requirement(tmp_path: Path) -> None:
    """It is JSON, and a change of one requirement is a change of one line."""
    write([BROAD, BENT], tmp_path / "proofs.json")
    text = (tmp_path / "proofs.json").read_text(encoding="utf-8")

    assert proofs([BROAD, BENT]) == json.loads(text)
    assert 4 == len(text.splitlines())


def test_what_is_out_of_date_is_reported() -> None:
    """A requirement whose mutants are others now is named, with the command that writes them again."""
    rows = [requirement("one", killed_by=["a-broad-one"]), requirement("two", killed_by=["bent"])]

    assert [f"two: its mutants in fixtures/proofs.json are out of date; update the file with {AGAIN}"] == (
        disagreements([BROAD, BENT], rows)
    )
