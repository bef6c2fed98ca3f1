"""Server-side loops: every stream ends as its wire says, whatever happened in it, and names its session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from looptck.checks import requirement
from looptck.client import Reply
from looptck.guest import Guest
from looptck.kit import Scene
from looptck.provider.faults import Cut, HttpError
from looptck.provider.script import Step
from looptck.spec.served import DONE, ONE_ROUND, PING, THREE_ROUNDS, phase, served
from looptck.turns import Call, Turn, calls, says
from looptck.verdicts import NotReached

CONVERSATIONS: Mapping[str, tuple[Turn, ...]] = {
    "at-once": (DONE,),
    "one-round": ONE_ROUND,
    "three-rounds": THREE_ROUNDS,
    "nothing-said": (calls(PING), says("")),
    "cut-answer": (calls(PING), says("It is", stop="length")),
}


@requirement("server-every-stream-ends-explicitly")
@pytest.mark.parametrize("turns", CONVERSATIONS.values(), ids=CONVERSATIONS)
def test_end_of_a_stream(provider: Scene, guest: Guest, turns: tuple[Turn, ...]) -> None:
    """The last event is the end of the wire, and before it stands why the model stopped."""
    provider.plays(*turns)

    reply = served(guest.ask(), len(turns) - 1)

    assert reply.ended, f"the stream ends with {_tail(reply)}"
    assert _stops(reply), f"nothing says why the model stopped; the stream ends with {_tail(reply)}"


@requirement("server-stream-at-the-cap-ends-explicitly")
def test_end_at_the_cap(provider: Scene, guest: Guest) -> None:
    """A stream whose model wants one round more than the cap allows ends as one that has its answer."""
    provider.plays(*ONE_ROUND)
    if not served(guest.ask(rounds=1), 1).ended:
        raise NotReached("control: a stream that does not reach the cap has no end either")
    provider.plays()
    provider.always(lambda n: calls(Call.of("weather", {"city": f"city {n}"})), most=4)

    reply = served(guest.ask(rounds=1), 1)

    assert reply.ended, f"the stream ends with {_tail(reply)}"
    assert reply.error or _stops(reply), f"nothing says why it stopped; the stream ends with {_tail(reply)}"


@requirement("server-stream-after-an-error-ends-explicitly")
@pytest.mark.parametrize("fault", [HttpError(500), Cut()], ids=["500", "cut"])
def test_end_after_an_error(provider: Scene, guest: Guest, fault: HttpError | Cut) -> None:
    """Where the model fails behind a round, its stream tells the error behind complete, and then ends."""
    provider.plays(*ONE_ROUND)
    if not served(guest.ask(), 1).ended:
        raise NotReached("control: a stream without an error has no end either")
    provider.plays(calls(PING), Step(None if isinstance(fault, HttpError) else DONE, fault=fault))

    run = guest.ask()

    run.request(2)
    reply = served(run, 1)
    assert reply.error is not None, f"no event tells the error: the stream ends with {_tail(reply)}"
    assert reply.ended, f"the stream ends with {_tail(reply)}"
    told = [at for at, event in enumerate(reply.events) if _of(event.value).get("error")]
    assert phase(reply, "complete")[-1].at < max(told, default=len(reply.events))


@requirement("server-stream-tells-its-session")
@pytest.mark.parametrize("id", [None, "looptck-named"], ids=["unnamed", "named"])
def test_session_of_a_stream(provider: Scene, guest: Guest, id: str | None) -> None:
    """A chunk has the id of the session, which is the request's if it has one."""
    provider.plays(*ONE_ROUND)

    reply = served(guest.ask(session=id), 1)

    assert reply.session, f"no chunk names the session; the stream ends with {_tail(reply)}"
    assert id in (None, reply.session)
    first = "session_id" in _of(reply.own[0].value)
    guest.implementation.diverges("session_id_in_a_stream", "first-chunk" if first else "last-chunk")


def _stops(reply: Reply) -> list[object]:
    """Every word in the stream for why the model stopped; on Responses that is the event that ends it."""
    found: list[object] = []
    for event in reply.own:
        value = _of(event.value)
        if reply.wire == "openai-chat":
            found += [choice.get("finish_reason") for choice in value.get("choices") or ()]
        elif reply.wire == "anthropic-messages":
            found.append(_of(value.get("delta")).get("stop_reason"))
        else:
            found.append(_of(value.get("response")).get("status") if event is reply.own[-1] else None)
    return [reason for reason in found if reason]


def _tail(reply: Reply) -> str:
    """The last two events, for people."""
    last = [f"{event.name or 'an unnamed event'}: {str(event.value)[:150]}" for event in reply.events[-2:]]
    return "; ".join(last) or f"nothing: {reply}"


def _of(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
