"""Server-side loops: how many rounds run, who sets the cap, and what a client gets when it is used up."""

from __future__ import annotations

import re
from typing import Any

import pytest

from looptck.bench.checks import lengthy, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.spec.server_loop.sessions import fresh
from looptck.values.plain import plain
from looptck.values.transcript import Received, ToolBegan
from looptck.values.turns import Call, Turn, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

MORE = 4
"""The number of model requests beyond the cap that the script can answer."""
OWN_CAP = 2
"""The cap of the set-up `cap`."""
FALLBACK = 256
ENOUGH = "Enough."


def asks(n: int) -> Turn:
    """A turn with a call whose arguments are new every time."""
    return calls(Call.of("weather", {"city": f"city {n}"}))


def wants_more(body: Any) -> Turn:
    """The turn of a model that calls a tool whenever it may."""
    return asks(len(body["messages"])) if _may_call(body) else says(ENOUGH)


def _may_call(body: Any) -> bool:
    """Whether a model request lets the model call a tool."""
    return bool(body.get("tools")) and body.get("tool_choice") != "none"


def _parted(run: Run, rounds: int) -> tuple[list[Any], list[Any]]:
    """The bodies of the model requests before the last of these rounds ran its tool, and of those after it."""
    events = [event for event in run.transcript.events if isinstance(event, Received | ToolBegan)]
    last = [n for n, event in enumerate(events) if isinstance(event, ToolBegan)][rounds - 1]
    parts = events[:last], events[last:]
    before, after = ([event.body for event in part if isinstance(event, Received)] for part in parts)
    return before, after


def _is_pending(run: Run) -> bool:
    """Whether the client got a call in place of an answer."""
    return run.got.ok and not run.got.text and bool(run.got.turn.calls)


def _ran(run: Run, least: int) -> int:
    """The number of tools that ran in a completed request. Raises NotReached if fewer ran than the cap to be tested."""
    if not run.ended or len(run.ran) < least:
        raise NotReached(f"{len(run.ran)} rounds ran, so a cap of {least} was never reached; the request {run.outcome}")
    return len(run.ran)


@requirement("server-cap-bounds-the-rounds")
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_endless_calls(scenario: Scenario, server: ServerUnderTest, rounds: int) -> None:
    """Of a model that never stops calling tools, exactly as many calls run as the request allows."""
    scenario.always(asks, most=rounds + MORE)

    run = server.ask(rounds=rounds)

    assert rounds == _ran(run, rounds)


@requirement("server-cap-ends-tool-use")
@pytest.mark.parametrize("rounds", [1, 2])
def test_last_question(scenario: Scenario, server: ServerUnderTest, rounds: int) -> None:
    """After the last round the model is not asked, or asked with no tool that it may call.

    Later versions of the server ask once more with all tools, and hand the call to the client unrun.
    """
    scenario.listens(wants_more, most=rounds + MORE)

    run = server.ask(rounds=rounds)

    _ran(run, rounds)
    during, last = _parted(run, rounds)
    if not all(_may_call(body) for body in during):
        raise NotReached(f"control: not all of the model requests of the first {rounds} rounds offer tools")
    free = [n for n, body in enumerate(last, len(during) + 1) if _may_call(body)]
    if free and len(last) == 1 and len(run.ran) == rounds and _is_pending(run):
        server.implementation.diverges("question_after_the_cap", "one-with-tools")
        raise NotApplicable("the call that the model makes after the last round is handed to the client unrun")
    assert [] == free, f"model request {free[0]} lets the model call another tool; the client got {run.got}"
    how = "none" if not last else "one-without-tools" if not last[0].get("tools") else "one-that-forbids-them"
    server.implementation.diverges("question_after_the_cap", how)


@requirement("server-answer-after-the-last-round-arrives")
@pytest.mark.parametrize("rounds", [1, 2])
def test_fitting_conversation(scenario: Scenario, server: ServerUnderTest, rounds: int) -> None:
    """An answer after exactly as many rounds as the cap allows reaches the client."""
    scenario.plays(*map(asks, range(rounds)), says("Just in time."))

    run = server.ask(rounds=rounds)

    assert run.got.ok, f"the request got {run.got}"
    assert (rounds, "Just in time.") == (len(run.ran), run.got.text)


@requirement("server-cap-is-set-by-the-server")
def test_cap_of_the_server(scenario: Scenario, server: ServerUnderTest) -> None:
    """If the request has no cap, the server's own cap holds; without either, more rounds run."""
    _ends_at_the_servers_cap(scenario, server)


@requirement("server-responses-keep-the-servers-cap")
def test_cap_of_the_server_for_responses(scenario: Scenario, server: ServerUnderTest) -> None:
    """The server's cap also holds for requests of the Responses API."""
    _ends_at_the_servers_cap(scenario, server)


def _ends_at_the_servers_cap(scenario: Scenario, server: ServerUnderTest) -> None:
    scenario.plays(*map(asks, range(OWN_CAP + 1)), says("Done."))
    _ran(server.ask(), OWN_CAP + 1)
    scenario.always(asks, most=OWN_CAP + MORE)

    run = server.ask(setup="cap")

    assert OWN_CAP == _ran(run, OWN_CAP)


@requirement("server-cap-is-256-by-default")
@on("openai-chat/plain/*")
@lengthy
def test_fallback(scenario: Scenario, server: ServerUnderTest) -> None:
    """Without any configured cap, 256 calls run of a model that never stops calling tools."""
    scenario.always(asks, most=FALLBACK + MORE)

    run = server.ask()

    server.reached(run, 1)
    assert FALLBACK == len(run.ran), f"{len(run.ran)} rounds ran, and the client got {run.got}"


@requirement("server-request-sets-its-cap")
@pytest.mark.parametrize("rounds", [OWN_CAP - 1, OWN_CAP + 1], ids=["lower", "higher"])
def test_cap_of_the_request(scenario: Scenario, server: ServerUnderTest, rounds: int) -> None:
    """A request's cap replaces the server's cap, whether lower or higher, and for this request alone."""
    scenario.always(asks, most=rounds + MORE)

    run = server.ask(setup="cap", rounds=rounds)

    assert rounds == _ran(run, 1)
    assert OWN_CAP == _ran(server.ask(setup="cap"), 1), "the next request was not held to the server's cap"


@requirement("server-request-sets-its-cap")
def test_cap_of_each_request(scenario: Scenario, server: ServerUnderTest) -> None:
    """The rounds of an earlier request of the session do not count: each of two requests runs as many as it allows."""
    session = fresh()
    ran = []
    for _ in range(2):
        scenario.plays(*map(asks, range(OWN_CAP)), says("Done."))
        ran.append(len(server.ask(rounds=OWN_CAP, session=session).ran))

    if ran[0] != OWN_CAP:
        raise NotReached(f"control: {ran[0]} rounds of the first request ran, which allows {OWN_CAP}")
    assert OWN_CAP == ran[1], f"after a request with {OWN_CAP} rounds, the next one of the session ran {ran[1]}"


@requirement("server-cap-forces-an-answer")
def test_answer_at_the_cap(scenario: Scenario, server: ServerUnderTest) -> None:
    """A model that calls a tool whenever it may reaches an answer, and the client is left with no call."""
    scenario.listens(wants_more, most=1 + MORE)

    run = server.ask(rounds=1)

    _ran(run, 1)
    assert run.got.ok, f"the request got {run.got}"
    if len(run.ran) == 1 and _is_pending(run):
        raise NotApplicable("the client gets the call that the cap left unrun, as in later versions of the server")
    assert (ENOUGH, ()) == (run.got.text, run.got.turn.calls)


@requirement("server-pending-call-is-told-at-the-cap")
def test_pending_call(scenario: Scenario, server: ServerUnderTest) -> None:
    """The model calls a tool even if none is offered: the client gets the call that did not run, or an error."""
    scenario.always(asks, most=1 + MORE)

    run = server.ask(rounds=1)

    if _ran(run, 1) > 1:
        raise NotReached(f"the cap was never enforced: {len(run.ran)} rounds ran")
    handed = () if run.got.error is not None else tuple(call.tool for call in run.got.turn.calls)
    outcome = "error" if run.got.error is not None else "return-pending" if handed else "nothing"
    server.implementation.diverges("cap_stream" if run.got.stream else "cap_plain", outcome)
    if run.got.error is not None:
        assert re.search("round|cap|limit", run.got.error, re.IGNORECASE), (
            f"the error does not name the cap: {run.got.error}"
        )
    else:
        got = f"the client got the text {plain(run.got.text)} and the calls {plain(handed)}"
        assert ("weather",) == handed, f"{got}, and the pending one is of weather"
