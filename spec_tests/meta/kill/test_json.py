"""The JSON of a matrix: it keeps to its schema, whatever became of the mutants."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from looptck.catalogue.data import json_fixture
from looptck.commands.kill.columns import Column, State
from meta.kill.making import CELL, column, failed, killed, matrix, mutant, played, requirement

SCHEMA = json_fixture("kill.schema.json")
BENT = mutant("bent", "one", collateral={"two": "it leans on one"})
COLUMNS = {
    "killed": column(BENT, *failed("one", "two")),
    "survived": column(BENT, played("one", "pass")),
    "not reached": column(BENT, played("one", "not-reached")),
    "noisy": column(BENT, *failed("one", "three")),
    "broken": column(BENT, trouble="its process ended unexpectedly, with status 1"),
    "crashed": column(BENT, played("one", "fail", crash="KeyError")),
    "idle": column(BENT, *failed("one"), full=True),
    "without a reason": column(BENT, played("one", "fail", "")),
}


def wrong(told: Any) -> list[str]:
    """What the schema has against a document."""
    return [error.message for error in Draft202012Validator(SCHEMA).iter_errors(told)]


def test_schema_is_one() -> None:
    """The schema is a schema itself."""
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("one", COLUMNS.values(), ids=COLUMNS.keys())
def test_json_keeps_to_its_schema(one: Column) -> None:
    """Every state of a mutant can be written."""
    rows = [requirement("one"), requirement("two", no_mutant="no loop can tell whether it does")]
    told = matrix(one, requirements=rows, disagreements=["one: the catalogue does not name `bent`"]).serializable()

    assert [] == wrong(told)


def test_schema_is_strict() -> None:
    """A member that the schema does not know is refused."""
    told = matrix(killed("bent", "one")).serializable()
    told["mutants"][0]["score"] = 1

    assert ["Additional properties are not allowed ('score' was unexpected)"] == wrong(told)


def test_every_state_is_in_the_schema() -> None:
    """The schema has a word for each state, and a count."""
    states = SCHEMA["properties"]["mutants"]["items"]["properties"]["state"]["enum"]

    assert [str(state) for state in State] == states
    assert set() == set(states) - SCHEMA["properties"]["summary"]["properties"].keys()


def test_requirement_names_its_mutants() -> None:
    """A requirement is written with the mutants that break it, those that break it alone, and the others."""
    told = matrix(killed("only", "one"), killed("both", "one", "two"), column(BENT, *failed("one", "two")))
    rows = {row["id"]: row for row in told.serializable()["requirements"]}

    assert (["only", "both", "bent"], ["only"], []) == tuple(
        rows["one"][word] for word in ("killed_by", "alone", "others")
    )
    assert (["both"], [], ["bent"]) == tuple(rows["two"][word] for word in ("killed_by", "alone", "others"))


def test_reason_is_its_first_line() -> None:
    """Of a reason its first line is written: what follows holds ports and times, and differs from run to run."""
    told = matrix(column(BENT, played("one", "fail", "assert 2 <= 1\n +  where 2 = len([...])"))).serializable()
    (one,) = told["mutants"][0]["failed"]["one"]

    assert {"cell": CELL, "case": "a-case", "reason": "assert 2 <= 1"} == one
