"""Clients that answer the approval questions of a server, and what they get for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from looptck.bench.checks import Liveness
from looptck.bench.client.reply import APPROVAL
from looptck.bench.run import Run
from looptck.bench.server import ServerUnderTest
from looptck.catalogue.agents import Tool
from looptck.spec.server_loop.replies import went_on
from looptck.values.lenient import as_object
from looptck.values.plain import cut, plain
from looptck.values.transcript import ServerEvent
from looptck.values.turns import Call
from looptck.values.verdicts import NotReached

if TYPE_CHECKING:
    import httpx

ROME = {"city": "Rome"}
WEATHER = Call.of("weather", ROME)
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
    came: int = 0
    """The number of events that came."""
    unread: str = ""
    """Why an event that may be a question is none; empty: there was no such event."""

    def __call__(self, event: ServerEvent) -> None:
        """Handle an event of the stream."""
        self.came += 1
        if event.name != APPROVAL or not isinstance(event.value, dict):
            self.unread = self.unread or _unread(event)
            return
        self.asked.append(event.value)
        self.first()
        self.replies.append(decide(self.server, str(event.value.get("approval_id")), self.decision))

    def ask(self, *tools: Tool, session: str | None = None) -> Run:
        """Send a streamed request that asks for approvals, with these tools or the default ones."""
        offers = tools or self.server.offers
        try:
            return self.server.ask(permission="ask", tools=offers, session=session, stream=True, on_event=self)
        except Liveness as silent:
            came = self.unread or ("" if self.came else "no event of the stream came")
            raise Liveness(f"{came}; {silent}" if came else str(silent)) from None


def _unread(event: ServerEvent) -> str:
    """What is wrong with an event that is a question but for its name, or for its data."""
    if event.name == APPROVAL:
        return f"the data of the event {APPROVAL} is no JSON object: {cut(plain(event.value), 100)}"
    if as_object(event.value).get("type") != APPROVAL:
        return ""
    name = f"the name {event.name}" if event.name else "no name"
    return f"an event of the type {APPROVAL} has {name}"


def decide(server: ServerUnderTest, id: str, decision: Mapping[str, Any]) -> httpx.Response:
    """Send a decision."""
    with server.http() as client:
        return client.post(f"/v1/agent/approvals/{id}", json=decision)


def was_asked(approver: Approver, run: Run) -> None:
    """Raises NotReached if the stream had no approval question."""
    if not approver.asked:
        raise NotReached(f"the stream asked for no approval: {run.got}")


def denied(server: ServerUnderTest, run: Run) -> None:
    """Assert that no tool ran, that the model got a result for its call, and that the answer came."""
    run.delivered(1)

    assert [] == run.tools_ran, "the tool ran although it was denied"
    went_on(run, "the denial")
    answers = run.new_answers(1)
    assert 1 == len(answers), f"the model got {len(answers)} results for the denied call"
    assert answers[0].text.strip(), "the result of the denied call is empty"
    assert "Done." == run.got.text
    server.implementation.diverges("denied_result", answers[0].text)
