"""Cassettes: conversations recorded from real servers, replayed byte for byte and in other encodings.

The requirements of the recorded declared case are judged in ``test_declared``.
"""

from __future__ import annotations

from dataclasses import replace

from looptck.bench.assertions.caller import outcome, text
from looptck.bench.assertions.results import answers, answers_follow
from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.assertions.turns import calls_echoed, ended_or_asked_anew
from looptck.bench.checks import Implementation, dressed, recorded, requirement
from looptck.bench.run import Run
from looptck.cassettes import Cassette
from looptck.cassettes.playback import is_ordinary
from looptck.suite.session import Session
from looptck.values.framing import Framing
from looptck.values.history import parsed
from looptck.values.turns import Turn
from looptck.values.verdicts import NotReached
from looptck.wires.wire import CUT

ENCODING = Framing(newline="\r\n", comments=True, space=False, escaped=True, padded=True, every=31)
"""Everything that a reader of event streams has to handle, combined; ``test_lines`` has each feature alone."""


@requirement("recorded-traffic-is-read-right")
@recorded(is_ordinary)
def test_recorded_conversation(implementation: Implementation, cassette: Cassette, session: Session) -> None:
    """The recorded calls run, are echoed and answered, and the recorded answer is returned."""
    run = session.shared.run_of(cassette, implementation)

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
@dressed
@recorded(lambda cassette: cassette.stream and is_ordinary(cassette))
def test_recorded_stream_in_another_dress(implementation: Implementation, cassette: Cassette, session: Session) -> None:
    """The recorded events lead to the same run, in whatever lines and writes they arrive."""
    natural = session.shared.run_of(cassette, implementation)
    _all_requested(natural, cassette)
    run = session.shared.run_of(replace(cassette, encoding=ENCODING), implementation)

    _all_requested(run, cassette)
    last = len(cassette.exchanges)
    assert natural.rounds == run.rounds
    assert natural.comparable_history(last) == run.comparable_history(last)
    assert natural.ending == run.ending


def _all_requested(run: Run, cassette: Cassette) -> None:
    """Assert that every recorded reply was requested; more requests may follow a cut or empty last reply only."""
    recorded, came = len(cassette.exchanges), len(run.requests)
    if run.request(1).request.stream != cassette.stream:
        raise NotReached("request 1 asks for another mode than the recorded one: plain or stream")
    for received in run.requests[: len(cassette.turns)]:
        run.delivered(received.n)
    last = cassette.exchanges[-1].turn
    if last is None or last.stopped in CUT or _is_empty(last):
        came = min(came, recorded)

    assert recorded == came, f"{recorded} requests are recorded, {len(run.requests)} came, and the loop {run.outcome}"


def _is_empty(turn: Turn) -> bool:
    """Whether a turn is an empty answer, after which a loop may ask again."""
    return not (turn.text or turn.refusal or turn.calls or turn.stopped in CUT)
