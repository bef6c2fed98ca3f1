"""Server-side loops: requests that are none, requests and results that are too large, and limits that are no count."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.checks import lengthy, requirement
from looptck.client.ask import PATHS, Ask
from looptck.guest import Guest
from looptck.history import Said
from looptck.kit import Scene
from looptck.provider.gates import Gate
from looptck.provider.script import Step
from looptck.run import Run
from looptck.turns import Call, calls, says
from looptck.verdicts import NotReached

PING = Call.of("ping")
DONE = "That was all."
LARGE = 64_000_000
"""Bytes of a request that a server need not take."""
RESULT = 50_000_000
"""Characters of a tool's result that a server need not pass on."""

BROKEN = ("empty", "cut", "no-utf-8", "a-list")
MISSING = ("no-conversation", "a-number-for-the-conversation", "numbers-for-messages")
NO_TOOLS = ("a-text-for-tools", "numbers-for-tools")


def _serves(provider: Scene, guest: Guest) -> None:
    """Holds that the server goes on."""
    provider.plays(says(DONE))
    after = guest.ask()
    assert after.got.ok, f"the next request got {after.got}"
    assert DONE == after.got.text


def _body(guest: Guest) -> dict[str, Any]:
    """A request as it should be."""
    cell = guest.implementation.cell
    return Ask(question="Please go on, all of you.", tools=guest.offers).body(cell.wire, stream=cell.stream)


def _posted(guest: Guest, content: bytes, type: str = "application/json") -> tuple[int, str]:
    """The status and the text of the answer to a body."""
    with guest.http() as client:
        got = client.post(PATHS[guest.implementation.cell.wire], content=content, headers={"content-type": type})
        return got.status_code, got.text


def _wrong(body: dict[str, Any], what: str, key: str) -> bytes:
    """The request with something wrong; the member ``key`` holds its conversation."""
    whole = json.dumps(body).encode()
    match what:
        case "empty":
            return b""
        case "cut":
            return whole[:-9]
        case "no-utf-8":
            return whole.replace(b"Please", b"\xff\xfe")
    changed: dict[str, Any] = {
        "a-list": [body],
        "no-conversation": {name: value for name, value in body.items() if name != key},
        "a-number-for-the-conversation": {**body, key: 7},
        "numbers-for-messages": {**body, key: [7, 8]},
        "a-text-for-tools": {**body, "tools": "ping"},
        "numbers-for-tools": {**body, "tools": [7]},
    }
    return json.dumps(changed[what]).encode()


@requirement("server-malformed-bodies-are-refused")
@pytest.mark.parametrize("wrong", [*BROKEN, *MISSING, *NO_TOOLS])
def test_no_request(provider: Scene, guest: Guest, wrong: str) -> None:
    """What is no request is refused in words, asks the model nothing, and is in nobody's way."""
    key = "input" if guest.implementation.cell.wire == "openai-responses" else "messages"
    content = _wrong(_body(guest), wrong, key)
    go_on = Gate("the body was refused")
    provider.plays(Step(says(DONE), before=go_on) if guest.can("upstream") else says(DONE))
    other = guest.begin()

    status, text = _posted(guest, content)
    go_on.open()
    run = guest.end(other)

    assert 400 <= status < 500, f"the body was answered with {status}: {text[:300]}"
    assert text.strip(), f"the body was answered with {status} and no word"
    if wrong not in BROKEN:
        member = key if wrong in MISSING else "tools"
        assert member in text, f"the error does not name {member}: {text[:300]}"
    asked = [received for received in run.received if run.prompt[0][1] not in received.raw.decode(errors="replace")]
    assert [] == asked, "the model was asked for a body that is no request"
    assert DONE == run.got.text, f"the client beside it got {run.got}"
    _serves(provider, guest)


@requirement("server-malformed-bodies-are-refused")
def test_other_content_type(provider: Scene, guest: Guest) -> None:
    """A request that is said to be plain text is refused or answered, and the server goes on."""
    asked, go_on = Gate("another client's model is asked"), Gate("the request was answered")
    provider.plays(says(DONE))
    if guest.can("upstream"):
        provider.plays(Step(says(DONE), before=go_on), says(DONE), signal=asked)
    other = guest.begin()
    if guest.can("upstream") and not asked.wait_here(guest.implementation.kit.patience.gate):
        raise NotReached(f"the model is asked nothing: {guest.end(other).got}")

    status, text = _posted(guest, json.dumps(_body(guest)).encode(), "text/plain")
    go_on.open()
    guest.end(other)

    guest.implementation.diverges("a request in plain text", "answered" if status == 200 else "refused")
    assert status == 200 or 400 <= status < 500, f"it was answered with {status}: {text[:300]}"
    _serves(provider, guest)


@lengthy
@requirement("server-large-bodies-are-refused")
@pytest.mark.parametrize("chunked", [False, True], ids=["with-length", "without-length"])
def test_large_body(provider: Scene, guest: Guest, chunked: bool) -> None:
    """A request of 64 MB is refused, or answered by a server whose limit is higher; the server goes on."""
    provider.plays(says(DONE))
    before = (Said("user", "0123456789abcdef" * (LARGE // 16)), Said("assistant", "I have read it."))

    run = guest.ask(before=before, chunked=chunked)

    status = run.got.status
    guest.implementation.diverges("a request of 64 MB", "answered" if status == 200 else "refused")
    if status == 200:
        assert DONE == run.got.text, f"the request got {run.got}"
    else:
        assert 400 <= status < 500, f"the request got {run.got}"
        assert [] == run.received, "the model was asked though the request was refused"
    _serves(provider, guest)


@lengthy
@requirement("server-large-result-is-bounded")
def test_large_result(provider: Scene, guest: Guest) -> None:
    """A tool gives 50 MB: all of it comes to the model, or less and a word about it, or an error; others are served."""
    whole = "0123456789abcdef" * (RESULT // 16)
    provider.plays(calls(PING), says(DONE))
    provider.returns("ping", whole)

    run = guest.ask()

    if not run.ran:
        raise NotReached("the tool with the large result was never run")
    if run.got.ok:
        results = [answer.text for answer in run.answers(1)]
        assert 1 == len(results)
        (text,) = results
        guest.implementation.diverges("a result of 50 MB", _shown(text, whole))
        assert text == whole or not whole.startswith(text), f"the result was cut to {len(text)} without a word"
        assert DONE == run.got.text
    else:
        guest.implementation.diverges("a result of 50 MB", "ends-the-run")
        assert run.got.error, f"the client got {run.got}"
    del run
    provider.returns("ping", "pong")
    _serves(provider, guest)


def _shown(text: str, whole: str) -> str:
    if text == whole:
        return "whole"
    return "cut" if whole[:1000] in text else "result-that-says-so"


@requirement("server-bad-round-limits-are-refused")
@pytest.mark.parametrize("limit", [-1, 1.5, "two", [2], 10**30], ids=["negative", "fraction", "text", "list", "huge"])
def test_no_count(provider: Scene, guest: Guest, limit: Any) -> None:
    """A limit that is no count is refused before the model is asked; that 2 is taken is the control."""
    provider.plays(says(DONE))
    good = guest.ask(rounds=2)
    if good.got.text != DONE:
        raise NotReached(f"control: a request with two rounds got {good.got}")

    run = guest.ask(members={"max_tool_rounds": limit})

    assert 400 <= run.got.status < 500, f"max_tool_rounds {limit!r} got {run.got}"
    assert [] == run.received, "the model was asked though the request was refused"


@requirement("server-zero-rounds-run-no-tool")
def test_zero_rounds(provider: Scene, guest: Guest) -> None:
    """The model calls a tool where no round is allowed: it is not run, and the client is not left without a word."""
    provider.plays(calls(PING), says(DONE))
    one = guest.ask(rounds=1)
    if one.tools_ran != [("ping", {})]:
        raise NotReached(f"control: with one round the tool should run; {one.tools_ran} ran: {one.got}")

    run = guest.ask(rounds=0)

    run.delivered(1)
    assert [] == run.tools_ran
    told = _told(run)
    guest.implementation.diverges("zero_rounds", told)
    assert told != "nothing", f"the call was neither handed over nor told of: {run.got}"
    assert run.got.error or not run.got.stream or run.got.ended, "the stream has no end"


def _told(run: Run) -> str:
    if run.got.error:
        return "an-error"
    if run.got.turn.calls:
        return "the-call"
    return "an-answer" if run.got.text else "nothing"
