"""Server-side loops: tools that run only after the client has approved them, or never."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from looptck.bench.checks import Liveness, control, requirement
from looptck.bench.client.reply import APPROVAL
from looptck.bench.client.schemas import faults
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest, tool
from looptck.provider.gates import ABSENCE, tool_began
from looptck.provider.toolbox import Returns
from looptck.spec.server_loop.replies import events_of_phase
from looptck.values.history import same_value
from looptck.values.plain import plain
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

if TYPE_CHECKING:
    import httpx

from looptck.spec.server_loop.approving import (
    APPROVE,
    DENY,
    REMEMBER,
    ROME,
    WEATHER,
    Approver,
    decide,
    denied,
    was_asked,
)
from looptck.spec.server_loop.sessions import fresh


@requirement("server-approval-is-asked-before-the-run")
def test_asked_before_the_run(scenario: Scenario, server: ServerUnderTest) -> None:
    """The event names the waiting call; the tool runs only after the client has approved it."""
    began = tool_began("weather")
    early: list[bool] = []
    approver = Approver(server, first=lambda: early.append(began.wait_here(ABSENCE)))
    scenario.plays(calls(WEATHER), says("Done."))
    scenario.does("weather", Returns("Sunny.", hold=began))

    run = approver.ask()

    was_asked(approver, run)
    assert [False] == early, "the tool ran before it was approved"
    assert [("weather", ROME)] == run.tools_ran
    assert 1 == len(approver.asked), f"one call led to {len(approver.asked)} questions"
    event = approver.asked[0]
    assert same_value(ROME, event.get("arguments")), (
        f"the approval question has the arguments {event.get('arguments')!r}"
    )
    assert [] == faults("approval-required", event)


@requirement("server-approval-is-asked-after-calling")
def test_asked_after_calling(scenario: Scenario, server: ServerUnderTest) -> None:
    """In each of two rounds the calling event comes first, and then the approval question."""
    approver = Approver(server)
    scenario.plays(calls(WEATHER), calls(WEATHER), says("Done."))

    run = approver.ask()

    was_asked(approver, run)
    phases = [(event.at, event.phase) for event in events_of_phase(run.got, "calling")]
    asked = [(at, "asked") for at, event in enumerate(run.got.events) if event.name == APPROVAL]
    assert ["calling", "asked"] * 2 == [reported for _, reported in sorted(phases + asked)]


@requirement("server-approved-tools-run")
def test_approved(scenario: Scenario, server: ServerUnderTest) -> None:
    """The approval is accepted, the tool runs once, and the answer comes."""
    approver = Approver(server)
    scenario.plays(calls(WEATHER), says("Done."))

    run = approver.ask()

    was_asked(approver, run)
    assert [200] == [reply.status_code for reply in approver.replies]
    assert _status(approver.replies[0]) in {"resolved", "queued"}
    assert [("weather", ROME)] == run.tools_ran
    assert "Done." == run.got.text


@requirement("server-denial-tells-the-model-its-message")
def test_denied_with_a_message(scenario: Scenario, server: ServerUnderTest) -> None:
    """The tool does not run and the model reads the message; if approved, the tool runs."""
    scenario.plays(calls(WEATHER), says("Done."))
    control(Approver(server).ask(), "weather")
    approver = Approver(server, DENY)

    run = approver.ask()

    was_asked(approver, run)
    denied(server, run)
    assert DENY["message"] in run.new_answers(1)[0].text


@requirement("server-remembered-approval-is-not-asked-again")
def test_remembered(scenario: Scenario, server: ServerUnderTest) -> None:
    """Later calls of the session run without a question, in the same request and in the next one."""
    once = Approver(server)
    _three_calls(scenario, once)
    if len(once.asked) != 3:
        raise NotReached(f"control: three calls approved once each led to {len(once.asked)} questions")
    approver = Approver(server, REMEMBER)

    ran = _three_calls(scenario, approver)

    assert 3 == ran, f"{ran} of three calls ran"
    assert 1 == len(approver.asked), f"{len(approver.asked)} questions for three calls"


@requirement("server-remembered-approval-stays-in-its-session")
def test_remembered_elsewhere(scenario: Scenario, server: ServerUnderTest) -> None:
    """An approval that one session remembers does not count in another session, which is asked."""
    forecast = tool(f"forecast_{secrets.token_hex(4)}", city="string")  # a name that no earlier test has had remembered
    wanted = Call.of(forecast.name, ROME)
    first, at_once = tool_began(forecast.name), list[bool]()
    own = Approver(server, REMEMBER, first=lambda: at_once.append(first.wait_here(ABSENCE)))
    session = fresh()
    for does in ({"hold": first}, {}):
        scenario.plays(calls(wanted), says("Done."))
        scenario.does(forecast.name, Returns("Sunny.", **does))
        try:
            own.ask(forecast, session=session)
        except Liveness as silent:
            raise NotReached(f"control: the session that should be asked: {silent}") from None
    if True in at_once:
        raise NotReached("control: the call that the session asks about ran before it was approved")
    if len(own.asked) != 1:
        raise NotReached(
            f"control: {len(own.asked)} questions for two calls of a session that should remember the approval"
        )
    began = tool_began(forecast.name)
    early: list[bool] = []
    other = Approver(server, first=lambda: early.append(began.wait_here(ABSENCE)))
    scenario.plays(calls(wanted), says("Done."))
    scenario.does(forecast.name, Returns("Sunny.", hold=began))

    run = other.ask(forecast, session=fresh())

    if not run.got.ended:
        raise NotReached(f"the stream of the other session has no explicit end: {run.got}")
    assert early, "a call of another session ran without a question"
    assert [False] == early, "a call of another session ran before it was approved"
    assert [(forecast.name, ROME)] == run.tools_ran


@requirement("server-unknown-approval-is-404")
def test_unknown_approval(scenario: Scenario, server: ServerUnderTest) -> None:
    """A decision for an unknown id, or for a question that was already answered, is not found."""
    approver = Approver(server)
    if server.can("dispatch"):
        scenario.plays(calls(WEATHER), says("Done."))
        was_asked(approver, approver.ask())
        if approver.replies[0].status_code != 200:
            raise NotReached(f"control: an approval of an open question got {approver.replies[0].status_code}")

    unknown = {f"appr_{secrets.token_hex(16)}": "an unknown question"}
    answered = {str(event.get("approval_id")): "a question that was already answered" for event in approver.asked}
    for id, what in (unknown | answered).items():
        got = decide(server, id, APPROVE)

        assert (404, "not_found") == (got.status_code, _status(got)), (
            f"a decision on {what} was answered with {got.status_code} and the status {plain(_status(got))}"
        )


def _three_calls(scenario: Scenario, approver: Approver) -> int:
    """Two rounds and, in another request of the session, a third; returns the number of tools that ran."""
    session = fresh()
    scenario.plays(calls(WEATHER), calls(WEATHER), says("Done."))
    first = approver.ask(session=session)
    scenario.plays(calls(WEATHER), says("Done."))
    second = approver.ask(session=session)
    if not (first.got.ended and second.got.ended):
        raise NotReached(f"the streams of the session got {first.got} and {second.got}")
    return len(first.ran) + len(second.ran)


def _status(got: httpx.Response) -> Any:
    try:
        body = got.json()
    except ValueError:
        return None
    return body.get("status") if isinstance(body, dict) else None
