"""The tool that counts which faults a report finds and names."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from meta.strangers.playing import NODE
from tools.naming.__main__ import main
from tools.naming.hearing import Heard
from tools.naming.strange import Fault, faults

FAULT = Fault("themes/loop", "python:loop.py:Driver", "openai-chat/plain/sync", frozenset({"named"}))


@pytest.mark.parametrize(
    ("causes", "against", "found", "first", "place"),
    [
        ([("named", ""), ("beside", "")], {"named", "beside"}, True, True, 1),
        ([("beside", ""), ("named", "")], {"named", "beside"}, True, False, 2),
        ([("beside", "")], {"named", "beside"}, True, False, None),
        ([("beside", "")], {"beside"}, False, False, None),
        ([], set(), False, False, None),
    ],
    ids=["first", "second", "as-a-consequence", "another", "nothing"],
)
def test_fault_is_found_and_named(
    causes: list[tuple[str, str]], against: set[str], found: bool, first: bool, place: int | None
) -> None:
    """A fault is found by any verdict against its requirements, and named by the first cause alone."""
    told = Heard(FAULT, tuple(causes), frozenset(against))

    assert (found, first, place) == (told.is_found, told.is_named, told.place)


def test_each_fault_is_a_driver(tmp_path: Path) -> None:
    """Both kinds of table are read, and no two faults have one name."""
    read = list(faults(tmp_path))

    assert {"fixes", "themes", "mcp"} <= {one.name.partition("/")[0] for one in read}
    assert len(read) == len({one.name for one in read})
    assert all(one.rows and one.driver.startswith(("python:", f"cmd:{NODE} ")) for one in read)


def test_a_fault_is_played_as_a_person_would() -> None:
    """The whole run of one faulty loop finds its fault, and the counts say so."""
    done = CliRunner().invoke(main, ["fixes/limit-is-an-answer"])

    assert 0 == done.exit_code, done.output
    assert done.output.endswith("faults played: 1; found: 1; named by the first line: 1\n")


def test_no_fault_of_a_name() -> None:
    """A name that no fault has is told, and nothing is played."""
    done = CliRunner().invoke(main, ["no-such-fault"])

    assert (2, "no fault has such a name\n") == (done.exit_code, done.output)
