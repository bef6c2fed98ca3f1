"""Server-side loops: how many rounds run, who says so, and what a client gets where they are used up."""

from __future__ import annotations

import re
from typing import Any

import pytest

from looptck.checks import lengthy, on, requirement
from looptck.guest import Guest
from looptck.kit import Scene
from looptck.run import Run
from looptck.turns import Call, Turn, calls, says
from looptck.verdicts import NotReached

MORE = 4
"""How many more questions than the cap allows the model is ready to answer."""
OWN_CAP = 2
"""The cap of the set-up `cap`."""
FALLBACK = 256
ENOUGH = "Enough."


def asks(n: int) -> Turn:
    """A turn that asks for a tool, with arguments that are new every time."""
    return calls(Call.of("weather", {"city": f"city {n}"}))


def wants_more(body: Any) -> Turn:
    """What a model says that calls as long as it may."""
    return asks(len(body["messages"])) if _may_call(body) else says(ENOUGH)


def _may_call(body: Any) -> bool:
    """Whether a question to the model lets it call a tool."""
    return bool(body.get("tools")) and body.get("tool_choice") != "none"


def _ran(run: Run, least: int) -> int:
    """How many tools ran in a request that is over. Raises NotReached if fewer did than a cap is about."""
    if not run.ended or len(run.ran) < least:
        raise NotReached(f"{len(run.ran)} rounds ran, so a cap of {least} was never reached; the request {run.outcome}")
    return len(run.ran)


@requirement("server-cap-bounds-the-rounds")
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_endless_calls(provider: Scene, guest: Guest, rounds: int) -> None:
    """A model that never stops asking has as many of its calls run as the request allows."""
    provider.always(asks, most=rounds + MORE)

    run = guest.ask(rounds=rounds)

    assert rounds == _ran(run, rounds)


@requirement("server-cap-ends-tool-use")
@pytest.mark.parametrize("rounds", [1, 2])
def test_last_question(provider: Scene, guest: Guest, rounds: int) -> None:
    """Behind the last round the model is not asked, or with no tool that it may call."""
    provider.listens(wants_more, most=rounds + MORE)

    run = guest.ask(rounds=rounds)

    _ran(run, rounds)
    bodies = [received.body for received in run.requests]
    if not all(_may_call(body) for body in bodies[:rounds]):
        raise NotReached(f"control: the first {rounds} questions were to offer tools, and not all did")
    last = bodies[rounds:]
    how = "none" if not last else "one-without-tools" if not last[0].get("tools") else "one-that-forbids-them"
    guest.implementation.diverges(
        "question_after_the_cap", "one-with-tools" if any(_may_call(body) for body in last) else how
    )
    assert not [body for body in last if _may_call(body)], f"question {rounds + 1} lets the model call once more"


@requirement("server-answer-after-the-last-round-arrives")
@pytest.mark.parametrize("rounds", [1, 2])
def test_fitting_conversation(provider: Scene, guest: Guest, rounds: int) -> None:
    """An answer behind exactly the rounds that the cap allows reaches the client."""
    provider.plays(*map(asks, range(rounds)), says("Just in time."))

    run = guest.ask(rounds=rounds)

    assert run.got.ok, f"the request got {run.got}"
    assert (rounds, "Just in time.") == (len(run.ran), run.got.text)


@requirement("server-cap-is-set-by-the-server")
def test_cap_of_the_server(provider: Scene, guest: Guest) -> None:
    """Without a word from the request the server's own cap holds; where it has none more rounds run."""
    _ends_at_the_servers_cap(provider, guest)


@requirement("server-responses-keep-the-servers-cap")
def test_cap_of_the_server_for_responses(provider: Scene, guest: Guest) -> None:
    """Requests for Responses are held to the server's cap as others are."""
    _ends_at_the_servers_cap(provider, guest)


def _ends_at_the_servers_cap(provider: Scene, guest: Guest) -> None:
    provider.plays(*map(asks, range(OWN_CAP + 1)), says("Done."))
    _ran(guest.ask(), OWN_CAP + 1)
    provider.always(asks, most=OWN_CAP + MORE)

    run = guest.ask(setup="cap")

    assert _ran(run, OWN_CAP) == OWN_CAP


@requirement("server-cap-is-256-by-default")
@on("openai-chat/plain/*")
@lengthy
def test_fallback(provider: Scene, guest: Guest) -> None:
    """Where nobody has named a cap a model that never stops asking has 256 of its calls run."""
    provider.always(asks, most=FALLBACK + MORE)

    run = guest.ask()

    guest.reached(run, 1)
    assert FALLBACK == len(run.ran), f"{len(run.ran)} rounds ran, and the client got {run.got}"


@requirement("server-request-sets-its-cap")
@pytest.mark.parametrize("rounds", [OWN_CAP - 1, OWN_CAP + 1], ids=["lower", "higher"])
def test_cap_of_the_request(provider: Scene, guest: Guest, rounds: int) -> None:
    """A request's cap counts in place of the server's, be it lower or higher, and for that request alone."""
    provider.always(asks, most=rounds + MORE)

    run = guest.ask(setup="cap", rounds=rounds)

    assert rounds == _ran(run, 1)
    assert OWN_CAP == _ran(guest.ask(setup="cap"), 1), "the next request was not held to the server's cap"


@requirement("server-cap-forces-an-answer")
def test_answer_at_the_cap(provider: Scene, guest: Guest) -> None:
    """A model that calls as long as it may comes to an answer, and the client is left with no call."""
    provider.listens(wants_more, most=1 + MORE)

    run = guest.ask(rounds=1)

    _ran(run, 1)
    assert run.got.ok, f"the request got {run.got}"
    assert (ENOUGH, ()) == (run.got.text, run.got.turn.calls)


@requirement("server-pending-call-is-told-at-the-cap")
def test_pending_call(provider: Scene, guest: Guest) -> None:
    """A model that calls whatever it is offered: the client gets the call that did not run, or an error."""
    provider.always(asks, most=1 + MORE)

    run = guest.ask(rounds=1)

    if _ran(run, 1) > 1:
        raise NotReached(f"the cap never took hold: {len(run.ran)} rounds ran")
    handed = () if run.got.error is not None else tuple(call.tool for call in run.got.turn.calls)
    told = "error" if run.got.error is not None else "return-pending" if handed else "nothing"
    guest.implementation.diverges("cap_stream" if run.got.stream else "cap_plain", told)
    if run.got.error is not None:
        assert re.search("round|cap|limit", run.got.error, re.IGNORECASE), f"the cap is not named in {run.got.error}"
    else:
        assert ("weather",) == handed, f"the client got {run.got.text!r} and the calls {handed}"
