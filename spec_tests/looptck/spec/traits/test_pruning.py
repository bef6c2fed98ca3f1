"""Traits of pruning: what a loop sends again that is to send no round again."""

from __future__ import annotations

from looptck.catalogue.traits import trait
from looptck.spec.traits.answers import require_played
from looptck.suite.asking import Loop, error_text
from looptck.values.outcome import Failed
from looptck.values.turns import Call, calls, says

FIRST, LAST = Call.of("note", {"text": "one"}), Call.of("weather", {"city": "Paris"})


@trait("rounds-kept-of-none")
def test_none(loop: Loop) -> None:
    """Two rounds, and zero of them are to be sent again."""
    loop.scenario.plays(calls(FIRST), calls(LAST), says("Done."))
    run = loop.run(keep_rounds=0)

    if isinstance(run.outcome, Failed) and not run.received:
        loop.run(keep_rounds=1).request(1)
        loop.answers("error-for-the-caller", error_text(run.outcome))
        return
    require_played(run)
    there = [one.tool for one in run.normalized(3).asked]
    known = {(): "nothing", (LAST.tool,): "last-round", (FIRST.tool, LAST.tool): "everything"}
    loop.answers(known.get(tuple(there), "something-else"), ", ".join(there))
