"""Traits of echoes: ids, arguments, the history, and what follows it in the next request."""

from __future__ import annotations

import json

from looptck.bench.run import Run
from looptck.catalogue.traits import trait
from looptck.provider.script import Step
from looptck.spec.messages import carrying
from looptck.spec.traits.answers import TraitAnswer, id_answer, run_answer, turn_answer
from looptck.suite.asking import Loop
from looptck.values.history import Asked, same_arguments
from looptck.values.transcript import SideRequest
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

WEATHER = Call.of("weather", {"city": "Paris"})
LONG = "call_" + "0123456789" * 29 + "12345"
"""An id of 300 characters."""
FOREIGN = 'call 1: "ärger"/2'


def _carried(loop: Loop, id: str | None = None) -> TraitAnswer:
    return id_answer(loop.plays(calls(Call("weather", WEATHER.arguments, id)), says("Done.")))


@trait("call-ids")
def test_call_ids(loop: Loop) -> None:
    """The id has the usual form."""
    loop.answers(*_carried(loop))


@trait("empty-id")
def test_empty_id(loop: Loop) -> None:
    """The id is an empty string."""
    loop.answers(*_carried(loop, ""))


@trait("long-id")
def test_long_id(loop: Loop) -> None:
    """The id has 300 characters."""
    loop.answers(*_carried(loop, LONG))


@trait("foreign-id")
def test_foreign_id(loop: Loop) -> None:
    """The id contains blanks, quotes and a character beyond ASCII."""
    loop.answers(*_carried(loop, FOREIGN))


@trait("ids-of-another-run")
def test_ids_of_another_run(loop: Loop) -> None:
    """In two runs of different questions a call has the same id, and its tool returns something else."""
    for text in ("It is cold.", "It is warm."):
        loop.scenario.returns("weather", text)
        run = loop.plays(calls(Call.of("weather", {"city": "Paris"}, id="call_0")), says("Done."))

    told = [one.text for one in run.new_answers(1)]
    if not told:
        raise NotReached(f"no result was sent; the loop {run.outcome}")
    loop.answers("own-result" if "It is warm." in told[0] else "another-result", told[0])


@trait("twin-ids")
def test_twin_ids(loop: Loop) -> None:
    """Two different calls have the same id."""
    twins = [Call.of("weather", {"city": city}, id="call_twin") for city in ("Paris", "Oslo")]
    run = loop.plays(calls(*twins), says("Done."))

    run.delivered(1)
    if not run.ran:
        loop.answers(*turn_answer(run))
    elif len(run.ran) == 1:
        loop.answers("one-runs", json.dumps(run.ran[0].arguments))
    elif len(run.requests) == 1:
        loop.answers("both-run-and-one-is-lost", run_answer(run)[1])
    else:
        answered = run.new_answers(1)
        carried = {one for one in ("result 1 of weather", "result 2 of weather") for a in answered if one in a.text}
        under = {answer.id for answer in answered}
        whole = "both-run-under-one-id" if len(under) == 1 else "both-run-under-two-ids"
        loop.answers(whole if len(carried) == 2 else "both-run-and-one-is-lost", ", ".join(sorted(under)))


@trait("echoed-arguments")
def test_echoed_arguments(loop: Loop) -> None:
    """The JSON has optional blanks and escapes."""
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
    """Answer what became of a run whose service has lost the conversation."""
    if not _usual(loop).request(2).request.relies:
        raise NotApplicable("request 2 carries the whole history, and so does not depend on stored state")
    run = loop.plays(calls(WEATHER), *what)

    if not any(isinstance(event, SideRequest) for event in run.transcript.events):
        raise NotReached("no request depended on the service's memory")
    if len(run.ran) > 1:
        loop.answers("tool-run-again")
    elif run.failed:
        loop.answers(*run_answer(run))
    else:
        loop.answers("told-in-full" if run.value.text == "Warm." else "ended-without-an-error", run.value.text)


@trait("lost-memory")
def test_lost_memory(loop: Loop) -> None:
    """After the first turn, the service loses the conversation."""
    _forgotten(loop, Step(says("Warm."), forgets=""))


@trait("refused-memory")
def test_refused_memory(loop: Loop) -> None:
    """The service stores nothing."""
    _usual(loop)
    loop.scenario.stateful = False
    _forgotten(loop, Step(says("Warm.")))


@trait("behind-the-results")
def test_behind_the_results(loop: Loop) -> None:
    """A turn with a call, and its result."""
    kinds = [str(block.get("type")) for blocks in carrying(_usual(loop), 2) for block in blocks]
    following = kinds[len(kinds) - kinds[::-1].index("tool_result") :]
    if not following:
        loop.answers("nothing")
    else:
        loop.answers("text" if set(following) == {"text"} else "other-blocks", ", ".join(following))
