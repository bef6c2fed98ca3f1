"""Loops that were written without a look at the checks: faults are named, and what is right fails nothing."""

from __future__ import annotations

import ssl
from functools import cache

import pytest

from looptck.values.verdicts import AGAINST, Result
from meta.strangers.playing import HERE, NODE, Entry, rows, table, whole

FAULTY, RIGHT = table()["faulty"], table()["right"]
CONTROL = "call-runs-its-tool-once"
"""What every loop of the table can do."""


@pytest.fixture(autouse=True)
def _one_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let SDKs share the TLS context that they make for each run: all is plain HTTP, and making it takes longest."""
    monkeypatch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))


def _can_be_played(loop: str) -> None:
    if loop.endswith(".mjs") and NODE is None:
        pytest.skip("node is not installed, and this loop is in JavaScript")


def _failing(results: list[Result]) -> set[str]:
    return {result.requirement for result in results if result.verdict == "fail"}


@pytest.mark.parametrize(("loop", "entry"), FAULTY.items(), ids=FAULTY)
def test_fault_is_named(loop: str, entry: Entry) -> None:
    """Each row that the table names fails; where it says that none does, none does. A race may end either way."""
    _can_be_played(loop)
    wanted = [*entry.get("named_by", ()), *entry.get("noticed_by", ())]

    results = rows(loop, entry["cell"], {CONTROL, *wanted, *entry.get("missed_by", ()), *entry.get("raced_by", ())})

    assert not [result.reason for result in results if result.verdict == "error"]
    assert {"pass"} <= {result.verdict for result in results if result.requirement == CONTROL}
    assert set(wanted) == _failing(results) - {CONTROL, *entry.get("raced_by", ())}


@pytest.mark.parametrize(("loop", "entry"), RIGHT.items(), ids=RIGHT)
def test_right_loop_fails_nothing(loop: str, entry: Entry) -> None:
    """Nothing of core counts against it but what the table says, which is never a MUST."""
    _can_be_played(loop)

    against = [one for one in whole(loop, entry["cell"]) if one.verdict in {*AGAINST, "error"}]

    assert {} == {one.requirement: one.reason for one in against if one.level == "MUST"}
    assert entry.get("but", {}).keys() == {one.requirement for one in against}


def test_all_loops_are_in_the_table() -> None:
    """Every loop of the folder is played, and is told of in the FAULTS.md beside it."""
    loops = {
        path.relative_to(HERE).as_posix(): path.name
        for path in [*HERE.glob("python/**/*.py"), *HERE.glob("javascript/*.mjs")]
        if path.name not in {"handlers.py", "driver.mjs", "sse.mjs"}
    }

    assert loops.keys() == FAULTY.keys() | RIGHT.keys()
    for loop, name in loops.items():
        assert f"`{name}`" in (HERE / loop.partition("/")[0] / "FAULTS.md").read_text(encoding="utf-8")


def test_what_is_not_named_says_why() -> None:
    """A fault that no row names has the reason beside it."""
    assert [] == [loop for loop, entry in FAULTY.items() if bool(entry.get("named_by")) == bool(entry.get("because"))]
