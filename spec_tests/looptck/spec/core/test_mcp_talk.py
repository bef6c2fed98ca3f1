"""How a loop speaks with MCP servers: the handshake, revisions, sessions, both forms of an answer, and pings."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.gate import Gate
from looptck.provider.gates import ABSENCE
from looptck.provider.mcp import Server
from looptck.provider.mcp_results import ID_OF_THE_CALL, Content, Forgets
from looptck.spec.serving import (
    FORECAST,
    HIGH,
    OF_SESSIONS,
    SEEN,
    TIDES,
    TOMORROW,
    TOWN,
    agreed,
    answer,
    asked,
    at_once,
    connected,
    names_its_revision,
    of_sessions,
    served,
)
from looptck.values.history import holds
from looptck.values.jsontext import canonical
from looptck.values.outcome import Failed
from looptck.values.plain import plain
from looptck.values.transcript import McpAsked
from looptck.values.turns import calls
from looptck.values.verdicts import NotApplicable, NotReached

STREAMS = Server(tools=TOWN.tools, streams=True, stateless=False)
UNNAMED = Server(tools=TOWN.tools, streams=True, named=False, stateless=False)
STREAMS_AT_ONCE = Server(tools=TOWN.tools, streams=True, revisions=())
WITHOUT = Server(tools=TOWN.tools, sessions=False, stateless=False)
OLDER = Server(tools=TOWN.tools, revisions=("2025-06-18",), stateless=False)
SAID = "Rain in the morning, sun at noon."
PING = "kit-ping"


@requirement("mcp-begins-with-a-handshake")
@pytest.mark.parametrize("town", [OF_SESSIONS, WITHOUT], ids=["with-sessions", "without-sessions"])
def test_handshake(scenario: Scenario, implementation: Implementation, town: Server) -> None:
    """The first message is initialize, and the client says that it is initialized, to a server without sessions too."""
    run = served(scenario, implementation, calls(TOMORROW), server=town)

    heard = [one for one in asked(run) if not at_once(one)]
    assert "initialize" == heard[0].method, f"the first message is {heard[0].told}"
    wanted = {"protocolVersion": str, "capabilities": dict, "clientInfo": dict}
    given = heard[0].message.get("params") or {}
    for member, kind in wanted.items():
        assert isinstance(given.get(member), kind), f"initialize has no {member}: {given}"
    agreed(run)
    told = [one.told for one in heard]
    assert "notifications/initialized" in told, f"the client never says that it is initialized; it sent {plain(told)}"


@requirement("mcp-revision-is-named")
def test_revision_is_named(scenario: Scenario, implementation: Implementation) -> None:
    """Each message after the handshake has the header."""
    run = served(scenario, implementation, calls(TOMORROW), server=OF_SESSIONS)

    revision = names_its_revision(run)
    _in_a_session(run)
    for one in of_sessions(run):
        named = one.headers.get("mcp-protocol-version")
        assert named, f"{revision} was agreed on, and {one.told} has no header MCP-Protocol-Version"


def _in_a_session(run: Run) -> None:
    """Raises NotReached if the client has sent nothing after the handshake."""
    if not of_sessions(run):
        raise NotReached(f"the client has sent nothing after the handshake; the loop {run.outcome}")


@requirement("mcp-agreed-revision-is-named")
def test_agreed_revision(scenario: Scenario, implementation: Implementation) -> None:
    """The server speaks an older revision than the client may have asked for: the header names the agreed one."""
    run = served(scenario, implementation, calls(TOMORROW), server=OLDER)

    agreed(run, OLDER)
    if not of_sessions(run) and isinstance(run.outcome, Failed):
        raise NotApplicable("the loop does not speak the older revision of the server, and tells its caller")
    _in_a_session(run)
    for one in of_sessions(run):
        named = one.headers.get("mcp-protocol-version", "")
        assert OLDER.revisions[0] == named, f"{OLDER.revisions[0]} was agreed on, and {one.told} names {named!r}"


@requirement("mcp-session-is-carried")
def test_session(scenario: Scenario, implementation: Implementation) -> None:
    """Each message after the handshake has the id of the session."""
    run = served(scenario, implementation, calls(TOMORROW), calls(HIGH), server=OF_SESSIONS)

    agreed(run)
    _in_a_session(run)
    for one in of_sessions(run):
        assert one.headers.get("mcp-session-id"), f"{one.told} has no header Mcp-Session-Id"
        assert 404 != one.status, f"{one.told} has the id of a session that was never begun or is over"


@requirement("mcp-request-ids-are-used-once")
def test_ids(scenario: Scenario, implementation: Implementation) -> None:
    """A client lists tools and calls two of them; a session that begins anew may begin with its ids anew."""
    run = served(scenario, implementation, calls(TOMORROW), calls(HIGH), server=OF_SESSIONS)

    agreed(run)
    requests = [one for one in of_sessions(run) if one.method and "id" in one.message]
    if not requests:
        raise NotReached(f"the client has sent no request after the handshake; the loop {run.outcome}")
    first: dict[tuple[str | None, str], McpAsked] = {}
    for one in requests:
        used = first.setdefault((one.headers.get("mcp-session-id"), canonical(one.message["id"])), one)
        assert used is one, f"{one.told} has the id {one.message['id']!r}, which {used.told} has had in this session"


@requirement("mcp-both-forms-are-accepted")
def test_accepts(scenario: Scenario, implementation: Implementation) -> None:
    """Each message accepts JSON and event streams."""
    run = served(scenario, implementation, calls(TOMORROW))

    for one in asked(run):
        accepts = one.headers.get("accept", "").lower()
        for type in ("application/json", "text/event-stream"):
            assert type in accepts or "*/*" in accepts, f"{one.told} accepts {accepts or 'nothing'}, and not {type}"


@requirement("mcp-streamed-answers-are-read")
@pytest.mark.parametrize(
    "town", [STREAMS, STREAMS_AT_ONCE, UNNAMED], ids=["in-a-session", "at-once", "events-without-a-name"]
)
def test_streamed(scenario: Scenario, implementation: Implementation, town: Server) -> None:
    """The server answers with event streams: its tools are offered, and the result of a call reaches the model."""
    run = served(scenario, implementation, calls(TOMORROW), server=town, forecast=Content.of(SAID))

    assert run.received, f"the server answers with event streams, and the model is never asked: the loop {run.outcome}"
    assert holds(answer(run).text, SAID), f"the tool has returned {SAID!r}, and the result is {answer(run).text!r}"


NOTES: dict[str, dict[str, Any]] = {
    "progress": {"method": "notifications/progress", "params": {"progressToken": 0, "progress": 1, "total": 2}},
    "log": {"method": "notifications/message", "params": {"level": "info", "logger": "kit", "data": "I look."}},
    "list-changed": {"method": "notifications/tools/list_changed"},
}


@requirement("mcp-notifications-change-nothing")
@pytest.mark.parametrize("kinds", [["progress"], ["log"], ["list-changed"], [*NOTES]], ids=[*NOTES, "all"])
def test_notifications(scenario: Scenario, implementation: Implementation, kinds: list[str]) -> None:
    """Notifications come in the stream before the answer: the result is the answer's."""
    before = tuple({"jsonrpc": "2.0", **NOTES[kind]} for kind in kinds)
    told = Content.of(SAID, before=before)

    run = served(scenario, implementation, calls(TOMORROW), server=STREAMS, forecast=told)

    assert holds(answer(run).text, SAID), f"the tool has returned {SAID!r}, and the result is {answer(run).text!r}"


def _pong(event: object) -> bool:
    """Whether it is a response of the client, which has an id and no method."""
    if not isinstance(event, McpAsked) or not isinstance(event.message, dict):
        return False
    return "id" in event.message and "method" not in event.message


@requirement("mcp-pings-are-answered")
@pytest.mark.parametrize("id", [PING, ID_OF_THE_CALL], ids=["id-of-its-own", "id-of-the-call"])
def test_ping(scenario: Scenario, implementation: Implementation, id: str) -> None:
    """The server pings in the stream before the answer, and waits for the response; each side counts its own ids."""
    pong = Gate("the client has answered the ping", _pong, patience=5 * ABSENCE, if_ever=True)
    told = Content.of(SAID, before=({"jsonrpc": "2.0", "id": id, "method": "ping"},), hold=pong)

    run = served(scenario, implementation, calls(TOMORROW), server=STREAMS, forecast=told)

    run.tool_began(FORECAST.name)
    answers = [one.message for one in asked(run) if _pong(one)]
    assert answers, "the server has sent a ping, and the client never answered it"
    assert isinstance(answers[0].get("result"), dict), f"the client answers a ping with {answers[0]}"


@requirement("mcp-lost-session-begins-anew")
def test_lost_session(scenario: Scenario, implementation: Implementation) -> None:
    """The server has forgotten the session when a tool is called, and the model calls again: no dead id comes back."""
    run = served(
        scenario,
        implementation,
        calls(TOMORROW),
        calls(HIGH),
        server=OF_SESSIONS,
        forecast=[Forgets(), Content.of(SAID)],
        tides=Content.of("At six."),
    )

    run.tool_began(FORECAST.name)
    heard = asked(run)
    lost = next(place for place, one in enumerate(heard) if one.method == "tools/call" and one.status == 404)
    dead = heard[lost].headers.get("mcp-session-id")
    after = heard[lost + 1 :]
    again = [one.told for one in after if one.headers.get("mcp-session-id") == dead and one.method]
    assert not again, f"the server has answered 404, and the client sends {again[0]} with the id of that session"
    begun = [one for one in after if one.method == "initialize" and not one.headers.get("mcp-session-id")]
    if not begun and run.failed:
        raise NotApplicable("the run ends with an error when the session is lost: nothing shows a new session")
    assert begun, "the server has answered 404, and the client begins no new session"


@requirement("mcp-session-is-ended")
def test_end(scenario: Scenario, implementation: Implementation) -> None:
    """When the run is over the client ends its session."""
    run = served(scenario, implementation, calls(TOMORROW), server=OF_SESSIONS)

    agreed(run)
    run.tool_began(FORECAST.name)
    ended = [one for one in run.transcript.events if isinstance(one, McpAsked) and one.http == "DELETE"]
    assert ended, "no session was ended with DELETE"


@requirement("mcp-only-declared-capabilities-are-used")
def test_no_tools(scenario: Scenario, implementation: Implementation) -> None:
    """A server that does not say that it has tools is not asked for them."""
    silent = Server(tools=(TIDES,), has_tools=False, stateless=False)
    scenario.serves(silent)
    scenario.plays(SEEN)

    run = connected(implementation.run(), silent)

    agreed(run, silent)
    _in_a_session(run)
    wrong = [one.told for one in of_sessions(run) if one.method.startswith("tools/")]
    assert not wrong, f"the server has declared no tools, and the client sends {wrong[0]}"
