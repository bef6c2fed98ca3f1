"""Traits of failing calls, and of several calls in a turn."""

from __future__ import annotations

from looptck.bench.run import Run
from looptck.catalogue.traits import trait
from looptck.provider import gates
from looptck.provider.gate import Gate
from looptck.provider.script import Hold, Step
from looptck.provider.toolbox import Returns
from looptck.spec.traits.answers import turn_answer
from looptck.suite.asking import Loop, error_text
from looptck.values.framing import DEFAULT
from looptck.values.history import Said
from looptck.values.outcome import Failed
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

WEATHER = Call.of("weather", {"city": "Paris"})
NOTE = Call.of("note", {"text": "of two"})
TIME = 0.5
"""Seconds in which a second tool begins and ends if it does not wait for the first."""
SOON = 1.0
"""Seconds in which a caller receives a text if it is forwarded at once."""
MESSAGE, CLASS = "no such city as Atlantis", "LookupError"


@trait("unknown-tool")
def test_unknown_tool(loop: Loop) -> None:
    """A tool that was never offered is called."""
    run = loop.plays(calls(Call.of("teleport", {"to": "Paris"})), says("Done."))

    run.delivered(1)
    _answers_for_another(loop, run)


@trait("misspelt-tool")
def test_misspelt_tool(loop: Loop) -> None:
    """A tool is called whose name has one letter more than that of a tool that was offered."""
    run = loop.plays(calls(Call.of("weathers", {"city": "Paris"})), says("Done."))

    run.delivered(1)
    _answers_for_another(loop, run)


def _answers_for_another(loop: Loop, run: Run) -> None:
    if run.ran:
        loop.answers("another-tool-runs", run.ran[0].tool)
    else:
        loop.answers(*turn_answer(run))


def _raising(loop: Loop) -> Run:
    loop.scenario.raises("weather", MESSAGE, CLASS)
    run = loop.once("raising", lambda: loop.plays(calls(WEATHER), says("Done.")))
    run.tool_began("weather")
    return run


@trait("raising-tool")
def test_raising_tool(loop: Loop) -> None:
    """A tool raises an error."""
    loop.answers(*turn_answer(_raising(loop)))


@trait("error-text")
def test_error_text(loop: Loop) -> None:
    """A tool raises an error with a message and a class."""
    run = _raising(loop)

    if len(run.requests) == 1:
        loop.answers("not-told")
        return
    added = [item.text for item in run.added(1) if isinstance(item, Said) and item.role != "assistant"]
    text = "\n".join([*(answer.text for answer in run.new_answers(1)), *added])
    held = {"message-and-class": (True, True), "message-alone": (True, False), "class-alone": (False, True)}
    found = MESSAGE in text, CLASS in text
    loop.answers(
        next((name for name, wanted in held.items() if wanted == found), "neither" if text else "not-told"), text
    )


@trait("error-without-a-message")
def test_error_without_a_message(loop: Loop) -> None:
    """A tool raises an error that has no message."""
    loop.scenario.raises("weather", "", CLASS)
    run = loop.plays(calls(WEATHER), says("Done."))

    run.tool_began("weather")
    loop.answers(*turn_answer(run))


@trait("siblings-of-a-failed-call")
def test_siblings(loop: Loop) -> None:
    """The second of three tools raises."""
    loop.scenario.raises("weather", MESSAGE, CLASS)
    run = loop.plays(calls(Call.of("add", {"a": 1, "b": 2}), WEATHER, NOTE), says("Done."))

    run.delivered(1)
    siblings = [one for one in run.ran if one.tool in {"add", "note"}]
    if len(run.requests) == 1:
        ended = error_text(run.outcome) if isinstance(run.outcome, Failed) else str(run.outcome)
        loop.answers(["not-run", "partly-run", "run-and-lost"][min(len(siblings), 2)], ended)
        return
    texts = [answer.text for answer in run.new_answers(1)]
    lost = [one.tool for one in siblings if not any(f"of {one.tool}" in text for text in texts)]
    name = ["not-run", "partly-run", "run-and-lost" if lost else "answered"][min(len(siblings), 2)]
    loop.answers(name, ", ".join(one.tool for one in siblings))


@trait("error-beside-a-running-call")
def test_error_beside_a_running_call(loop: Loop) -> None:
    """Of two tools the first runs until the second has raised and the run has ended, if it ends without the first."""
    loop.scenario.does("ping", Returns("pong", hold=gates.run_ended("weather")))
    loop.scenario.raises("weather", MESSAGE, CLASS)
    run = loop.plays(calls(Call.of("ping"), WEATHER), says("Done."))

    run.delivered(1)
    if len(run.requests) == 1:
        loop.answers(*turn_answer(run))
        return
    texts = [answer.text for answer in run.new_answers(1) if "pong" not in answer.text]
    said = [item.text for item in run.added(1) if isinstance(item, Said) and item.role != "assistant"]
    if texts:
        loop.answers("told-to-the-model" if texts[0].strip() else "answered-with-nothing", texts[0])
    else:
        loop.answers("told-otherwise" if said else "asked-again", *said[:1])


@trait("calls-beside-an-answer")
def test_calls_beside_an_answer(loop: Loop) -> None:
    """The call of the answer tool stands between two other calls."""
    answer = loop.bench.started.answer
    if answer is None:
        raise NotApplicable("the loop takes its answer as a text, and not by a call of a tool of its own")
    before, behind = Call.of("note", {"text": "before"}), Call.of("note", {"text": "behind"})
    run = loop.plays(calls(before, answer.call("Done."), behind), says("Done at last."))

    run.delivered(1)
    ran = [str(one.arguments.get("text")) for one in run.ran]
    if len(run.requests) > 1:
        loop.answers("asked-again", ", ".join(ran))
    elif run.after_the_end:
        loop.answers("after-the-end", ", ".join(run.after_the_end))
    else:
        names = {(): "none-runs", ("before",): "those-before-it", ("behind",): "those-behind-it"}
        loop.answers(names.get(tuple(ran), "all-run"), ", ".join(ran))


def _two(loop: Loop) -> Run:
    """Two calls; the first tool takes long enough for the second to begin and end, if the loop lets it.

    The second tool, whose call may arrive first, waits for the first to begin, for at most the same time. No event
    shows that the loop has received a tool's result, so a fixed time is used, which ends sooner if the loop rests.
    """
    loop.scenario.does("weather", Returns("slow", hold=Gate("time for the other tool", patience=TIME, if_ever=True)))
    begun = gates.tool_began("weather")
    begun.patience, begun.if_ever = TIME, True
    loop.scenario.does("note", Returns("quick", hold=begun))
    run = loop.once("two-calls", lambda: loop.plays(calls(WEATHER, NOTE), says("Done.")))
    run.delivered(1)
    return run


@trait("calls-of-a-turn")
def test_calls_of_a_turn(loop: Loop) -> None:
    """Two tools are called, and the first one is slow."""
    run = _two(loop)

    if len(run.ran) < 2:
        loop.answers("one-alone" if run.ran else "none", ", ".join(one.tool for one in run.ran))
    else:
        first, second, *_ = run.ran
        together = first.ended is None or second.began < first.ended
        loop.answers("together" if together else "one-after-the-other")


@trait("order-of-results")
def test_order_of_results(loop: Loop) -> None:
    """Two tools are called, and the first one is slow."""
    run = _two(loop)

    run.request(2)
    texts = [text for text in (answer.text for answer in run.new_answers(1)) if "slow" in text or "quick" in text]
    if len(texts) < 2:
        loop.answers("one-alone" if texts else "none", ", ".join(texts))
    else:
        loop.answers("order-of-the-calls" if "slow" in texts[0] else "another-order", ", ".join(texts))


@trait("text-of-a-tool-turn")
def test_text_of_a_tool_turn(loop: Loop) -> None:
    """The stream of a turn with text and a call is held after the text."""
    caller = gates.caller_has("One")
    caller.patience = SOON
    turn = calls(WEATHER, text="One moment please.")
    run = loop.plays(Step(turn, DEFAULT.but(fragment=1), holds=(Hold(caller, after="One moment"),)), says("Done."))

    run.replied(1)
    received = "One moment" in "".join(chunk.text for chunk in run.chunks)
    loop.answers("never" if not received else "later" if run.gave_up else "while-it-arrives")


@trait("equal-call-again")
def test_equal_call_again(loop: Loop) -> None:
    """Two consecutive turns have the same call."""
    run = loop.plays(calls(WEATHER), calls(WEATHER), says("Done."))

    run.delivered(2)
    if not run.ran:
        raise NotReached(f"the first of them did not run; the loop {run.outcome}")
    if len(run.ran) > 1:
        loop.answers("run-again")
        return
    name, detail = turn_answer(run, 2)
    loop.answers("answered-without-running" if name == "told-to-the-model" else name, detail)


@trait("equal-calls-in-a-turn")
def test_equal_calls_in_a_turn(loop: Loop) -> None:
    """A turn has the same call twice, under two ids."""
    run = loop.plays(calls(WEATHER, WEATHER), says("Done."))

    run.delivered(1)
    if not run.ran:
        loop.answers(*turn_answer(run))
    else:
        loop.answers("both-run" if len(run.ran) > 1 else "one-runs")


def _at_the_limit(loop: Loop, *wanted: Call) -> None:
    """Answer what became of the first of these calls, in a turn that the token limit ended."""
    run = loop.plays(calls(*wanted, stop="length"), says("Done."))

    run.delivered(1)
    loop.answers("runs") if run.arguments_of(wanted[0].tool) else loop.answers(*turn_answer(run))


@trait("whole-call-of-a-cut-turn")
def test_whole_call_of_a_cut_turn(loop: Loop) -> None:
    """A complete call is followed by another call, which the token limit cut."""
    _at_the_limit(loop, NOTE, Call("weather", '{"ci'))


@trait("whole-call-at-the-token-limit")
def test_whole_call_at_the_token_limit(loop: Loop) -> None:
    """The only call is complete, and the token limit ended the turn."""
    _at_the_limit(loop, NOTE)
