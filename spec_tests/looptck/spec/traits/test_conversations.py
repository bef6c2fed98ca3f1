"""Traits of conversations and approval: what is left of runs that failed, and what decisions do."""

from __future__ import annotations

from typing import Any

from looptck.bench.run import Run
from looptck.bench.talk import Talk, suspended
from looptck.catalogue.traits import trait
from looptck.provider.confirmation import Change, Reject
from looptck.provider.faults import HttpError
from looptck.provider.gates import cancelled_run_ended
from looptck.provider.script import Hold, Step
from looptck.spec.cancelling import cancelled_at, require_cancelling
from looptck.spec.conversing import answer, guarded, question
from looptck.spec.traits.answers import require_played
from looptck.suite.asking import Loop, error_text
from looptck.values.history import Said
from looptck.values.outcome import Failed
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

ASKED = "What is the weather?"
CALL = Call.of("weather", {"city": "Paris"})
NOTE = Call.of("note", {"text": "first"})
NO = "Not on a Sunday."
BLAMED = frozenset({"provider", "stream"})
"""The reasons of errors that are faults of the service."""


def _next(loop: Loop, talk: Talk) -> Run:
    """The next run of a conversation, which is answered."""
    loop.scenario.plays(says("It is noon."))
    run = talk.run("What time is it?")
    run.request(1)
    return run


def _failed(loop: Loop) -> Run:
    """The run that follows one that was refused behind its tool. NotReached if that did not end in an error."""
    talk = Talk(loop)
    loop.scenario.plays(calls(CALL), HttpError(400))
    loop.scenario.returns("weather", "18 degrees")
    before = talk.run(ASKED)
    if not before.failed:
        raise NotReached(f"the run should have ended in an error, but the loop {before.outcome}")
    return _next(loop, talk)


@trait("question-of-a-failed-run")
def test_question(loop: Loop) -> None:
    """The service refuses the second request of a run; the next question follows."""
    items = loop.once("after a failed run", lambda: _failed(loop)).request(1).request.items

    if not any(question(ASKED).is_in(item) for item in items):
        loop.answers("taken-back")
        return
    unsaid = [item.text for item in items if isinstance(item, Said) and item.role == "assistant" and item.text.strip()]
    loop.answers("stays-with-an-answer" if unsaid else "stays", unsaid[0] if unsaid else "")


@trait("tools-of-a-failed-run")
def test_tools(loop: Loop) -> None:
    """The tool of the same run has returned a result."""
    request = loop.once("after a failed run", lambda: _failed(loop)).request(1).request

    results = [one.text for one in request.answers]
    if not request.asked:
        loop.answers("forgotten")
    elif any("18 degrees" in text for text in results):
        loop.answers("stays")
    else:
        loop.answers("result-rewritten", results[0] if results else "")


@trait("text-of-a-cancelled-run")
def test_text(loop: Loop) -> None:
    """Some of an answer has arrived when the run is cancelled; the next question follows."""
    require_cancelling(loop)
    gate = cancelled_run_ended()
    talk = Talk(loop)
    loop.scenario.plays(Step(says("It is fine in Paris today."), holds=(Hold(gate, "It is fine"),)))
    cancelled_at(gate, loop, talk.begin(ASKED))

    run = _next(loop, talk)

    kept = any(answer("It is fine").is_in(item) for item in run.request(1).request.items)
    loop.answers("stays" if kept else "forgotten")


@trait("error-of-a-cancelled-run")
def test_error_of_a_cancelled_run(loop: Loop) -> None:
    """The caller cancels while the model has not begun its answer."""
    require_cancelling(loop)
    gate = cancelled_run_ended()
    loop.scenario.plays(Step(says("It is fine."), before=gate), says("Not asked for."))
    outcome = cancelled_at(gate, loop, loop.begin()).outcome

    if not isinstance(outcome, Failed):
        loop.answers("no-error", str(outcome))
    elif outcome.reason == "cancelled":
        loop.answers("cancelled", error_text(outcome))
    else:
        loop.answers("of-the-service" if outcome.reason in BLAMED else "other", error_text(outcome))


@trait("unanswered-call-in-a-given-history")
def test_unanswered_call(loop: Loop) -> None:
    """The history that the caller gives ends with a call, and the question follows; with a result it is sent."""
    call = {"id": "call_given", "name": "weather", "arguments": {"city": "Paris"}}
    history: list[dict[str, Any]] = [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": "", "calls": [call]},
    ]
    result = {"role": "tool", "call_id": "call_given", "content": "18 degrees"}
    loop.plays(says("It is noon."), history=[*history, result]).request(1)

    run = loop.plays(says("It is noon."), says("It is noon."), history=history)

    if not run.requests and isinstance(run.outcome, Failed):
        loop.answers("error-for-the-caller", error_text(run.outcome))
        return
    request = run.request(1).request
    if not request.asked:
        loop.answers("left-out")
    elif request.answers:
        loop.answers("answered", request.answers[0].text)
    else:
        loop.answers("sent")


@trait("changed-call")
def test_changed_call(loop: Loop) -> None:
    """A call with two arguments is approved with another value for one of them."""
    loop.scenario.decides(Change({"a": 5}))

    run = loop.plays(calls(Call.of("add", {"a": 1, "b": 2})), says("Added."), tools=guarded("add"), confirms=True)

    require_played(run)
    if not run.questions:
        raise NotReached("no confirmation was asked for the call")
    ran = run.arguments_of("add")
    names = {"{'a': 5, 'b': 2}": "the-changed-ones", "{'a': 1, 'b': 2}": "the-model-s"}
    if not ran:
        loop.answers("not-at-all")
    else:
        values = {name: value for name, value in sorted(ran[0].items()) if value is not None}
        loop.answers(names.get(str(values), "the-changed-ones-alone"), ran[0])


@trait("reason-of-a-rejection")
def test_reason(loop: Loop) -> None:
    """A call is rejected with a reason."""
    loop.scenario.decides(Reject(NO))

    run = loop.plays(calls(NOTE), says("Noted."), tools=guarded("note"), confirms=True)

    require_played(run)
    if not run.questions:
        raise NotReached("no confirmation was asked for the call")
    _told(loop, run, 2)


@trait("reason-of-a-rejection-on-resume")
def test_reason_on_resume(loop: Loop) -> None:
    """A run is suspended, and resumed with a rejection that has a reason."""
    tools = guarded("note")
    talk = Talk(loop, named=False)
    loop.scenario.plays(calls(NOTE))
    first = talk.run("Go.", tools=tools)
    decisions = [{"id": one.id, "decision": "reject", "feedback": NO} for one in suspended(first).calls]
    loop.scenario.plays(says("So be it."))

    _told(loop, talk.resume(first, decisions, tools=tools), 1)


@trait("order-of-results-on-resume")
def test_order_on_resume(loop: Loop) -> None:
    """Of three calls the second one needs approval, and the run is suspended before it, and resumed."""
    tools = guarded("note")
    talk = Talk(loop, named=False)
    loop.scenario.plays(calls(CALL, NOTE, Call.of("ping")))
    first = talk.run("Go.", tools=tools)
    decisions = [{"id": one.id, "decision": "approve"} for one in suspended(first).calls]
    loop.scenario.plays(says("Noted."))

    request = talk.resume(first, decisions, tools=tools).request(1).request

    asked, answered = ([one.id for one in some] for some in (request.asked, request.answers))
    if sorted(asked) != sorted(answered):
        raise NotReached(f"the resumed run has {len(answered)} results for {len(asked)} calls")
    tools_of = {one.id: one.tool for one in request.asked}
    order = ", ".join(tools_of[id] for id in answered)
    loop.answers("order-of-the-calls" if asked == answered else "another-order", order)


def _told(loop: Loop, run: Run, n: int) -> None:
    """Answer with what request ``n``, the first behind the rejection, has of the reason."""
    if run.ended and len(run.requests) < n:
        loop.answers("not-asked-again", run.outcome)
        return
    texts = [one.text for one in run.request(n).request.answers]
    loop.answers("told" if any(NO in text for text in texts) else "not-told", texts[0] if texts else "")
