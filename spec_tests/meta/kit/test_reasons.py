"""Which wrong event is behind a verdict: a wrong request that was accepted is not behind all that goes wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from looptck.failures.reasons import is_behind, wrong_behind
from looptck.failures.signs import Sign
from looptck.values.history import Said
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.wires import ChatWire
from meta.drivers.bench import judged
from meta.kit.test_signs import ASKED, DONE, FIRST, PROMPT, RAISED, RESULT, TWO, ran, request, run

CHANGED: Sign = ("history", "the prompt", "changed")
LOST: Sign = ("history", "result", "left out")
SAYS_STOP = Said("user", "Stop.", "/messages/0")
ABOUT_REQUESTS = "request 2 lacks 'Go.', from user"
LIMIT = "2 is more than 1; what should hold: the loop is asked as often as the limit allows."


class _OneTooMany(Loop):
    """Asks the model once more than its limit allows."""

    def limit_reached(self) -> bool:
        return self.model_calls > self.limit


class _SpeaksOnce(ChatWire):
    """Sends the system message with the first request only."""

    def request(self, agent: Agent, history: Sequence[dict[str, Any]], *, stream: bool) -> dict[str, Any]:
        again = any(message["role"] == "assistant" for message in history)
        kept = [message for message in history if not (again and message["role"] == "system")]
        return super().request(agent, kept, stream=stream)


class TwoFaults(Driver):
    """Loses the system message, and knows no limit: two faults, both of which show in a long run."""

    loop = _OneTooMany
    wires = {**Driver.wires, "openai-chat": _SpeaksOnce()}  # noqa: RUF012


@pytest.mark.parametrize(
    ("reason", "sign"),
    [
        (ABOUT_REQUESTS, CHANGED),
        ("expected [user says 'Go.'], got []", CHANGED),
        ("the next request carries none", CHANGED),
        ("at /messages/1: assistant says 'Hm.', where the turn had thinking", CHANGED),
        (LIMIT, None),
        ("request 3 never came: the loop made 2 model requests and returned 'Done.'", None),
        ("expected tool runs: none; actual tool runs: ping({})", None),
    ],
)
def test_an_accepted_request_is_behind_verdicts_about_requests(reason: str, sign: Sign | None) -> None:
    """The model is scripted, so what comes after the request does not come from it."""
    made = run(TWO, DONE, FIRST, ran(2), request(2, 3, SAYS_STOP, ASKED, RESULT))
    found = wrong_behind(made, reason)

    assert sign == (found and found[1])
    assert (sign is not None) == is_behind(made, reason)


@pytest.mark.parametrize(
    ("pointer", "sign"), [("/messages/0/content", CHANGED), ("/messages/1/role", ("refused", "a-rule"))]
)
def test_a_refusal_elsewhere_is_one_of_its_own(pointer: str, sign: Sign) -> None:
    """The service refuses a request at the place of the change because of it, and elsewhere for another fault."""
    wrong = request(2, 3, SAYS_STOP, ASKED, RESULT, problem="a-rule")
    wrong = replace(wrong, problems=(replace(wrong.problems[0], pointer=pointer),))
    found = wrong_behind(run(TWO, DONE, FIRST, ran(2), wrong), "request 2 is refused")

    assert sign == (found and found[1])


def test_another_wrong_event_is_behind_what_the_first_does_not_explain() -> None:
    """An error at the end is one of its own."""
    made = run(TWO, RAISED, FIRST, ran(2), request(2, 3, SAYS_STOP, ASKED, RESULT))

    assert (CHANGED, ("error", "KeyError", "choices")) == tuple(
        found[1] for found in (wrong_behind(made, reason) for reason in (ABOUT_REQUESTS, LIMIT)) if found
    )


@pytest.mark.parametrize("reason", [ABOUT_REQUESTS, LIMIT])
def test_a_missing_result_is_behind_everything(reason: str) -> None:
    """It may be missing because no tool ran."""
    found = wrong_behind(run(TWO, DONE, FIRST, ran(2), request(2, 3, PROMPT, ASKED)), reason)

    assert found is not None
    assert LOST == found[1]


def test_two_faults_are_two_causes() -> None:
    """The failures of each are under its own name, and the block of one shows no evidence of the other."""
    rows = ("limit-is-a-ceiling", "history-only-grows", "prefix-is-the-same")
    report = judged("python:meta.kit.test_reasons:TwoFaults", *rows)
    limit, history = report.json["causes"]

    assert ("limit-is-a-ceiling", {}) == (limit["requirement"], limit["noticed_by"])
    assert ("history-only-grows", ["prefix-is-the-same"]) == (history["requirement"], [*history["noticed_by"]])
    assert [] == [line for line in limit["evidence"] if "first wrong request" in line]
    assert [line for line in history["evidence"] if "first wrong request" in line]


def test_a_reason_needs_no_words_of_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pytest before 9.2 raises where it would describe a comparison, because a run of the suite has no terminal."""

    def raises(config: object, op: str, left: object, right: object) -> None:
        raise AssertionError

    monkeypatch.setattr("_pytest.assertion.pytest_assertrepr_compare", raises)

    report = judged("python:meta.kit.test_reasons:TwoFaults", "limit-is-a-ceiling")

    assert "under the limit of 1 the model was asked 2 times" in report.printed
