"""Signs: the first wrong event of a run, without anything that differs between two runs with one fault."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from looptck.bench.run import Run
from looptck.failures.failure import ending, evidence
from looptck.failures.pointed import ABOUT
from looptck.failures.signs import FOREIGN, LOOKED_AT, Sign, first_difference, wrong_events
from looptck.provider.server import KEPT
from looptck.values.cell import Cell
from looptck.values.history import Answered, Asked, Item, Opaque, Request, Said
from looptck.values.outcome import Failed, Nothing, Outcome, Value
from looptck.values.problem import Problem
from looptck.values.transcript import Ended, Event, Received, Replied, ToolBegan, ToolEnded, Transcript, UnroutedRequest
from looptck.values.turns import Call, Thinking, Turn, calls, says
from looptck.wires import WIRES

PROMPT = Said("user", "Go.", "/messages/0")
OWN = Said("system", "Be brief.", "/messages/0")
TIME = Said("user", "<reminder>It is noon.</reminder>", "/messages/1")
PARIS = Call("weather", '{"city": "Paris"}', "call_1a")
ASKED = Asked("call_1a", "weather", '{"city": "Paris"}', "/messages/1")
OSLO = Asked("call_1a", "weather", '{"city": "Oslo"}', "/messages/1")
STORED = replace(OSLO, pointer="the thread's /messages/1/content/0")
"""Arguments in the form in which the service has stored them: the loop has not sent them."""
RESULT = Answered("call_1a", "Warm.", "/messages/2")
OVER = Answered("call_1a", f"RunIsOver: {KEPT}", "/messages/2")
DONE = Value("Done.", "end")
ASKS = calls(PARIS)


def request(n: int, at: float, *items: Item, problem: str = "") -> Received:
    """A request with this history."""
    problems = (Problem(problem, "/messages", "no"),) if problem else ()
    told = Request("model", False, items, ())
    return Received(at, n, "/v1/chat/completions", {}, b"", {}, told, problems, scripted=True)


def ran(at: float, run: int = 1, arguments: Any = None) -> list[Event]:
    """A tool run and its end."""
    answer = {"value": "Warm."}
    return [ToolBegan(at, run, "weather", arguments or {"city": "Paris"}), ToolEnded(at, run, answer, "weather")]


RAISED = Failed("other", "KeyError", "choices")
KEY_ERROR: Sign = ("error", "KeyError", "choices")


def run(
    turns: Sequence[Turn],
    outcome: Outcome,
    *events: Event | list[Event],
    what: str = "a turn",
    stream: bytes = b"data: 1\n\n",
) -> Run:
    """A run of these turns and events; every turn is delivered."""
    flat = [one for event in events for one in (event if isinstance(event, list) else [event])]
    flat += [Replied(event.at, event.n, 200, what, (stream,)) for event in flat if isinstance(event, Received)]
    flat.sort(key=lambda event: event.at)
    transcript = Transcript(events=[*flat, Ended(9.0, outcome)])
    cell = Cell("openai-chat", stream=False, mode="sync")
    numbered = {n: turn.numbered(n) for n, turn in enumerate(turns, 1)}
    return Run("r1", cell, (("user", "Go."),), numbered, transcript, outcome, offered=["weather"])


def sign(made: Run) -> Sign | None:
    """The sign of the first wrong event of a run; None if no event is wrong."""
    return next((sign for _, sign in wrong_events(made)), None)


FIRST = request(1, 1, PROMPT)
TWO = [ASKS, says("Done.")]


def thought(wire: str, how: str = "") -> Run:
    """A run whose second request has left out or changed the thinking of the first turn, or neither."""
    asks = Turn((Thinking("Where is it?"), PARIS), "calls").numbered(1)
    kept = [replace(one, pointer="/messages/1") for one in WIRES[wire].echo(asks)]
    if how == "left out":
        kept = [one for one in kept if not isinstance(one, Opaque)]
    elif how == "changed":
        kept = [replace(one, value="signed") if isinstance(one, Opaque) else one for one in kept]
    made = run([asks, says("Done.")], DONE, FIRST, ran(2), request(2, 3, PROMPT, *kept, RESULT))
    return replace(made, cell=Cell(wire, stream=False, mode="sync"))


WRONG: list[tuple[Run, Sign | None]] = [
    (run(TWO, DONE, FIRST, ran(2), request(2, 3, PROMPT, ASKED, RESULT)), None),
    (run(TWO, DONE, request(1, 1, OWN, PROMPT), ran(2), request(2, 3, OWN, PROMPT, ASKED, RESULT)), None),
    (run(TWO, DONE, FIRST, ran(2), request(2, 3, PROMPT, STORED, RESULT)), None),
    (run(TWO, DONE, FIRST, ran(2), request(2, 3, PROMPT, ASKED)), ("history", "result", "left out")),
    (run(TWO, DONE, FIRST, ran(2), request(2, 3, PROMPT, RESULT)), ("history", "call", "left out")),
    (
        run(TWO, DONE, FIRST, ran(2), request(2, 3, PROMPT, ASKED, RESULT, problem="a-rule")),
        ("refused", "a-rule"),
    ),
    (
        run(TWO, DONE, FIRST, ran(2), request(2, 3, PROMPT, ASKED, problem="a-rule")),
        ("history", "result", "left out"),
    ),
    (
        run(TWO, DONE, FIRST, ran(2), request(2, 3, PROMPT, ASKED, Answered("call_1a", "Cold."))),
        ("history", "result", "text changed"),
    ),
    (
        run(
            TWO, DONE, FIRST, request(2, 3, PROMPT, ASKED, Answered("call_1a", f"RunIsOver: {KEPT}"), problem="a-rule")
        ),
        FOREIGN,
    ),
    (
        run(TWO, DONE, FIRST, ran(2), request(2, 3, PROMPT, ASKED, Answered("call_9z", "Warm."))),
        ("history", "result", "id changed"),
    ),
    (
        run(TWO, DONE, FIRST, ran(2), request(2, 3, Said("user", "Stop."), ASKED, RESULT)),
        ("history", "the prompt", "changed"),
    ),
    (
        run(TWO, DONE, FIRST, ran(2), ran(2.5, 2), request(2, 3, PROMPT, ASKED, RESULT)),
        ("tool", "runs again"),
    ),
    (
        run(TWO, DONE, FIRST, ran(2, arguments={"city": "Oslo"}), request(2, 3, PROMPT, ASKED)),
        ("tool", "runs as no turn asked"),
    ),
    (
        run(TWO, DONE, FIRST, ran(2, arguments={"city": "Oslo"}), request(2, 3, PROMPT, OSLO, RESULT)),
        ("history", "call", "arguments changed"),
    ),
    (run([says("Done.")], DONE, ran(0.5), request(1, 1, PROMPT, problem="a-rule")), ("refused", "a-rule")),
    (
        run([calls(PARIS, stop="length")], DONE, FIRST, ran(2)),
        ("tool", "runs in a turn that is not whole", "length", "a turn"),
    ),
    (
        run([calls(PARIS, stop="context_window")], DONE, FIRST, ran(2)),
        ("tool", "runs in a turn that is not whole", "length", "a turn"),
    ),
    (run([ASKS], Value("", "end"), FIRST), ("given-up", "calls")),
    (replace(run([ASKS], Value("", "end"), FIRST), limit=2), ("given-up", "calls")),
    (replace(run([ASKS], Value("", "end"), FIRST), limit=1), ("given-up", "calls at the limit")),
    (replace(run([ASKS], Value("", "end"), FIRST), limit=0), ("given-up", "calls at the limit 0")),
    (run([calls(Call("weather", "{"))], DONE, FIRST), ("given-up", "bad arguments")),
    (run([calls(Call("invented"))], DONE, FIRST), ("given-up", "an unknown tool")),
    (run([says("Done.", stop="length")], DONE, FIRST), ("silence", "a turn that stops with length")),
    (run([says("Done.")], DONE, FIRST, what="an error"), ("silence", "an error")),
    (run([says("Done.")], Value("Other.", "end"), FIRST), ("answer", "another text")),
    (run([says("Done.")], Value("", "end"), FIRST), ("answer", "nothing")),
    (
        run([says("Done.")], Failed("other", "KeyError", "no 'x_17' in run 4711, see https://a.b/c"), FIRST),
        ("error", "KeyError", "no … in run 0, see URL"),
    ),
    (run([calls(Call("ping", ""))], RAISED, FIRST), (*KEY_ERROR, "no arguments")),
    (run([calls(Call("weather", "{"))], RAISED, FIRST), (*KEY_ERROR, "bad arguments")),
    (run([ASKS], RAISED, FIRST), KEY_ERROR),
    (run([says("Done.", stop="length")], RAISED, FIRST), (*KEY_ERROR, "a turn that stops with length")),
    (run([says("Done.")], RAISED, FIRST, what="an error"), (*KEY_ERROR, "an error")),
    (
        run([ASKS], RAISED, FIRST, stream=b"\xef\xbb\xbfdata: 1\r\n\r\n"),
        (*KEY_ERROR, "a byte order mark at the start, CRLF line ends"),
    ),
    (
        run([ASKS, ASKS], Value("", "end"), FIRST, ran(2), request(2, 3, PROMPT, ASKED, RESULT)),
        ("given-up", "calls behind others that ran"),
    ),
    (run([says("Done.")], Nothing(20), FIRST), ("hang",)),
    (
        run([], DONE, UnroutedRequest(1.0, "POST", "/v1/v1/chat/completions")),
        ("stray", "POST", "/v0/v0/chat/completions"),
    ),
    (
        run(TWO, DONE, FIRST, ran(2), request(2, 3, PROMPT, ASKED, Answered("call_1a", ""))),
        ("history", "result", "empty"),
    ),
    (
        run(TWO, DONE, FIRST, ran(2), request(2, 3, PROMPT, ASKED, RESULT, RESULT)),
        ("history", "result", "added"),
    ),
    (
        run(TWO, DONE, FIRST, ran(2), request(2, 3, PROMPT, replace(ASKED, tool="ping"), RESULT)),
        ("history", "call", "tool changed"),
    ),
    (thought("anthropic-messages"), None),
    (thought("anthropic-messages", "left out"), ("history", "thinking", "left out")),
    (thought("anthropic-messages", "changed"), ("history", "thinking", "changed")),
    (thought("openai-responses"), None),
    (thought("openai-responses", "left out"), ("history", "reasoning", "left out")),
    (thought("openai-responses", "changed"), ("history", "reasoning", "changed")),
]
"""Runs, and the sign of the first event that is wrong in them."""


@pytest.mark.parametrize(("made", "expected"), WRONG)
def test_the_first_wrong_event(made: Run, expected: Sign | None) -> None:
    """What went wrong first, in words that two runs of one fault share."""
    assert expected == sign(made)


def test_each_sign_that_names_a_requirement_can_be_found() -> None:
    """A sign that no run leads to would name nothing, and no failure would show it."""
    assert set() == set(ABOUT) - {expected for _, expected in WRONG}


def test_what_breaks_nothing_is_no_sign_beside_what_does() -> None:
    """Text that a loop leaves out beside calls is the cause only where nothing else is wrong."""
    spoken = [calls(PARIS, text="I look."), says("Done.")]
    history = request(2, 3, PROMPT, ASKED, RESULT)

    assert ("history", "text beside calls", "left out") == sign(run(spoken, DONE, FIRST, ran(2), history))
    assert ("answer", "nothing") == sign(run(spoken, Value("", "end"), FIRST, ran(2), history))


@pytest.mark.parametrize("begins", [(OWN, PROMPT), (PROMPT, TIME), (TIME, PROMPT)], ids=["system", "behind", "before"])
def test_a_loop_may_begin_with_words_of_its_own(begins: tuple[Item, ...]) -> None:
    """An instruction or a reminder that the loop adds is no difference, and hides none that comes later."""
    first = request(1, 1, *begins)
    right = run(TWO, DONE, first, ran(2), request(2, 3, *begins, ASKED, RESULT))
    wrong = run(TWO, DONE, first, ran(2), request(2, 3, *begins, ASKED))

    assert first_difference(right) is None
    found = first_difference(wrong)
    assert found is not None
    assert (2, "result of call_1a: 'Warm.'") == (found[0].n, found[1].expected)


def test_words_of_its_own_are_not_the_prompt() -> None:
    """A prompt that has not arrived is the first wrong place, whatever the loop says beside it."""
    found = first_difference(run([says("Done.")], DONE, request(1, 1, TIME)))

    assert found is not None
    assert "user says 'Go.'" == found[1].expected


def test_ids_of_its_own_are_nothing_wrong() -> None:
    """A loop may give calls and results other ids, the same ones in all requests."""
    own = Asked("own", PARIS.tool, PARIS.arguments, "/messages/1"), Answered("own", "Warm.", "/messages/2")
    made = run([ASKS, says("Done.")], DONE, request(1, 1.0, PROMPT), ran(2.0), request(2, 3.0, PROMPT, *own))

    assert (None, None) == (sign(made), first_difference(made))


def test_evidence_says_nothing_twice() -> None:
    """A refusal that is the reason of the verdict is not said again; of several of one rule the first is told."""
    refused = [request(n, n, PROMPT, problem="a-rule") for n in (1, 2)]
    told = [line for line in evidence(run([says("Done.")], DONE, *refused)) if "refused" in line]

    assert ["  request 1 is refused at /messages: no (a-rule)"] == told
    assert [] == [
        line
        for line in evidence(run([says("Done.")], DONE, *refused), "request 1 is refused at /messages: no (a-rule)")
        if "refused" in line
    ]


def test_evidence_tells_what_was_raised() -> None:
    """Unless the reason of the verdict does."""
    made = run([says("Done.")], RAISED, FIRST)

    assert "  the loop raised KeyError: 'choices' (reason: other)" == evidence(made, "no tool ran")[-1]
    assert "  tools that ran: none" == evidence(made, "the loop raised KeyError: 'choices' (reason: other)")[-1]


def test_the_ending_of_a_run() -> None:
    """A refusal is behind the error that follows it; neither is repeated if the reason says it."""
    refused = request(1, 0.3, PROMPT, problem="a-rule")
    of_the_error, of_the_refusal = "the loop raised KeyError: 'choices' (reason: other)", "at /messages: no"

    assert of_the_error == ending(run([], RAISED, FIRST), "no tool ran")
    assert "" == ending(run([], RAISED, FIRST), of_the_error)
    assert "request 1 is refused at /messages: no (a-rule)" == ending(run([], RAISED, refused), "no tool ran")
    assert "" == ending(run([], RAISED, refused), of_the_refusal)
    assert "" == ending(run([], DONE)) == ending(None)


def test_the_ending_tells_how_a_stream_was_sent() -> None:
    """Where no tool ran; a stream as most services send theirs needs no words."""
    marked, usual, cut = (
        replace(run([ASKS], DONE, FIRST, stream=stream), cell=Cell("openai-chat", stream=True, mode="sync"))
        for stream in (b"\xef\xbb\xbfdata: 1\n\n", b"data: 1\n\n", b"data: 1")
    )

    assert "reply 1 was sent with a byte order mark at the start" == ending(marked)
    assert "" == ending(usual)
    assert "reply 1 was sent with no empty line at the end" == ending(cut)


def test_the_ending_tells_of_arguments_that_are_encoded_twice() -> None:
    """Two long texts that differ in their backslashes do not show it."""
    text = json.dumps(ASKED.arguments)
    twice = run(TWO, DONE, FIRST, request(2, 3, PROMPT, replace(ASKED, arguments=text), RESULT))

    assert "request 2 sends back arguments that are encoded twice: a JSON text in which their JSON is" == ending(twice)


def test_the_ending_tells_how_a_call_was_misread() -> None:
    """Where no tool ran, what went back shows what the loop has made of the arguments."""
    misread = run(TWO, DONE, FIRST, request(2, 3, PROMPT, OSLO, RESULT))

    back, came = (str(one).removeprefix("call ") for one in (OSLO, ASKED))
    assert f"request 2 sends back {back}, where the turn had {came}" == ending(misread, "no tool ran")
    assert "" == ending(misread, f"the turn had the calls {came}; the next request has {back}")


def test_the_ending_tells_what_the_model_was_told_of_a_call_that_did_not_run() -> None:
    """Or that the loop has ended at the call; neither is told of a tool that ran, or where runs are not asked for."""
    none = "expected tool runs: weather({}); actual tool runs: none"
    wrong = Answered("call_1a", "Error: no city.", "/messages/2")
    second = request(2, 3, PROMPT, ASKED, wrong)

    assert "the model is told of weather: 'Error: no city.'" == ending(run([ASKS], DONE, FIRST, second), none)
    assert "the loop returned 'Done.', with the stop reason end" == ending(run([ASKS], DONE, FIRST), none)
    assert "" == ending(run([ASKS], DONE, FIRST, ran(2), second), none)
    assert "" == ending(run([ASKS], DONE, FIRST, second), "the text is lost")


def test_what_is_found_is_kept_until_another_event() -> None:
    """A run is looked through once, and again if there has been another event since."""
    made = run([says("Done.")], DONE, FIRST)
    asked: list[int] = []

    def found(one: Run) -> int:
        asked.append(len(one.transcript.events))
        return asked[-1]

    before = [made.once("events", found), made.once("events", found)]
    made.transcript.append(UnroutedRequest(9.5, "GET", "/elsewhere", ""))

    assert before[0] == before[1] == made.once("events", found) - 1
    assert [before[0], before[0] + 1] == asked


@pytest.mark.parametrize("beyond", [False, True])
def test_histories_are_looked_at_for_so_many_requests(*, beyond: bool) -> None:
    """A loop without a limit loses the last of its results; in a request that comes later it is not looked at."""
    last = LOOKED_AT + beyond
    events: list[Event | list[Event]] = [FIRST]
    carried: list[Item] = [PROMPT]
    asks = calls(replace(PARIS, id=None))
    for n in range(1, last):
        id = asks.numbered(n).calls[0].id or ""
        result = [] if n + 1 == last else [replace(RESULT, id=id)]
        carried += [replace(ASKED, id=id), *result]
        events += [ran(n + 0.3, n), request(n + 1, n + 1, *carried)]

    made = run([asks] * last, Nothing(20.0), *events)
    made.transcript.events[-1] = Ended(last + 1, made.outcome)

    signs = [sign for _, sign in wrong_events(made)]
    assert beyond == (("history", "result", "left out") not in signs)
