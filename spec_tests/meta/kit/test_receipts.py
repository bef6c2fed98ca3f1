"""Receipts: the conversation of a failed run, the same in every run, with the first wrong event and place marked."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.failures.outline import Line, outline
from looptck.failures.receipt import MOST_STEPS, receipt
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from meta.drivers.bench import judged

ROW = "results-carry-their-call-ids"
SWAPPED = "python:meta.loops.wrong:ResultsSwapped"
ONE = ("parallel-calls",)
FLAWED = "python:meta.kit.flawed:TakesCallsForAnswers"
CELLS = ("openai-chat/plain/sync", "openai-responses/stream/sync", "anthropic-messages/stream/sync")


class _TenMore(Loop):
    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **{**named, "limit": named["limit"] and named["limit"] + 10})


class OverTheLimit(Driver):
    """A loop that asks ten times more than it may."""

    loop = _TenMore


def steps(driver: str, row: str, cell: str, cases: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The receipt of the one cause."""
    (cause,) = judged(driver, row, cells=(cell,), cases=cases).json["causes"]
    found: list[dict[str, Any]] = cause["receipt"]
    return found


@pytest.mark.parametrize("cell", CELLS)
def test_the_first_wrong_request_is_marked(cell: str) -> None:
    """The request whose results are swapped says what is wrong, and the lines of the place are marked."""
    (wrong,) = [step for step in steps(SWAPPED, ROW, cell, ONE) if "wrong" in step]

    assert wrong["title"].startswith("request 2: POST /v1/")
    assert "expected: " in wrong["wrong"]
    assert [step for step in wrong["marked"] if step < len(wrong["lines"])] == wrong["marked"] != []


@pytest.mark.parametrize("cell", CELLS)
def test_a_receipt_is_the_same_in_every_run(cell: str) -> None:
    """It has no times, addresses or ids of runs, and what was asked, answered, run and returned is in it."""
    first, second = (steps(SWAPPED, ROW, cell, ONE) for _ in range(2))

    assert first == second
    assert {"loop", "service", "tool"} <= {step["actor"] for step in first}


def test_an_end_that_is_wrong_is_marked() -> None:
    """A loop that stops behind a call: its outcome is the first wrong event."""
    found = steps(FLAWED, "call-runs-its-tool-once", CELLS[0])

    assert "the run ends as an answer" == found[-1]["title"]
    assert found[-1]["wrong"].startswith("given-up")


def test_without_a_run_there_is_no_receipt() -> None:
    """A check that never began has none."""
    assert receipt([]) is None


def test_only_what_is_shown_is_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long run: its middle is left out, and only the requests that are shown are made into lines."""
    written: set[int] = set()

    def outlined(body: dict[str, Any], *more: Any) -> list[Line]:
        written.add(len(body["messages"]))
        return list(outline(body, *more))

    monkeypatch.setattr("looptck.failures.receipt.outline", outlined)
    found = steps(f"python:{__name__}:OverTheLimit", "limit-is-a-ceiling", CELLS[0], cases=("endless-calls[7]",))
    requests = {step["title"] for step in found if step["title"].startswith("request ")}

    assert "kit" in {step["actor"] for step in found}
    assert MOST_STEPS + 2 >= len(found)
    assert len(written) == len(requests) < 16
