"""Approvals: tools that run after a question, or never."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from looptck_reference.server import Callback, Permission
from looptck_reference.server.approvals import Approvals
from looptck_reference.server.entry import CODE_TOOL
from looptck_reference.server.steps import Decision
from meta.reference.server.hand_clock import HandClock
from meta.reference.server.live import LiveStream
from meta.reference.server.serving import ASKS, World, call, names, turn

CALL = call("weather", {"city": "Paris"})


def test_questions_that_nobody_waits_for_are_closed() -> None:
    """Those of a run that ends before it waits for its decision, and those that were decided."""

    async def three() -> list[int]:
        approvals = Approvals(300, HandClock())
        approvals.ask("me", "left", "run")
        left = len(approvals)
        approvals.forget("run")
        closed = len(approvals)
        approvals.ask("me", "decided", "another")
        approvals.decide("me", "decided", Decision(approved=True))
        await approvals.decision("me", "decided")
        return [left, closed, len(approvals)]

    assert [1, 0, 0] == asyncio.run(three())


def decide(here: World, approval_id: str, **body: Any) -> Any:
    """Answer a question."""
    transport = httpx.ASGITransport(here.app)

    async def post() -> httpx.Response:
        async with httpx.AsyncClient(transport=transport, base_url="http://server.test") as client:
            return await client.post(f"/v1/agent/approvals/{approval_id}", json=body)

    return post()


async def answered(here: World, *decisions: dict[str, Any], **more: Any) -> list[tuple[str | None, Any]]:
    """The rest of a stream in which the questions are answered so."""
    stream = LiveStream(here.app, agent_permission="ask", **more)
    for decision in decisions:
        question = await stream.until("agentic_tool_approval_required")
        assert 200 == (await decide(here, question["approval_id"], **decision)).status_code
    return await stream.rest()


def test_denied_tools_do_not_run(world: Callable[..., World]) -> None:
    """They are offered all the same, and the model is told."""
    here = world(turn(None, CALL), turn("Done."), permission=Permission.DENY)

    body = here.chat().json()

    text = '{"status":"denied","exception":"weather was denied by policy."}'
    assert ([], text) == (here.outside.dispatched, here.outside.histories[1][-1]["content"])
    assert text == body["agentic_tool_calls"][0]["result_content"]


@pytest.mark.parametrize("path", ASKS)
def test_the_stricter_of_two_permissions_holds(world: Callable[..., World], path: str) -> None:
    """A request cannot loosen what the server says, on any route."""
    here = world(turn(None, CALL), turn("Done."), permission=Permission.DENY)

    here.request("POST", path, json={"model": "m", "agent_permission": "auto", **ASKS[path]})

    assert ([], '{"status":"denied"') == (here.outside.dispatched, here.outside.histories[1][-1]["content"][:18])


def test_asking_needs_a_stream(world: Callable[..., World]) -> None:
    """There is nobody to ask otherwise."""
    response = world(permission=Permission.ASK).chat()

    assert (422, "agent_permission") == (response.status_code, response.json()["error"]["param"])


def test_a_question_says_what_wants_to_run(world: Callable[..., World]) -> None:
    """Behind `calling`."""
    here = world(turn(None, CALL), turn("Done."))

    async def ask() -> tuple[Any, Any]:
        stream = LiveStream(here.app, agent_permission="ask", session_id="s")
        before = await stream.until("calling")
        question = await stream.until("agentic_tool_approval_required")
        await stream.leave()
        return before, question

    before, question = here.run(ask())

    assert (0, "calling", [], 0) == (
        before["round"],
        before["phase"],
        here.outside.dispatched,
        len(here.simulator.approvals),
    )
    assert "appr_" == question.pop("approval_id")[:5]
    assert {
        "type": "agentic_tool_approval_required",
        "session_id": "s",
        "round": 0,
        "tool": {"source": "external", "kind": "external", "label": "weather"},
        "arguments": {"city": "Paris"},
    } == question


@pytest.mark.parametrize(
    ("name", "source", "kind"), [("ping", "user", "custom"), (CODE_TOOL, "built_in", "code_execution")]
)
def test_a_question_says_whose_the_tool_is(world: Callable[..., World], name: str, source: str, kind: str) -> None:
    """Built in, registered or elsewhere."""
    here = world(turn(None, call(name)), code=True, callbacks=(Callback("ping", lambda: "pong"),))

    async def ask() -> Any:
        stream = LiveStream(here.app, agent_permission="ask", enable_code_execution=True)
        question = await stream.until("agentic_tool_approval_required")
        await stream.leave()
        return question["tool"]

    assert {"source": source, "kind": kind, "label": name} == here.run(ask())


def test_an_approved_tool_runs(world: Callable[..., World]) -> None:
    """The run goes on where it waited."""
    here = world(turn(None, CALL), turn("Done."))

    rest = here.run(answered(here, {"decision": "approve"}))

    assert (["complete", "[DONE]"], 1) == (names(rest), len(here.outside.dispatched))


def test_a_refused_tool_does_not_run(world: Callable[..., World]) -> None:
    """The model reads the client's words, or ours."""
    here = world(turn(None, CALL), turn(None, CALL), turn("Done."))

    here.run(answered(here, {"decision": "deny", "message": "Not today."}, {"decision": "deny"}))

    told = [json.loads(one["content"])["exception"] for one in here.outside.histories[-1] if one["role"] == "tool"]
    assert (["Not today.", "Agent action was denied."], []) == (told, here.outside.dispatched)


def test_a_decision_can_hold_for_the_session(world: Callable[..., World]) -> None:
    """Later rounds and later runs are not asked."""
    here = world(turn(None, CALL), turn(None, CALL), turn("Done."), turn(None, CALL), turn("Done."))
    remember = {"decision": "approve", "remember_for_session": True}

    rests = [here.run(answered(here, remember, session_id="s")), here.run(answered(here, session_id="s"))]

    asked = [name for rest in rests for name, _ in rest if name == "agentic_tool_approval_required"]
    assert ([], 3) == (asked, len(here.outside.dispatched))


def test_nobody_who_answers_is_a_refusal(world: Callable[..., World]) -> None:
    """After five minutes."""
    clock = HandClock()
    here = world(turn(None, CALL), turn("Done."), clock=clock)

    async def wait() -> None:
        stream = LiveStream(here.app, agent_permission="ask")
        await stream.until("agentic_tool_approval_required")
        await clock.waits(300)
        clock.advance(300)
        await stream.rest()

    here.run(wait())

    assert "Approval timed out." in here.outside.histories[1][-1]["content"]


def test_a_question_is_answered_once_and_by_its_client(world: Callable[..., World]) -> None:
    """To all others it does not exist."""
    here = world(turn(None, CALL), turn("Done."))

    async def ask() -> list[tuple[int, str]]:
        stream = LiveStream(here.app, agent_permission="ask")
        approval_id = (await stream.until("agentic_tool_approval_required"))["approval_id"]
        transport = httpx.ASGITransport(here.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://server.test") as client:
            path, body = f"/v1/agent/approvals/{approval_id}", {"decision": "approve"}
            stranger = await client.post(path, json=body, headers={"x-api-key": "bob"})
            mine = [await client.post(path, json=body) for _ in range(2)]
        await stream.rest()
        return [(one.status_code, one.json()["status"]) for one in (stranger, *mine)]

    assert [(404, "not_found"), (200, "resolved"), (404, "not_found")] == here.run(ask())


@pytest.mark.parametrize(
    ("body", "param"), [({}, "decision"), ({"decision": "maybe"}, "decision"), ({"decision": "deny", "x": 1}, "x")]
)
def test_a_body_that_is_no_decision_is_refused(world: Callable[..., World], body: Any, param: str) -> None:
    """The error names the member."""
    response = world().request("POST", "/v1/agent/approvals/appr_1", json=body)

    assert (422, param) == (response.status_code, response.json()["error"]["param"])
