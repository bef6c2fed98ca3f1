"""Traits of endings: the caller's result of a reply that is broken, empty, cut, declined or paused."""

from __future__ import annotations

from looptck.bench.oracle import agrees
from looptck.bench.run import Run
from looptck.catalogue.traits import trait
from looptck.provider.faults import Cut, ErrorEvent, Fault, HttpError, NoFinish
from looptck.provider.script import Step
from looptck.spec.traits.answers import ending_answer, require_played
from looptck.suite.asking import Loop, error_text
from looptck.values.outcome import Failed, Value
from looptck.values.plain import amount
from looptck.values.turns import Turn, refuses, says, turn

SOON = (("retry-after-ms", "5"), ("retry-after", "0"))
"""A header that keeps a retrying loop from waiting."""
TIMES = 3
WORDS = "had an error while processing your request"
"""A part of the message with which the mock service refuses a request on every wire."""
ANSWER = "The capital of France is Paris, as everybody knows."


def _failing(loop: Loop, status: int) -> None:
    """Answer how often the loop tries again."""
    run = loop.plays(*[HttpError(status, SOON)] * TIMES, says("At last."))

    require_played(run)
    made = len(run.requests)
    if run.failed:
        name = "given-up-at-once" if made == 1 else "given-up-later"
    else:
        name = "tried-until-it-works" if "At last." in (run.value.text or "") else "ended-without-an-error"
    loop.answers(name, amount(made, "request"))


@trait("error-429")
def test_429(loop: Loop) -> None:
    """The service answers three times that there were too many requests."""
    _failing(loop, 429)


@trait("error-500")
def test_500(loop: Loop) -> None:
    """The service answers three times that it has failed."""
    _failing(loop, 500)


@trait("error-529")
def test_529(loop: Loop) -> None:
    """The service answers three times that it is overloaded."""
    _failing(loop, 529)


@trait("words-of-the-service")
def test_words_of_the_service(loop: Loop) -> None:
    """The service answers with 400 and a message."""
    run = loop.plays(HttpError(400), says("Once more."))

    require_played(run)
    if not isinstance(run.outcome, Failed):
        loop.answers("no-error", str(run.outcome))
    else:
        loop.answers("told" if WORDS in run.outcome.message else "not-told", error_text(run.outcome))


def _broken(loop: Loop, fault: Fault) -> Run:
    return loop.plays(Step(says(ANSWER), fault=fault), says("Once more."))


@trait("cut-reply")
def test_cut_reply(loop: Loop) -> None:
    """The connection breaks off in the answer."""
    loop.answers(*ending_answer(_broken(loop, Cut(0.6))))


@trait("error-in-a-stream")
def test_error_in_a_stream(loop: Loop) -> None:
    """An error follows the complete text."""
    loop.answers(*ending_answer(_broken(loop, ErrorEvent())))


@trait("stream-without-finish")
def test_stream_without_finish(loop: Loop) -> None:
    """The stream ends after the complete text, without a finish reason."""
    loop.answers(*ending_answer(_broken(loop, NoFinish())))


def _ended(loop: Loop, last: Turn) -> Run:
    run = loop.plays(last, says("Once more."))
    run.delivered(1)
    return run


@trait("empty-answer")
def test_empty_answer(loop: Loop) -> None:
    """The model's turn has neither text nor calls."""
    run = _ended(loop, says(None))

    name, detail = ending_answer(run)
    if isinstance(run.outcome, Value) and name in {"as-if-whole", "nothing-as-if-whole"}:
        name = {None: "no-text", "": "empty-text"}.get(run.outcome.text, "other-text")
    loop.answers(name, detail)


@trait("answer-cut-by-length")
def test_cut_by_length(loop: Loop) -> None:
    """The answer ends in the middle, and the stop reason is the token limit."""
    loop.answers(*ending_answer(_ended(loop, says("The capital of Fr", stop="length"))))


@trait("answer-cut-by-the-filter")
def test_cut_by_the_filter(loop: Loop) -> None:
    """The answer ends in the middle, and the stop reason is the content filter."""
    loop.answers(*ending_answer(_ended(loop, says("The capital of Fr", stop="content_filter"))))


@trait("refusal")
def test_refusal(loop: Loop) -> None:
    """The model declines."""
    loop.answers(*ending_answer(_ended(loop, refuses("I cannot help with that."))))


@trait("unknown-stop")
def test_unknown_stop(loop: Loop) -> None:
    """The answer is complete, and its stop reason is a word of a later version."""
    loop.answers(*ending_answer(_ended(loop, says(ANSWER, stop="unknown"))))


@trait("paused-turn")
def test_paused_turn(loop: Loop) -> None:
    """The service pauses the turn, and sends the rest when the turn is returned to it."""
    run = loop.plays(turn("Part one.", stop="pause"), says("Part two."))

    run.delivered(1)
    if len(run.requests) == 1:
        loop.answers(*ending_answer(run))
        return
    wanted, added = run.echo(1), run.added(1)
    resumed = len(wanted) == len(added) and all(map(agrees, wanted, added))
    loop.answers("resumed" if resumed else "asked-otherwise", str(run.outcome))
