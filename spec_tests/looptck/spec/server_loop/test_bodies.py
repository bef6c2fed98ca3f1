"""Server-side loops: invalid request bodies, oversized requests and results, and invalid limits."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from looptck.bench.assertions.results import one_result
from looptck.bench.checks import lengthy, refusable, requirement
from looptck.bench.client import Reply
from looptck.bench.client.ask import PATHS, Ask
from looptck.bench.client.events import Reader
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.provider.gate import Gate
from looptck.provider.script import Step
from looptck.values.history import Said
from looptck.values.transcript import ServerEvent
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

PING = Call.of("ping")
DONE = "That was all."
LARGE = 64_000_000
"""Bytes of a request that a server may refuse."""
RESULT = 50_000_000
"""Characters of a tool's result that a server may cut."""

SHOWN = 80
"""Bytes of a body that a message shows."""

BROKEN = ("empty", "cut", "a-list")
MISSING = ("no-conversation", "a-number-for-the-conversation", "numbers-for-messages")
NO_TOOLS = ("a-text-for-tools", "numbers-for-tools")
MEMBERS = {
    "messages": "messages?|conversation|role",
    "input": "input|messages?|conversation",
    "tools": "tools?|function",
}
"""The words by which an error may name a member, in any case."""


def _serves(scenario: Scenario, server: ServerUnderTest) -> None:
    """Assert that the server still serves requests."""
    scenario.plays(says(DONE))
    after = server.ask()
    assert after.got.ok, f"the next request got {after.got}"
    assert DONE == after.got.text


def _body(server: ServerUnderTest) -> dict[str, Any]:
    """A valid request."""
    cell = server.implementation.cell
    return Ask(question="Please go on, all of you.", tools=server.offers).body(cell.wire, stream=cell.stream)


def _posted(server: ServerUnderTest, content: bytes, type: str = "application/json") -> Reply:
    """The reply to a body."""
    wire = server.implementation.cell.wire
    with server.http() as client:
        got = client.post(PATHS[wire], content=content, headers={"content-type": type})
    streamed = got.headers.get("content-type", "").startswith("text/event-stream")
    events = [ServerEvent(0.0, name, value) for name, value in Reader().feed(got.content)] if streamed else []
    return Reply(wire, streamed, got.status_code, got.headers, got.content, events)


def _wrong(body: dict[str, Any], what: str, key: str) -> bytes:
    """The request with one error; the member ``key`` holds its conversation."""
    whole = json.dumps(body).encode()
    match what:
        case "empty":
            return b""
        case "cut":
            return whole[:-9]
    changed: dict[str, Any] = {
        "a-list": [body],
        "no-conversation": {name: value for name, value in body.items() if name != key},
        "a-number-for-the-conversation": {**body, key: 7},
        "numbers-for-messages": {**body, key: [7, 8]},
        "a-text-for-tools": {**body, "tools": "ping"},
        "numbers-for-tools": {**body, "tools": [7]},
    }
    return json.dumps(changed[what]).encode()


def _posted_beside(
    scenario: Scenario, server: ServerUnderTest, content: bytes, type: str = "application/json"
) -> tuple[Reply, Run]:
    """The reply to a body while another client's model is asked, and the run of that client, which goes on then."""
    asked, go_on = Gate("another client's model is asked"), Gate("the body was answered")
    scenario.plays(says(DONE))
    if server.can("upstream"):
        scenario.plays(Step(says(DONE), before=go_on), says(DONE), signal=asked)
    other = server.begin()
    if server.can("upstream") and not asked.wait_here(server.implementation.bench.patience.gate):
        raise NotReached(f"the other client's request did not reach the model: {server.end(other).got}")
    try:
        got = _posted(server, content, type)
    finally:
        go_on.open()
        run = server.end(other)
    return got, run


@requirement("server-malformed-bodies-are-refused")
@pytest.mark.parametrize("wrong", [*BROKEN, *MISSING, *NO_TOOLS])
@refusable("A server may leave it to its model to refuse a body, and pass the refusal on.")
def test_no_request(scenario: Scenario, server: ServerUnderTest, wrong: str) -> None:
    """An invalid body is refused with an error, by the server or its model, and disturbs no other client."""
    key = "input" if server.implementation.cell.wire == "openai-responses" else "messages"
    content = _wrong(_body(server), wrong, key)
    refusal, run = _posted_beside(scenario, server, content)

    _is_refused(refusal, content)
    if wrong not in BROKEN:
        member, text = key if wrong in MISSING else "tools", refusal.error or ""
        assert re.search(MEMBERS[member], text, re.IGNORECASE), f"the error does not name {member}: {text[:300]}"
    assert DONE == run.got.text, f"another client got {run.got}"
    _serves(scenario, server)


def _is_refused(got: Reply, content: bytes) -> None:
    body, text = f"the body {content[:SHOWN].decode(errors='replace')!r}", got.error or ""
    in_its_stream = got.status == 200 and got.stream
    told = f"{body} was answered with {got.status} and no error: {got.raw[:300].decode(errors='replace')}"
    assert text.strip(), told
    assert 400 <= got.status < 500 or in_its_stream, f"{body} was answered with {got.status}: {text[:300]}"


@requirement("server-malformed-bodies-are-refused")
@refusable("A server may leave it to its model to refuse a body, and pass the refusal on.")
def test_no_utf_8(scenario: Scenario, server: ServerUnderTest) -> None:
    """Bytes that are not UTF-8 are refused, or read as replacements, as some languages do; no other client notices."""
    content = json.dumps(_body(server)).encode().replace(b"Please", b"\xff\xfe")
    got, run = _posted_beside(scenario, server, content)

    server.implementation.diverges("bytes that are not UTF-8", "read as replacements" if got.ok else "refused")
    if got.ok:
        assert DONE == got.text, f"the client got {got}"
    else:
        _is_refused(got, content)
    assert DONE == run.got.text, f"another client got {run.got}"
    _serves(scenario, server)


@requirement("server-malformed-bodies-are-refused")
def test_other_content_type(scenario: Scenario, server: ServerUnderTest) -> None:
    """A request labelled as plain text is refused or answered, and the server continues."""
    got, _ = _posted_beside(scenario, server, json.dumps(_body(server)).encode(), "text/plain")

    status = got.status
    server.implementation.diverges("a request in plain text", "answered" if status == 200 else "refused")
    assert status == 200 or 400 <= status < 500, f"the request was answered with {status}: {got}"
    _serves(scenario, server)


@lengthy
@requirement("server-large-bodies-are-refused")
@pytest.mark.parametrize("chunked", [False, True], ids=["with-length", "without-length"])
def test_large_body(scenario: Scenario, server: ServerUnderTest, chunked: bool) -> None:
    """A request of 64 MB is refused, or answered by a server with a higher limit; the server continues."""
    scenario.plays(says(DONE))
    before = (Said("user", "0123456789abcdef" * (LARGE // 16)), Said("assistant", "I have read it."))

    run = server.ask(before=before, chunked=chunked)

    status = run.got.status
    server.implementation.diverges("a request of 64 MB", "answered" if status == 200 else "refused")
    if status == 200:
        assert DONE == run.got.text, f"the request got {run.got}"
    else:
        assert 400 <= status < 500, f"the request got {run.got}"
        assert [] == run.received, "the model was asked although the request was refused"
    _serves(scenario, server)


@lengthy
@requirement("server-large-result-is-bounded")
def test_large_result(scenario: Scenario, server: ServerUnderTest) -> None:
    """A tool returns 50 MB: the model gets all of it, a marked part, or an error; other clients are served."""
    whole = "0123456789abcdef" * (RESULT // 16)
    scenario.plays(calls(PING), says(DONE))
    scenario.returns("ping", whole)

    run = server.ask()

    if not run.ran:
        raise NotReached("the tool with the large result was never run")
    if run.got.ok:
        text = one_result(run, 1).text
        server.implementation.diverges("a result of 50 MB", _shown(text, whole))
        assert text == whole or not whole.startswith(text), (
            f"the result was cut to {len(text)} characters, and does not say so"
        )
        assert DONE == run.got.text
    else:
        server.implementation.diverges("a result of 50 MB", "ends-the-run")
        assert run.got.error, f"the client got {run.got}"
    del run
    scenario.returns("ping", "pong")
    _serves(scenario, server)


def _shown(text: str, whole: str) -> str:
    if text == whole:
        return "whole"
    return "cut" if whole[:1000] in text else "result-that-says-so"


@requirement("server-bad-round-limits-are-refused")
@pytest.mark.parametrize("limit", [-1, 1.5, "two", [2]], ids=["negative", "fraction", "text", "list"])
def test_no_count(scenario: Scenario, server: ServerUnderTest, limit: Any) -> None:
    """A limit that is not a count is refused before the model is asked; the control is that 2 is accepted."""
    scenario.plays(says(DONE))
    good = server.ask(rounds=2)
    if good.got.text != DONE:
        raise NotReached(f"control: a request with two rounds got {good.got}")

    run = server.ask(members={"max_tool_rounds": limit})

    assert 400 <= run.got.status < 500, f"max_tool_rounds {limit!r} got {run.got}"
    assert [] == run.received, "the model was asked although the request was refused"


@requirement("server-bad-round-limits-are-refused")
def test_huge_count(scenario: Scenario, server: ServerUnderTest) -> None:
    """A limit beyond every machine's integers is refused, or is the count that it is."""
    scenario.plays(says(DONE))

    run = server.ask(rounds=10**30)

    assert DONE == run.got.text if run.got.ok else 400 <= run.got.status < 500, f"max_tool_rounds 10**30 got {run.got}"


@requirement("server-zero-rounds-run-no-tool")
def test_zero_rounds(scenario: Scenario, server: ServerUnderTest) -> None:
    """If no round is allowed, a call is not run, and the client gets the call, an answer or an error."""
    scenario.plays(calls(PING), says(DONE))
    one = server.ask(rounds=1)
    if one.tools_ran != [("ping", {})]:
        raise NotReached(f"control: with one round the tool should run; {one.tools_ran} ran: {one.got}")
    if one.got.stream and not one.got.ended:
        raise NotReached(f"control: the stream of a request with one round has no end either: {one.got}")

    run = server.ask(rounds=0)

    run.delivered(1)
    assert [] == run.tools_ran
    outcome = _outcome(run)
    server.implementation.diverges("zero_rounds", outcome)
    assert outcome != "nothing", f"the client got neither the call nor a word about it: {run.got}"
    assert run.got.error or not run.got.stream or run.got.ended, "the stream has no end"


def _outcome(run: Run) -> str:
    if run.got.error:
        return "an-error"
    if run.got.turn.calls:
        return "the-call"
    return "an-answer" if run.got.text else "nothing"
