"""Server-side loops: tools that run after the client was asked, or never."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from looptck.agents import Tool
from looptck.checks import control, requirement
from looptck.client.reply import APPROVAL
from looptck.client.schemas import faults
from looptck.guest import Guest, tool
from looptck.history import same_value
from looptck.kit import Scene
from looptck.provider.gates import ABSENCE, tool_began
from looptck.provider.toolbox import Returns
from looptck.run import Run
from looptck.transcript import Told
from looptck.turns import Call, calls, says
from looptck.verdicts import NotReached

ROME = {"city": "Rome"}
WEATHER = Call.of("weather", ROME)
APPROVE: Mapping[str, Any] = {"decision": "approve"}
REMEMBER: Mapping[str, Any] = {"decision": "approve", "remember_for_session": True}
DENY: Mapping[str, Any] = {"decision": "deny", "message": "Not in Rome, not today."}


@dataclass(slots=True)
class Approver:
    """Answers each question of a stream with the same decision, and keeps what it was asked and what came of it."""

    guest: Guest
    decision: Mapping[str, Any] = field(default_factory=lambda: APPROVE)
    first: Callable[[], object] = lambda: None
    """Called before each answer."""
    asked: list[Mapping[str, Any]] = field(default_factory=list)
    replies: list[httpx.Response] = field(default_factory=list)

    def __call__(self, event: Told) -> None:
        """Look at an event of the stream."""
        if event.name != APPROVAL or not isinstance(event.value, dict):
            return
        self.asked.append(event.value)
        self.first()
        self.replies.append(decide(self.guest, str(event.value.get("approval_id")), self.decision))

    def ask(self, *tools: Tool, session: str | None = None) -> Run:
        """Ask in a stream that wants approvals, with these tools or the usual ones."""
        offers = tools or self.guest.offers
        return self.guest.ask(permission="ask", tools=offers, session=session, stream=True, on_event=self)


def decide(guest: Guest, id: str, decision: Mapping[str, Any]) -> httpx.Response:
    """Give a decision."""
    with guest.http() as client:
        return client.post(f"/v1/agent/approvals/{id}", json=decision)


@requirement("server-denied-tools-do-not-run")
def test_denied_by_the_request(provider: Scene, guest: Guest) -> None:
    """With deny the tool is offered and does not run, and the model reads something; with auto it runs."""
    provider.plays(calls(WEATHER), says("Done."))
    control(guest.ask(permission="auto"), "weather")

    run = guest.ask(permission="deny")

    _denied(guest, run)
    offers = [tool.name for tool in run.request(2).request.tools]
    guest.implementation.diverges("denied_tools", "offered" if "weather" in offers else "hidden")


@requirement("server-request-cannot-loosen-the-permission")
def test_denied_by_the_server(provider: Scene, guest: Guest) -> None:
    """A server that denies does so for a request that says auto; one that does not runs the tool."""
    provider.plays(calls(WEATHER), says("Done."))
    control(guest.ask(permission="auto"), "weather")

    run = guest.ask(permission="auto", setup="denying")

    _denied(guest, run)


@requirement("server-ask-needs-a-stream")
def test_asking_without_a_stream(provider: Scene, guest: Guest) -> None:
    """Such a request is refused before the model is asked; the same request with auto is answered."""
    provider.plays(calls(WEATHER), says("Done."))
    if not (taken := guest.ask(permission="auto")).got.ok:
        raise NotReached(f"control: a plain request with auto got {taken.got}")

    run = guest.ask(permission="ask")

    assert 400 <= run.got.status < 500, f"the request got {run.got}"
    assert ([], []) == (run.received, run.tools_ran)


@requirement("server-approval-is-asked-before-the-run")
def test_asked_before_the_run(provider: Scene, guest: Guest) -> None:
    """The event says which call waits; the tool runs when the client has approved, and not before."""
    began = tool_began("weather")
    early: list[bool] = []
    approver = Approver(guest, first=lambda: early.append(began.wait_here(ABSENCE)))
    provider.plays(calls(WEATHER), says("Done."))
    provider.does("weather", Returns("Sunny.", hold=began))

    run = approver.ask()

    _was_asked(approver, run)
    assert [False] == early, "the tool ran before it was approved"
    assert [("weather", ROME)] == run.tools_ran
    assert 1 == len(approver.asked), f"one call led to {len(approver.asked)} questions"
    event = approver.asked[0]
    assert same_value(ROME, event.get("arguments")), f"the arguments that wait are {event.get('arguments')!r}"
    assert [] == faults("approval-required", event)


@requirement("server-approved-tools-run")
def test_approved(provider: Scene, guest: Guest) -> None:
    """The approval is taken, the tool runs once, and the answer comes."""
    approver = Approver(guest)
    provider.plays(calls(WEATHER), says("Done."))

    run = approver.ask()

    _was_asked(approver, run)
    assert [200] == [reply.status_code for reply in approver.replies]
    assert _status(approver.replies[0]) in {"resolved", "queued"}
    assert [("weather", ROME)] == run.tools_ran
    assert "Done." == run.got.text


@requirement("server-denial-tells-the-model-its-message")
def test_denied_with_a_message(provider: Scene, guest: Guest) -> None:
    """The tool does not run and the model reads the message; approved, the tool runs."""
    provider.plays(calls(WEATHER), says("Done."))
    control(Approver(guest).ask(), "weather")
    approver = Approver(guest, DENY)

    run = approver.ask()

    _was_asked(approver, run)
    _denied(guest, run)
    assert DENY["message"] in run.new_answers(1)[0].text


@requirement("server-remembered-approval-is-not-asked-again")
def test_remembered(provider: Scene, guest: Guest) -> None:
    """Later calls of the session run without a question, in the same request and in the next one."""
    once = Approver(guest)
    _three_calls(provider, once)
    if len(once.asked) != 3:
        raise NotReached(f"control: of three calls that were approved without a word {len(once.asked)} were asked for")
    approver = Approver(guest, REMEMBER)

    ran = _three_calls(provider, approver)

    assert 3 == ran, f"{ran} of three calls ran"
    assert 1 == len(approver.asked), f"{len(approver.asked)} questions for three calls"


@requirement("server-remembered-approval-stays-in-its-session")
def test_remembered_elsewhere(provider: Scene, guest: Guest) -> None:
    """What one session remembers, the next call of another is asked for before it runs."""
    forecast = tool(f"forecast_{secrets.token_hex(4)}", city="string")  # which no test before has had remembered
    wanted = Call.of(forecast.name, ROME)
    own = Approver(guest, REMEMBER)
    session = _session()
    for _ in range(2):
        provider.plays(calls(wanted), says("Done."))
        own.ask(forecast, session=session)
    if len(own.asked) != 1:
        raise NotReached(f"control: {len(own.asked)} questions for two calls of a session that is to remember one")
    began = tool_began(forecast.name)
    early: list[bool] = []
    other = Approver(guest, first=lambda: early.append(began.wait_here(ABSENCE)))
    provider.plays(calls(wanted), says("Done."))
    provider.does(forecast.name, Returns("Sunny.", hold=began))

    run = other.ask(forecast, session=_session())

    assert run.got.ended
    assert early, "a call of another session ran without a question"
    assert [False] == early, "a call of another session ran before it was approved"
    assert [(forecast.name, ROME)] == run.tools_ran


@requirement("server-unknown-approval-is-404")
def test_unknown_approval(provider: Scene, guest: Guest) -> None:
    """A decision is not found for an id that nobody has given, nor again for one that was resolved."""
    approver = Approver(guest)
    if guest.can("dispatch"):
        provider.plays(calls(WEATHER), says("Done."))
        _was_asked(approver, approver.ask())
        if approver.replies[0].status_code != 200:
            raise NotReached(f"control: an approval that was asked for got {approver.replies[0].status_code}")

    for id in (f"appr_{secrets.token_hex(16)}", *(str(event.get("approval_id")) for event in approver.asked)):
        got = decide(guest, id, APPROVE)

        assert (404, "not_found") == (got.status_code, _status(got))


def _was_asked(approver: Approver, run: Run) -> None:
    """Raises NotReached where the stream had no question."""
    if not approver.asked:
        raise NotReached(f"the stream asked for no approval: {run.got}")


def _denied(guest: Guest, run: Run) -> None:
    """No tool ran, the model read of its call, and the answer came."""
    answers = run.new_answers(1)

    assert [] == run.tools_ran, "the tool ran all the same"
    assert 1 == len(answers), f"the model read {len(answers)} results of the call that was denied"
    assert answers[0].text.strip(), "the result of the call that was denied says nothing"
    assert "Done." == run.got.text
    guest.implementation.diverges("denied_result", answers[0].text)


def _three_calls(provider: Scene, approver: Approver) -> int:
    """Two rounds and, in another request of the session, a third; how many tools have run."""
    session = _session()
    provider.plays(calls(WEATHER), calls(WEATHER), says("Done."))
    first = approver.ask(session=session)
    provider.plays(calls(WEATHER), says("Done."))
    second = approver.ask(session=session)
    if not (first.got.ended and second.got.ended):
        raise NotReached(f"the streams of the session came to {first.got} and {second.got}")
    return len(first.ran) + len(second.ran)


def _session() -> str:
    """An id that nobody has used."""
    return f"looptck-{secrets.token_hex(8)}"


def _status(got: httpx.Response) -> Any:
    try:
        body = got.json()
    except ValueError:
        return None
    return body.get("status") if isinstance(body, dict) else None
