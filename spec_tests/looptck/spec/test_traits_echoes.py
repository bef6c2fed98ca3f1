"""Traits of what a request carries of the turns before it: ids, arguments, the history itself, and what follows it."""

from __future__ import annotations

import json

from looptck.asking import Loop
from looptck.history import Asked, same_arguments
from looptck.provider.script import Step
from looptck.run import Run
from looptck.spec.fates import Fate, ended, fate, ids
from looptck.spec.messages import carrying
from looptck.traits import trait
from looptck.transcript import Aside
from looptck.turns import Call, calls, says
from looptck.verdicts import NotApplicable, NotReached

WEATHER = Call.of("weather", {"city": "Paris"})
LONG = "call_" + "0123456789" * 29 + "12345"
"""An id of 300 characters."""
FOREIGN = 'call 1: "ärger"/2'


def _carried(loop: Loop, id: str | None = None) -> Fate:
    return ids(loop.plays(calls(Call("weather", WEATHER.arguments, id)), says("Done.")))


@trait("call-ids")
def test_call_ids(loop: Loop) -> None:
    """The id is of the usual kind."""
    loop.answers(*_carried(loop))


@trait("empty-id")
def test_empty_id(loop: Loop) -> None:
    """The id is an empty text."""
    loop.answers(*_carried(loop, ""))


@trait("long-id")
def test_long_id(loop: Loop) -> None:
    """The id has 300 characters."""
    loop.answers(*_carried(loop, LONG))


@trait("foreign-id")
def test_foreign_id(loop: Loop) -> None:
    """The id holds blanks, quotes and a letter beyond ASCII."""
    loop.answers(*_carried(loop, FOREIGN))


@trait("twin-ids")
def test_twin_ids(loop: Loop) -> None:
    """Two different calls have one id."""
    twins = [Call.of("weather", {"city": city}, id="call_twin") for city in ("Paris", "Oslo")]
    run = loop.plays(calls(*twins), says("Done."))

    run.delivered(1)
    if not run.ran:
        loop.answers(*fate(run))
    elif len(run.ran) == 1:
        loop.answers("one-runs", json.dumps(run.ran[0].arguments))
    elif len(run.requests) == 1:
        loop.answers("both-run-and-one-is-lost", ended(run)[1])
    else:
        answered = run.new_answers(1)
        told = {one for one in ("result 1 of weather", "result 2 of weather") for a in answered if one in a.text}
        under = {answer.id for answer in answered}
        whole = "both-run-under-one-id" if len(under) == 1 else "both-run-under-two-ids"
        loop.answers(whole if len(told) == 2 else "both-run-and-one-is-lost", ", ".join(sorted(under)))


@trait("echoed-arguments")
def test_echoed_arguments(loop: Loop) -> None:
    """The JSON has blanks and escapes that nobody needs."""
    written = '{ "text":  "caf\\u00e9 \\u2028 \\"quoted\\"" }'
    run = loop.plays(calls(Call("note", written)), says("Done."))

    run.delivered(1)
    run.request(2)
    echoed = [item.arguments for item in run.added(1) if isinstance(item, Asked)]
    if not echoed:
        loop.answers("not-echoed")
    elif echoed[0] == written:
        loop.answers("same-text")
    else:
        loop.answers("written-anew" if same_arguments(written, echoed[0]) else "another-value", echoed[0])


def _usual(loop: Loop) -> Run:
    run = loop.once("usual", lambda: loop.plays(calls(WEATHER), says("Warm.")))
    run.delivered(1)
    run.request(2)
    return run


@trait("history")
def test_history(loop: Loop) -> None:
    """A turn with a call, and its result."""
    leans = _usual(loop).request(2).request.continues
    loop.answers("whole-history" if leans is None else "what-is-new")


def _forgotten(loop: Loop, *what: Step) -> None:
    """Answer what became of a run whose service has forgotten."""
    if _usual(loop).request(2).request.continues is None:
        raise NotApplicable("request 2 carries the whole history, and so leans on nothing")
    run = loop.plays(calls(WEATHER), *what)

    if not any(isinstance(event, Aside) for event in run.transcript.events):
        raise NotReached("no request leaned on a memory")
    if len(run.ran) > 1:
        loop.answers("tool-run-again")
    elif run.failed:
        loop.answers(*ended(run))
    else:
        loop.answers("told-in-full" if run.value.text == "Warm." else "ended-without-an-error", run.value.text)


@trait("lost-memory")
def test_lost_memory(loop: Loop) -> None:
    """Behind the first turn the service has lost it."""
    _forgotten(loop, Step(says("Warm."), forgets=""))


@trait("refused-memory")
def test_refused_memory(loop: Loop) -> None:
    """The service keeps nothing."""
    _usual(loop)
    loop.scene.stateful = False
    _forgotten(loop, Step(says("Warm.")))


@trait("behind-the-results")
def test_behind_the_results(loop: Loop) -> None:
    """A turn with a call, and its result."""
    kinds = [str(block.get("type")) for blocks in carrying(_usual(loop), 2) for block in blocks]
    behind = kinds[len(kinds) - kinds[::-1].index("tool_result") :]
    if not behind:
        loop.answers("nothing")
    else:
        loop.answers("text" if set(behind) == {"text"} else "other-blocks", ", ".join(behind))
