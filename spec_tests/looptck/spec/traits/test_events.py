"""Traits of events: what the caller is told of calls that do not run, and under which ids."""

from __future__ import annotations

from looptck.bench.assertions.events import calls_told, require_events, results_told
from looptck.catalogue.traits import trait
from looptck.suite.asking import Loop
from looptck.values.turns import Call, calls, says, turn
from looptck.values.verdicts import NotReached

WEATHER = Call.of("weather", {"city": "Paris"})


@trait("events-of-an-unknown-tool")
def test_unknown_tool(loop: Loop) -> None:
    """The model calls a tool that was not offered, alone in its turn."""
    require_events(loop)
    run = loop.plays(calls(Call.of("teleport", {"to": "Mars"})), says("Then not."))

    run.delivered(1)
    told = bool(calls_told(run)), bool(results_told(run))
    if run.failed and len(run.requests) == 1:
        loop.answers("ends", "told" if told[0] else "not told")
        return
    names = {(True, True): "both", (True, False): "call-alone", (False, True): "result-alone"}
    loop.answers(names.get(told, "neither"))


@trait("events-of-a-cut-call")
def test_cut_call(loop: Loop) -> None:
    """The token limit cuts a turn whose call looks whole."""
    require_events(loop)
    run = loop.plays(turn(WEATHER, stop="length"), says("Not asked for."))

    run.delivered(1)
    if not calls_told(run):
        loop.answers("not-told")
    else:
        loop.answers("told-with-a-result" if results_told(run) else "told")


@trait("ids-of-events")
def test_ids(loop: Loop) -> None:
    """One call, which runs."""
    require_events(loop)
    run = loop.plays(calls(WEATHER), says("It is fine."))

    run.delivered(1)
    told = [one["call_id"] for one in calls_told(run)]
    if not told:
        raise NotReached("the caller is told of no call")
    known = {call.id for call in run.delivered(1).calls} | {one.id for one in run.request(2).request.answers}
    loop.answers("none" if None in told else "the-model-s" if {*told} <= known else "own")
