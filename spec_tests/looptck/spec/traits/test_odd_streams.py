"""Traits of odd streams: one that breaks when a half was handed on, two in one, a piece that says nothing."""

from __future__ import annotations

from looptck.catalogue.traits import trait
from looptck.provider.faults import Cut
from looptck.provider.script import Recorded, Step
from looptck.spec.traits.answers import require_played, run_answer
from looptck.suite.asking import Loop
from looptck.values.framing import DEFAULT
from looptck.values.outcome import Failed, Value
from looptck.values.plain import amount
from looptck.values.turns import Call, calls, says
from looptck.wires import WIRES

ANSWER = "The capital of France is Paris, as everybody knows."
SLOW = DEFAULT.but(fragment=1)
FIRST, SECOND = "The capital of Italy", "It is Paris."
EVENTS = (("content-type", "text/event-stream; charset=utf-8"),)


@trait("text-of-a-lost-attempt")
def test_text_of_a_lost_attempt(loop: Loop) -> None:
    """The connection breaks off in the answer; each request after it is answered whole."""
    run = loop.plays(Step(says(ANSWER), SLOW, fault=Cut(0.6)), *[says(ANSWER)] * 3)

    require_played(run)
    handed = "".join(chunk.text for chunk in run.chunks)
    tries = amount(len(run.requests), "request")
    if isinstance(run.outcome, Failed):
        loop.answers("told" if handed else "held-back", tries)
    elif len(run.requests) == 1:
        loop.answers("cut" if ANSWER.startswith(handed) and handed != ANSWER else "other", tries)
    else:
        half = handed.removesuffix(ANSWER)
        repeated = len(half) < len(handed) and half and ANSWER.startswith(half)
        loop.answers("repeated" if repeated else _once(handed, bool(run.chunks[1:])), tries)


def _once(handed: str, in_pieces: bool) -> str:
    """What has happened where the caller has not received the half twice."""
    if handed != ANSWER:
        return "other"
    return "continued" if in_pieces else "held-back"


@trait("second-message-in-a-stream")
def test_second_message(loop: Loop) -> None:
    """A proxy tries again by itself, and puts the second stream behind the half of the first."""
    run = loop.plays(Step(None, recorded=Recorded(200, EVENTS, _spliced())), *[says(ANSWER)] * 3)

    require_played(run)
    outcome = run.outcome
    if len(run.requests) > 1:
        loop.answers("asked-again", amount(len(run.requests), "request"))
    elif isinstance(outcome, Failed):
        loop.answers("error-for-the-caller", outcome.message)
    else:
        text = (outcome.text or "") if isinstance(outcome, Value) else ""
        holds = FIRST in text, SECOND in text
        names = {(True, False): "first-alone", (False, True): "second-alone", (True, True): "both-as-one"}
        loop.answers(names.get(holds, "other"), text)


def _spliced() -> bytes:
    """The stream of a message without its end, and behind it that of another one."""
    wire = WIRES["anthropic-messages"]
    first = wire.without_finish(wire.events(says(FIRST), 1, DEFAULT))
    return DEFAULT.encode([*first, *wire.events(says(SECOND), 2, DEFAULT)], named=wire.named_events)


@trait("blank-piece-of-a-call")
def test_blank_piece(loop: Loop) -> None:
    """A call is followed by a piece under the next index, with an empty id, no name, and null for its arguments."""
    turn = calls(Call.of("weather", {"city": "Paris"}))
    run = loop.plays(Step(turn, DEFAULT.but(quirk="blank-call-apart")), says("Warm."))

    run.delivered(1)
    if len(run.requests) == 1:
        loop.answers(*run_answer(run))
        return
    asked = run.request(2).request.asked
    loop.answers("taken-for-a-call" if len(asked) > 1 else "ignored", amount(len(asked), "call"))
