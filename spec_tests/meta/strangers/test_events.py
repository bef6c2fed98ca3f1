"""Loops that tell of calls and results: each fault is named, and loops that are right in other ways fail nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from looptck.values.verdicts import Result
from meta.strangers.playing import CONTROL, HERE, faults, require_playable, rows

FOLDER = HERE / "events"
TABLE: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load((FOLDER / "table.yaml").read_text(encoding="utf-8"))
ROWS = (
    "running-calls-are-told",
    "told-calls-get-one-result",
    "told-calls-have-their-arguments",
    "pieces-of-arguments-join",
    "told-results-are-those-of-the-model",
    "events-tell-calls-apart",
    "calls-are-told-while-they-run",
    "events-keep-the-order-of-rounds",
    "answer-comes-after-the-events",
    "end-is-told-once",
    "limit-ends-are-told",
    "events-of-a-run-are-its-own",
    "plain-and-stream-tell-the-same",
    "chunks-join-to-the-answer",
    CONTROL,
)


def _judged(results: list[Result]) -> list[Result]:
    assert not [one.reason for one in results if one.verdict == "error"]
    assert {"pass"} == {one.verdict for one in results if one.requirement == CONTROL}
    return results


@pytest.mark.parametrize("loop", TABLE["faulty"])
def test_fault_is_named(loop: str) -> None:
    """The requirement of the table fails, and says in these words what is wrong."""
    require_playable(loop)
    entry = TABLE["faulty"][loop]

    results = _judged(faults(f"events/{loop}", entry["cell"], {entry["named_by"]}))
    failed = [one for one in results if one.verdict == "fail"]

    assert {entry["named_by"]} == {one.requirement for one in failed}
    assert [one for one in failed if entry["words"] in one.reason]


@pytest.mark.parametrize(
    ("loop", "cell"), [(loop, cell) for loop, how in TABLE["right"].items() for cell in how["cells"]]
)
def test_right_loop_fails_nothing(loop: str, cell: str) -> None:
    """Nothing counts against it but what the table allows."""
    require_playable(loop)

    results = _judged(rows(f"events/{loop}", cell, ROWS))

    left = {one.requirement for one in results if one.verdict not in {"pass", "not-applicable"}}

    assert {*TABLE["right"][loop].get("but", ())} == left


def test_all_loops_are_in_the_table() -> None:
    """Each class of a driver and each loop in JavaScript stands in it."""
    driver = r"^class (\w+)\((?:\w+\.)?Driver\w*\)"
    found = {path.name: re.findall(driver, path.read_text(), re.MULTILINE) for path in FOLDER.glob("*.py")}
    classes = {f"{file}:{name}" for file, names in found.items() for name in names}
    others = re.findall(r"^  '?([\w-]+)'?: class extends Told", (FOLDER / "chat.mjs").read_text(), re.MULTILINE)

    assert classes | {"chat.mjs", *(f"chat.mjs {one}" for one in others)} == {*TABLE["faulty"], *TABLE["right"]}
