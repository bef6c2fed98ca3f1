"""Server-side loops: several approval questions, and what a denial is worth later."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from looptck.bench.checks import Liveness, requirement
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest, tool
from looptck.provider.gate import Gate
from looptck.spec.server_loop.approving import DENY, ROME, WEATHER, Approver, was_asked
from looptck.spec.server_loop.sessions import fresh
from looptck.values.plain import plain
from looptck.values.transcript import ServerEvent
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

WAIT = 5.0
"""Seconds to wait for another session, which a server that plays one run at a time never lets begin."""


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
        asking = {"permission": "ask", "session": fresh(), "stream": True}
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
    session = fresh()
    scenario.plays(calls(WEATHER), says("Done."))
    approver = Approver(server, {**DENY, "remember_for_session": True})
    was_asked(approver, approver.ask(session=session))

    run = approver.ask(session=session)

    run.request(1)
    assert [] == run.tools_ran, "the tool ran, although its denial was to be remembered"


def _are_different(questions: Sequence[Mapping[str, Any]]) -> None:
    """Assert that open questions have different ids, so that no decision is taken for another."""
    ids = [question.get("approval_id") for question in questions]
    assert len(ids) == len({*map(str, ids)}), f"two open questions have the approval_id {plain(ids[0])}"
