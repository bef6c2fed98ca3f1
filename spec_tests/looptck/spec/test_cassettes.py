"""Cassettes: conversations recorded from real servers, played byte for byte and in other dresses.

The requirements of the declared case that was recorded are judged in ``test_declared``.
"""

from __future__ import annotations

from dataclasses import replace

from looptck.cassettes import Cassette
from looptck.cassettes.scenario import is_plain_sailing
from looptck.checks import Implementation, recorded, requirement
from looptck.expectations import answers, answers_follow, calls_echoed, ended_or_asked_anew, outcome, text, tools_ran
from looptck.framing import Framing
from looptck.history import parsed
from looptck.run import Run
from looptck.session import Session
from looptck.turns import Turn
from looptck.verdicts import NotReached
from looptck.wires.wire import CUT

DRESS = Framing(newline="\r\n", comments=True, space=False, escaped=True, padded=True, every=31)
"""What every reader of event streams has to read, all in one: ``test_framing`` has each by itself."""


@requirement("recorded-traffic-is-read-right")
@recorded(is_plain_sailing)
def test_recorded_conversation(implementation: Implementation, cassette: Cassette, session: Session) -> None:
    """The recorded calls run, are echoed and answered, and the recorded answer is returned."""
    run = session.run_of(cassette, implementation)

    _all_requested(run, cassette)
    calls = [call for turn in cassette.followed for call in turn.calls]
    tools_ran(run, [{call.tool: parsed(call.arguments)} for call in calls])
    for n, turn in enumerate(cassette.followed, 1):
        if turn.calls:
            calls_echoed(run, n)
            answers(run, n)
            answers_follow(run, n)
    last = cassette.exchanges[-1].turn
    if last is None:
        outcome(run, "told-or-asked-again")
    elif _is_empty(last):
        ended_or_asked_anew(run, len(cassette.exchanges))
    elif last.stopped not in CUT:
        text(run, last.text or "")


@requirement("framing-does-not-matter")
@recorded(lambda cassette: cassette.stream and is_plain_sailing(cassette))
def test_recorded_stream_in_another_dress(implementation: Implementation, cassette: Cassette, session: Session) -> None:
    """The recorded events lead where they lead as recorded, whatever the lines and writes that they come in."""
    natural = session.run_of(cassette, implementation)
    _all_requested(natural, cassette)
    run = session.run_of(replace(cassette, dress=DRESS), implementation)

    _all_requested(run, cassette)
    last = len(cassette.exchanges)
    assert natural.rounds == run.rounds
    assert natural.retold(last) == run.retold(last)
    assert natural.ending == run.ending


def _all_requested(run: Run, cassette: Cassette) -> None:
    """Every recorded reply was asked for, in its mode, and no other but after one that a loop may ask for again."""
    recorded, came = len(cassette.exchanges), len(run.requests)
    if run.request(1).request.stream != cassette.stream:
        raise NotReached("request 1 asks for the other mode: plain where a stream was recorded, or the reverse")
    for received in run.requests[: len(cassette.turns)]:
        run.delivered(received.n)
    last = cassette.exchanges[-1].turn
    if last is None or last.stopped in CUT or _is_empty(last):
        came = min(came, recorded)

    assert recorded == came, f"{recorded} requests were recorded, and {len(run.requests)} came; the loop {run.outcome}"


def _is_empty(turn: Turn) -> bool:
    """Whether it is an answer that says nothing, so that a loop may ask for another one."""
    return not (turn.text or turn.refusal or turn.calls or turn.stopped in CUT)
