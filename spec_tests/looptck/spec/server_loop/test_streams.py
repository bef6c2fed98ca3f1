"""Server-side loops: every stream has the end that its wire prescribes, and names its session."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from looptck.bench.checks import requirement
from looptck.bench.client import Reply
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.provider.faults import Cut, HttpError
from looptck.provider.script import Step
from looptck.spec.server_loop.replies import DONE, ONE_ROUND, PING, THREE_ROUNDS, events_of_phase, reply_after_rounds
from looptck.values.lenient import as_object, objects_in
from looptck.values.plain import cut, plain
from looptck.values.turns import Call, Turn, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

CONVERSATIONS: Mapping[str, tuple[Turn, ...]] = {
    "at-once": (DONE,),
    "one-round": ONE_ROUND,
    "three-rounds": THREE_ROUNDS,
    "nothing-said": (calls(PING), says("")),
    "cut-answer": (calls(PING), says("It is", stop="length")),
}


@requirement("server-every-stream-ends-explicitly")
@pytest.mark.parametrize("turns", CONVERSATIONS.values(), ids=CONVERSATIONS)
def test_end_of_a_stream(scenario: Scenario, server: ServerUnderTest, turns: tuple[Turn, ...]) -> None:
    """The last event is the wire's end, and the stop reason comes before it."""
    scenario.plays(*turns)

    reply = reply_after_rounds(server.ask(), len(turns) - 1)

    assert reply.ended, f"{_unended(reply)}; it ends with {_tail(reply)}"
    assert _stops(reply), f"the stream has no stop reason; it ends with {_tail(reply)}"


@requirement("server-stream-at-the-cap-ends-explicitly")
def test_end_at_the_cap(scenario: Scenario, server: ServerUnderTest) -> None:
    """The stream ends like that of an answer although its model wants one round more than the cap allows."""
    scenario.plays(*ONE_ROUND)
    if not reply_after_rounds(server.ask(rounds=1), 1).ended:
        raise NotReached("control: a stream that does not reach the cap has no end either")
    scenario.plays()
    scenario.always(lambda n: calls(Call.of("weather", {"city": f"city {n}"})), most=4)

    reply = reply_after_rounds(server.ask(rounds=1), 1)

    assert reply.ended, f"{_unended(reply)}; it ends with {_tail(reply)}"
    assert reply.error or _stops(reply), f"the stream has no stop reason; it ends with {_tail(reply)}"


@requirement("server-stream-after-an-error-ends-explicitly")
@pytest.mark.parametrize("fault", [HttpError(500), Cut()], ids=["500", "cut"])
def test_end_after_an_error(scenario: Scenario, server: ServerUnderTest, fault: HttpError | Cut) -> None:
    """If the model fails after a round, the stream has an error after complete, and then its end."""
    scenario.plays(*ONE_ROUND)
    if not reply_after_rounds(server.ask(), 1).ended:
        raise NotReached("control: a stream without an error has no end either")
    scenario.plays(calls(PING), Step(None if isinstance(fault, HttpError) else DONE, fault=fault))

    run = server.ask()

    run.request(2)
    reply = reply_after_rounds(run, 1)
    assert reply.error is not None, f"no event reports the error: the stream ends with {_tail(reply)}"
    assert reply.ended, f"{_unended(reply)}; it ends with {_tail(reply)}"
    reported = [at for at, event in enumerate(reply.events) if _of(event.value).get("error")]
    assert events_of_phase(reply, "complete")[-1].at < max(reported, default=len(reply.events))


@requirement("server-stream-tells-its-session")
@pytest.mark.parametrize("id", [None, "looptck-named"], ids=["unnamed", "named"])
def test_session_of_a_stream(scenario: Scenario, server: ServerUnderTest, id: str | None) -> None:
    """A chunk has the id of the session, which is the request's if it has one."""
    scenario.plays(*ONE_ROUND)

    reply = reply_after_rounds(server.ask(session=id), 1)

    assert reply.session, f"no chunk names the session; the stream ends with {_tail(reply)}"
    assert id in (None, reply.session)
    first = "session_id" in _of(reply.own[0].value)
    server.implementation.diverges("session_id_in_a_stream", "first-chunk" if first else "last-chunk")


def _stops(reply: Reply) -> list[object]:
    """Every stop reason in the stream; on Responses, the type of the event that ends it."""
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


def _unended(reply: Reply) -> str:
    """What is missing at the end of a stream, for messages."""
    marks = {"openai-chat": "[DONE]", "anthropic-messages": "message_stop"}
    mark = marks.get(reply.wire, "response.completed, response.incomplete or response.failed")
    return f"the stream does not have one {mark} at its very end"


def _tail(reply: Reply) -> str:
    """The last event, for messages."""
    last = [f"{event.name or 'an unnamed event'}: {cut(json.dumps(event.value), 150)}" for event in reply.events[-1:]]
    return "; ".join(last) or f"nothing: {reply}"


def _of(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


WHOLE = {
    "response.output_text": ("response.output_text.done", "text"),
    "response.function_call_arguments": ("response.function_call_arguments.done", "arguments"),
}
"""The event that has whole what came in pieces, and the member that it is in."""


@requirement("server-pieces-are-told-whole")
def test_pieces_of_an_answer(scenario: Scenario, server: ServerUnderTest) -> None:
    """The text of an answer behind a round came in pieces, and is told whole behind them."""
    scenario.plays(*ONE_ROUND)

    _told_whole(reply_after_rounds(server.ask(), 1))


@requirement("server-pieces-are-told-whole")
def test_pieces_of_arguments(scenario: Scenario, server: ServerUnderTest) -> None:
    """The arguments of a call that the client runs came in pieces, and are told whole behind them."""
    if not server.can("bare"):
        raise NotApplicable("the server has no set-up `bare`")
    scenario.plays(calls(Call.of("weather", {"city": "Łódź"})), DONE)

    run = server.ask(setup="bare")

    if not run.got.ok:
        raise NotReached(f"the client got {run.got}")
    _told_whole(run.got)


def _told_whole(reply: Reply) -> None:
    """Assert that each text and all arguments that came in pieces have an event that tells them whole."""
    pieces: dict[tuple[str, str], str] = {}
    for event in map(as_object, (event.value for event in reply.own)):
        of = str(event.get("type")).removesuffix(".delta")
        place = of, f"{event.get('output_index')}/{event.get('content_index')}"
        if of in WHOLE and isinstance(event.get("delta"), str):
            pieces[place] = pieces.get(place, "") + event["delta"]
        for start, (whole, member) in WHOLE.items():
            if event.get("type") == whole:
                text = pieces.pop((start, place[1]), "")
                assert not text or text == event.get(member), (
                    f"the pieces are {plain(cut(text, 80))}, and {whole} has {plain(cut(str(event.get(member)), 80))}"
                )
    for (start, _), text in pieces.items():
        assert not text, f"no {WHOLE[start][0]} comes for the pieces of {plain(cut(text, 80))}"


@requirement("server-last-event-has-the-output")
def test_output_of_the_last_event(scenario: Scenario, server: ServerUnderTest) -> None:
    """Clients that wait for the end of a stream read its output there, and nowhere else."""
    scenario.plays(*ONE_ROUND)

    reply = reply_after_rounds(server.ask(), 1)

    events = [as_object(event.value) for event in reply.own]
    streamed = "".join(str(event.get("delta")) for event in events if event.get("type") == "response.output_text.delta")
    last = [as_object(event.get("response")) for event in events if event.get("type") == "response.completed"]
    if not (streamed and last):
        raise NotReached(f"control: the stream has the text {plain(streamed)} and {len(last)} completed responses")
    items = objects_in(last[-1].get("output"))
    text = "".join(str(part.get("text", "")) for item in items for part in objects_in(item.get("content")))
    assert streamed == text, f"the stream has the text {plain(streamed)}, and the output of its end {plain(text)}"
