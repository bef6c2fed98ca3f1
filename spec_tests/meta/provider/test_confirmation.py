"""Confirmation: the mock run's answers to the hook that asks about calls, and its transcript."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.provider.confirmation import Approve, Change, Confirmation, Decision, Reject, Unavailable
from looptck.provider.gate import Gate
from looptck.provider.http import HttpRequest
from looptck.provider.mock_run import MockRun
from looptck.values.transcript import ConfirmAnswered, ConfirmAsked, UnroutedRequest
from meta.provider.mock_runs import mock_run, noted, parsed_reply, reply


def asked(mock_run: MockRun, tool: object = "ping") -> Any:
    """The hook's answer about a call."""
    return json.loads(parsed_reply(reply(mock_run, {"call": {"_tool": tool}}, "/c1/confirm"))[2])


def deciding(**decisions: list[Decision]) -> MockRun:
    """A mock run with these decisions by tool; ``other`` applies to all other tools."""
    made = mock_run()
    made.confirmation = Confirmation({"" if tool == "other" else tool: many for tool, many in decisions.items()})
    return made


def test_every_call_may_run_where_nothing_was_said() -> None:
    """Calls are approved by default, so that a check configures only the decisions that it needs."""
    assert {"decision": "approve"} == asked(mock_run())


def test_decisions_are_taken_one_for_each_question() -> None:
    """Each question takes the next decision, and the last one repeats; each tool has its own sequence."""
    played = deciding(other=[Reject("No."), Approve()], add=[Change({"a": 1})])

    wanted = ["reject", "change", "approve", "approve", "change"]
    assert wanted == [asked(played, tool)["decision"] for tool in ("ping", "add", "echo", "ping", "add")]


def test_a_call_without_a_tool_gets_a_decision_too() -> None:
    """The model's output may be an invalid call; the loop decides whether to ask about it."""
    assert {"decision": "reject", "feedback": "No."} == asked(deciding(other=[Reject("No.")]), [1])


def test_a_hook_that_fails_decides_nothing() -> None:
    """It answers with a status and no JSON, or closes the connection without an answer; both are written down."""
    played = deciding(other=[Unavailable(503), Unavailable(None)])
    question = {"call": {"_tool": "ping"}}

    status, headers, body = parsed_reply(reply(played, question, "/c1/confirm"))
    broken = reply(played, question, "/c1/confirm")

    assert (503, "text/plain", b"answers with status 503") == (status, headers["content-type"], body)
    assert ([b""], True) == (broken.parts, broken.then_close)
    assert ["the service answers with status 503", "the service hangs up"] == [
        one.decision["error"] for one in noted(played, ConfirmAnswered)
    ]


def test_questions_and_decisions_are_written_down() -> None:
    """The transcript has the call, and a number that connects question and decision."""
    played = deciding(add=[Change({"a": 1})])
    asked(played)
    asked(played, "add")

    ping, add = {"_tool": "ping"}, {"_tool": "add"}
    assert [(1, ping), (2, add)] == [(one.question, one.call) for one in noted(played, ConfirmAsked)]
    assert [(1, ping, {"decision": "approve"}), (2, add, {"decision": "change", "parameters": {"a": 1}})] == [
        (one.question, one.call, one.decision) for one in noted(played, ConfirmAnswered)
    ]


def test_a_held_question_is_asked_and_not_answered() -> None:
    """The question is answered when its gate opens, and other requests do not wait for it."""
    gate = Gate("held")
    played = deciding(ping=[Approve(hold=gate)])

    answer = played.answer(HttpRequest("POST", "/c1/confirm", {}, b'{"call": {"_tool": "ping"}}'))
    other = asked(played, "add")

    assert answer is not None
    assert gate is answer.parts[0]
    assert {"decision": "approve"} == other
    assert ([1, 2], [2]) == tuple(
        [one.question for one in noted(played, kind)] for kind in (ConfirmAsked, ConfirmAnswered)
    )


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"call": null}', b'{"call": "ping"}'])
def test_a_question_about_no_call_is_the_drivers_fault(body: bytes) -> None:
    """A driver that posts something else gets an error with the expected form, and no question is recorded."""
    played = mock_run()

    status, _, answer = parsed_reply(reply(played, body, "/c1/confirm"))

    assert (400, "DriverError") == (status, json.loads(answer)["error"]["type"])
    assert [] == noted(played, ConfirmAsked)
    assert ["/confirm without a call"] == [one.path for one in noted(played, UnroutedRequest)]
