"""Server-side loops: tools that run only after the client has approved them, or never."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from looptck.bench.bench import Scenario
from looptck.bench.checks import Liveness, control, requirement
from looptck.bench.run import Run
from looptck.bench.server import ServerUnderTest, tool
from looptck.catalogue.agents import Tool
from looptck.client.reply import APPROVAL
from looptck.client.schemas import faults
from looptck.provider.gate import Gate
from looptck.provider.gates import ABSENCE, tool_began
from looptck.provider.toolbox import Returns
from looptck.spec.server_loop.replies import events_of_phase
from looptck.values.history import same_value
from looptck.values.plain import plain
from looptck.values.transcript import ServerEvent
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

if TYPE_CHECKING:
    import httpx

WAIT = 5.0
"""Seconds to wait for another session, which a server that plays one run at a time never lets begin."""
ROME = {"city": "Rome"}
WEATHER = Call.of("weather", ROME)
MOST = 8
"""The number of model requests that an endless script answers."""
APPROVE: Mapping[str, Any] = {"decision": "approve"}
REMEMBER: Mapping[str, Any] = {"decision": "approve", "remember_for_session": True}
DENY: Mapping[str, Any] = {"decision": "deny", "message": "Not in Rome, not today."}


@dataclass(slots=True)
class Approver:
    """Answers each approval question of a stream with the same decision, and records questions and replies."""

    server: ServerUnderTest
    decision: Mapping[str, Any] = field(default_factory=lambda: APPROVE)
    first: Callable[[], object] = lambda: None
    """Called before each answer."""
    asked: list[Mapping[str, Any]] = field(default_factory=list)
    replies: list[httpx.Response] = field(default_factory=list)

    def __call__(self, event: ServerEvent) -> None:
        """Handle an event of the stream."""
        if event.name != APPROVAL or not isinstance(event.value, dict):
            return
        self.asked.append(event.value)
        self.first()
        self.replies.append(decide(self.server, str(event.value.get("approval_id")), self.decision))

    def ask(self, *tools: Tool, session: str | None = None) -> Run:
        """Send a streamed request that asks for approvals, with these tools or the default ones."""
        offers = tools or self.server.offers
        return self.server.ask(permission="ask", tools=offers, session=session, stream=True, on_event=self)


def decide(server: ServerUnderTest, id: str, decision: Mapping[str, Any]) -> httpx.Response:
    """Send a decision."""
    with server.http() as client:
        return client.post(f"/v1/agent/approvals/{id}", json=decision)


@requirement("server-denied-tools-do-not-run")
def test_denied_by_the_request(scenario: Scenario, server: ServerUnderTest) -> None:
    """With deny, the tool is offered but does not run, and the model gets a result; with auto it runs."""
    scenario.plays(calls(WEATHER), says("Done."))
    control(server.ask(permission="auto"), "weather")

    run = server.ask(permission="deny")

    _denied(server, run)
    offers = [tool.name for tool in run.request(2).request.tools]
    server.implementation.diverges("denied_tools", "offered" if "weather" in offers else "hidden")


@requirement("server-denied-tools-do-not-run")
def test_denied_rounds(scenario: Scenario, server: ServerUnderTest) -> None:
    """Denied calls use up a cap: a model that never stops calling them is asked once a round, and once more at most."""
    if not server.can("rounds"):
        raise NotApplicable("the server does not take max_tool_rounds")
    scenario.always(lambda n: calls(Call.of("weather", {"city": f"city {n}"})), most=MOST)

    run = server.ask(permission="deny", rounds=2)

    run.request(2)
    assert [] == run.tools_ran, "the tool ran although it was denied"
    asked = len(run.received)
    assert asked <= 3, f"the request allows two rounds, and the model, whose calls were denied, was asked {asked} times"


@requirement("server-request-cannot-loosen-the-permission")
def test_denied_by_the_server(scenario: Scenario, server: ServerUnderTest) -> None:
    """A server that denies does so for a request with auto; a server that does not runs the tool."""
    scenario.plays(calls(WEATHER), says("Done."))
    control(server.ask(permission="auto"), "weather")

    run = server.ask(permission="auto", setup="denying")

    _denied(server, run)


@requirement("server-ask-needs-a-stream")
def test_asking_without_a_stream(scenario: Scenario, server: ServerUnderTest) -> None:
    """A plain request with ask is refused before the model is asked; with auto it is answered."""
    scenario.plays(calls(WEATHER), says("Done."))
    if not (taken := server.ask(permission="auto")).got.ok:
        raise NotReached(f"control: a plain request with auto got {taken.got}")

    run = server.ask(permission="ask")

    assert 400 <= run.got.status < 500, f"the request got {run.got}"
    assert ([], []) == (run.received, run.tools_ran)


@requirement("server-approval-is-asked-before-the-run")
def test_asked_before_the_run(scenario: Scenario, server: ServerUnderTest) -> None:
    """The event names the waiting call; the tool runs only after the client has approved it."""
    began = tool_began("weather")
    early: list[bool] = []
    approver = Approver(server, first=lambda: early.append(began.wait_here(ABSENCE)))
    scenario.plays(calls(WEATHER), says("Done."))
    scenario.does("weather", Returns("Sunny.", hold=began))

    run = approver.ask()

    _was_asked(approver, run)
    assert [False] == early, "the tool ran before it was approved"
    assert [("weather", ROME)] == run.tools_ran
    assert 1 == len(approver.asked), f"one call led to {len(approver.asked)} questions"
    event = approver.asked[0]
    assert same_value(ROME, event.get("arguments")), (
        f"the approval question has the arguments {event.get('arguments')!r}"
    )
    assert [] == faults("approval-required", event)


@requirement("server-approval-is-asked-before-the-run")
def test_two_open_questions(scenario: Scenario, server: ServerUnderTest) -> None:
    """Two sessions wait for approval at the same time; the first approves, then the other denies: one tool runs."""
    granted, refused = (tool(f"forecast_{secrets.token_hex(4)}", city="string") for _ in range(2))
    both = Gate("both sessions have asked for approval")
    decided = Gate("the first session has approved its call")
    arrived: list[None] = []

    def arrive() -> None:
        arrived.append(None)
        if len(arrived) == 2:
            both.open()
        both.wait_here(WAIT)

    def arrive_last() -> None:
        arrive()
        decided.wait_here(WAIT)

    granting, refusing = Approver(server, first=arrive), Approver(server, DENY, first=arrive_last)

    def grant(event: ServerEvent) -> None:
        granting(event)
        if granting.replies:
            decided.open()

    begun = []
    for offered, on_event in ((granted, grant), (refused, refusing)):
        scenario.plays(calls(Call.of(offered.name, ROME)), says("Done."))
        asking = {"permission": "ask", "session": _session(), "stream": True}
        begun.append(server.begin(tools=(offered,), on_event=on_event, **asking))  # type: ignore[arg-type]
    try:
        first, other = map(server.end, begun)
    except Liveness:
        _are_different(granting.asked + refusing.asked)
        raise

    _are_different(granting.asked + refusing.asked)
    if not both.is_open:
        raise NotReached(f"the two sessions never waited for approval at the same time: {first.got}, {other.got}")
    assert [] == other.tools_ran, "the approval of one session ran the tool of another, which was denied"
    assert [(granted.name, ROME)] == first.tools_ran, "the tool did not run that its session has approved"


@requirement("server-approval-is-asked-before-the-run")
def test_remembered_denial(scenario: Scenario, server: ServerUnderTest) -> None:
    """A denial that is to be remembered approves nothing: no later call of the session runs."""
    session = _session()
    scenario.plays(calls(WEATHER), says("Done."))
    approver = Approver(server, {**DENY, "remember_for_session": True})
    _was_asked(approver, approver.ask(session=session))

    run = approver.ask(session=session)

    run.request(1)
    assert [] == run.tools_ran, "the tool ran, although its denial was to be remembered"


@requirement("server-approval-is-asked-after-calling")
def test_asked_after_calling(scenario: Scenario, server: ServerUnderTest) -> None:
    """In each of two rounds the calling event comes first, and then the approval question."""
    approver = Approver(server)
    scenario.plays(calls(WEATHER), calls(WEATHER), says("Done."))

    run = approver.ask()

    _was_asked(approver, run)
    phases = [(event.at, event.phase) for event in events_of_phase(run.got, "calling")]
    asked = [(at, "asked") for at, event in enumerate(run.got.events) if event.name == APPROVAL]
    assert ["calling", "asked"] * 2 == [reported for _, reported in sorted(phases + asked)]


@requirement("server-approved-tools-run")
def test_approved(scenario: Scenario, server: ServerUnderTest) -> None:
    """The approval is accepted, the tool runs once, and the answer comes."""
    approver = Approver(server)
    scenario.plays(calls(WEATHER), says("Done."))

    run = approver.ask()

    _was_asked(approver, run)
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

    _was_asked(approver, run)
    _denied(server, run)
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
    own = Approver(server, REMEMBER)
    session = _session()
    for _ in range(2):
        scenario.plays(calls(wanted), says("Done."))
        own.ask(forecast, session=session)
    if len(own.asked) != 1:
        raise NotReached(
            f"control: {len(own.asked)} questions for two calls of a session that should remember the approval"
        )
    began = tool_began(forecast.name)
    early: list[bool] = []
    other = Approver(server, first=lambda: early.append(began.wait_here(ABSENCE)))
    scenario.plays(calls(wanted), says("Done."))
    scenario.does(forecast.name, Returns("Sunny.", hold=began))

    run = other.ask(forecast, session=_session())

    assert run.got.ended
    assert early, "a call of another session ran without a question"
    assert [False] == early, "a call of another session ran before it was approved"
    assert [(forecast.name, ROME)] == run.tools_ran


@requirement("server-unknown-approval-is-404")
def test_unknown_approval(scenario: Scenario, server: ServerUnderTest) -> None:
    """A decision for an unknown id, or for a question that was already answered, is not found."""
    approver = Approver(server)
    if server.can("dispatch"):
        scenario.plays(calls(WEATHER), says("Done."))
        _was_asked(approver, approver.ask())
        if approver.replies[0].status_code != 200:
            raise NotReached(f"control: an approval of an open question got {approver.replies[0].status_code}")

    for id in (f"appr_{secrets.token_hex(16)}", *(str(event.get("approval_id")) for event in approver.asked)):
        got = decide(server, id, APPROVE)

        assert (404, "not_found") == (got.status_code, _status(got))


def _are_different(questions: Sequence[Mapping[str, Any]]) -> None:
    """Assert that open questions have different ids, so that no decision is taken for another."""
    ids = [question.get("approval_id") for question in questions]
    assert len(ids) == len({*map(str, ids)}), f"two open questions have the approval_id {plain(ids[0])}"


def _was_asked(approver: Approver, run: Run) -> None:
    """Raises NotReached if the stream had no approval question."""
    if not approver.asked:
        raise NotReached(f"the stream asked for no approval: {run.got}")


def _denied(server: ServerUnderTest, run: Run) -> None:
    """Assert that no tool ran, that the model got a result for its call, and that the answer came."""
    answers = run.new_answers(1)

    assert [] == run.tools_ran, "the tool ran although it was denied"
    assert 1 == len(answers), f"the model got {len(answers)} results for the denied call"
    assert answers[0].text.strip(), "the result of the denied call is empty"
    assert "Done." == run.got.text
    server.implementation.diverges("denied_result", answers[0].text)


def _three_calls(scenario: Scenario, approver: Approver) -> int:
    """Two rounds and, in another request of the session, a third; returns the number of tools that ran."""
    session = _session()
    scenario.plays(calls(WEATHER), calls(WEATHER), says("Done."))
    first = approver.ask(session=session)
    scenario.plays(calls(WEATHER), says("Done."))
    second = approver.ask(session=session)
    if not (first.got.ended and second.got.ended):
        raise NotReached(f"the streams of the session got {first.got} and {second.got}")
    return len(first.ran) + len(second.ran)


def _session() -> str:
    """An id that no session has."""
    return f"looptck-{secrets.token_hex(8)}"


def _status(got: httpx.Response) -> Any:
    try:
        body = got.json()
    except ValueError:
        return None
    return body.get("status") if isinstance(body, dict) else None
