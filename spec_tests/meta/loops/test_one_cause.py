"""A fault fails the requirement that it breaks, and not another that happens to be asked at the same place."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from looptck.provider.server import KEPT
from looptck_mutants.breaking import driver_of
from looptck_mutants.core.conversations import SuspendedCallsStayOpen
from looptck_mutants.core.faults import ErrorIsTheAnswer
from looptck_mutants.core.sse import EachDataLineIsAnEvent
from looptck_mutants.core.streams_chat import EndMarkerAwaited
from looptck_reference.kit.driver import Driver
from looptck_reference.kit.telling import Emit
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.values import Json, ToolCall, Turn
from meta.loops.judging import judged

CELL = "openai-chat/plain/sync"


def test_a_header_is_not_to_blame_where_every_refusal_is_hidden() -> None:
    """It does not try again without a Retry-After either, so no message says that it does."""
    rows = ["http-error-is-told", "odd-retry-after-is-no-error", "retry-after-may-be-a-date"]

    found = {one.requirement: one.verdict for one in judged(driver_of(ErrorIsTheAnswer), CELL, requirements=rows)}

    assert dict(zip(rows, ["fail", "not-applicable", "not-applicable"], strict=True)) == found


def test_a_call_that_stays_open_has_not_run() -> None:
    """The service refuses the question that comes in place of a decision; that says nothing of the call."""
    rows = ["next-turn-is-accepted", "suspended-call-has-not-run"]
    cases = ["a-question-in-place-of-a-decision", "another-question-is-no-approval"]
    driver = driver_of(SuspendedCallsStayOpen)

    results = judged(driver, CELL, requirements=rows, cases=cases)

    found = {one.case: one.verdict for one in results if one.requirement in rows}
    assert dict(zip(cases, ["fail", "not-applicable"], strict=True)) == found


@pytest.mark.parametrize(
    ("loop", "row", "others"),
    [
        (EndMarkerAwaited, "missing-end-marker-is-tolerated", {"framing-does-not-matter": "pass"}),
        (EachDataLineIsAnEvent, "data-lines-are-joined", {"bytes-may-be-cut-anywhere": "not-applicable"}),
    ],
)
def test_odd_streams_have_rows_of_their_own(loop: type, row: str, others: dict[str, str]) -> None:
    """A loop that reads a stream as its service promises it fails the SHOULD alone that goes further."""
    cases = ["no-end-marker*", "any-framing", "named-framings*", "data-lines", "cut-line-ends"]

    results = judged(driver_of(loop), "openai-chat/stream/sync", requirements=[row, *others], cases=cases)

    assert {row: "fail", **others} == {one.requirement: one.verdict for one in results}


class KeepsTheFirstFunctions(Driver):
    """Has one registry for the tools of all runs, in which the first function of each name stays."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: dict[str, str | None] = {}

    def run(self, case: Json, emit: Emit) -> Json:
        tools = [{**tool, "url": self.urls.setdefault(tool["name"], tool["url"])} for tool in case["tools"]]
        return super().run({**case, "tools": tools}, emit)


def test_a_function_of_another_run_is_told_as_such() -> None:
    """The model is told that it is one, and so is whoever reads what is wrong with the result."""
    rows = ["call-runs-its-tool-once", "text-result-arrives-unchanged", "empty-arguments-are-an-empty-object"]

    results = judged(KeepsTheFirstFunctions, CELL, requirements=rows)

    failed = [one for one in results if one.verdict == "fail" and one.requirement in rows]
    assert {*rows} == {one.requirement for one in failed}
    assert any(KEPT in one.reason for one in failed)


class AnswersTheFirstCall(Driver):
    """Runs the first call of a turn, and sends back the whole turn with the result of that one."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            return super().calls_of(turn)[:1]


def test_a_result_that_is_not_there_has_no_wrong_mark() -> None:
    """The row of the marks is not reached, and says which call has no result."""
    cases = ["result-looks-like-an-error"]
    rows = ["failed-results-are-marked"]

    results = judged(AnswersTheFirstCall, "anthropic-messages/plain/sync", requirements=rows, cases=cases)

    assert ["not-reached"] == [one.verdict for one in results if one.requirement in rows]
    assert 'no result for ["call_1b"]' in next(one.reason for one in results if one.requirement in rows)
