"""Conversations: a run goes on with what earlier runs of its conversation have said, however they have ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from looptck.bench.assertions.caller import shows_failure
from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk, suspended
from looptck.provider.faults import Cut, ErrorEvent, HttpError
from looptck.provider.script import Step
from looptck.spec.conversing import (
    INSTRUCTIONS,
    Carried,
    accepted,
    answer,
    call,
    carried,
    guarded,
    question,
    result,
    returned,
)
from looptck.spec.obeying import obeying
from looptck.values.frozen import dataclass
from looptck.values.history import Said
from looptck.values.turns import Call, Served, Thinking, calls, refuses, says, turn
from looptck.values.verdicts import NotApplicable, NotReached

CALL = Call.of("weather", {"city": "Paris"})
NOTE = Call.of("note", {"text": "fine"})
FINE = "It is fine in Paris."
NOON = "It is noon."

SOURCED = {
    "type": "message",
    "id": "msg_looptck_sourced",
    "status": "completed",
    "role": "assistant",
    "content": [
        {
            "type": "output_text",
            "text": FINE,
            "annotations": [
                {"type": "file_citation", "file_id": "file-looptck", "filename": "weather.txt", "index": len(FINE)},
                {
                    "type": "url_citation",
                    "url": "https://looptck.example/found",
                    "title": "The weather in Paris",
                    "start_index": 0,
                    "end_index": len(FINE),
                },
            ],
            "logprobs": [],
        }
    ],
}
"""An answer that says from where it is: from a file, and from a page."""


@dataclass(frozen=True, slots=True)
class Ending:
    """A run that ends in some way."""

    plays: Callable[[Scenario], None]
    limit: int | None = None
    marks: tuple[pytest.MarkDecorator, ...] = ()


def _plays(*what: Any, raising: bool = False) -> Callable[[Scenario], None]:
    def play(scenario: Scenario) -> None:
        scenario.plays(*what)
        if raising:
            scenario.raises("weather", "the station is closed")

    return play


def _without_end(scenario: Scenario) -> None:
    rounds = count(1)
    scenario.plays()
    scenario.listens(obeying(lambda: calls(Call.of("weather", {"city": f"Paris {next(rounds)}"}))))


ENDINGS = {
    "an-answer": Ending(_plays(says(FINE))),
    "an-empty-answer": Ending(_plays(says(""), says(""), says(""))),
    "an-answer-with-sources": Ending(_plays(turn(Served(json.dumps(SOURCED)))), marks=(on("openai-responses"),)),
    "tools": Ending(_plays(calls(CALL, NOTE), calls(NOTE), says(FINE))),
    "text-beside-a-call": Ending(_plays(calls(CALL, text="I look."), says(FINE))),
    "thinking": Ending(
        _plays(turn(Thinking("Which city?"), CALL), turn(Thinking("Fine."), FINE)),
        marks=(on("openai-responses", "anthropic-messages"),),
    ),
    "a-tool-that-raises": Ending(_plays(calls(CALL, NOTE), says("It is not known."), raising=True)),
    "an-unknown-tool": Ending(_plays(calls(Call.of("nothing", {})), says("It is not known."))),
    "the-limit": Ending(_without_end, limit=2),
    "a-refusal": Ending(_plays(refuses("I would rather not.")), marks=(on("openai-chat", "openai-responses"),)),
    "a-refused-request": Ending(_plays(HttpError(400))),
    "a-refused-request-behind-tools": Ending(_plays(calls(CALL), HttpError(400))),
    "a-truncated-call": Ending(_plays(calls(CALL, Call("note", '{"text": "fi'), stop="length"))),
    "a-truncated-call-behind-thinking": Ending(
        _plays(turn(Thinking("Which city?"), CALL, Call("note", '{"text": "fi'), stop="length")),
        marks=(on("openai-responses"),),
    ),
    "a-truncated-answer": Ending(_plays(says("It is fi", stop="length"))),
    "a-broken-stream": Ending(_plays(*[Step(calls(CALL, NOTE), fault=Cut(0.6))] * 9), marks=(on("*/stream/*"),)),
    "an-error-in-the-stream": Ending(
        _plays(calls(CALL), *[Step(says(FINE), fault=ErrorEvent())] * 9), marks=(on("*/stream/*"),)
    ),
}


@requirement("next-turn-is-accepted")
@pytest.mark.parametrize(
    "ending", [pytest.param(one, id=f"after-{name}", marks=one.marks) for name, one in ENDINGS.items()]
)
def test_the_next_question(scenario: Scenario, implementation: Implementation, ending: Ending) -> None:
    """A run ends in this way, and the next question is accepted and answered."""
    if ending.limit is not None:
        implementation.needs("limit")
    talk = Talk(implementation)
    ending.plays(scenario)
    talk.run("What is the weather?", limit=ending.limit).request(1)
    scenario.plays(says(NOON))

    run = talk.run("What time is it?", limit=ending.limit)

    accepted(run.request(1))
    returned(run, NOON)


@requirement("next-turn-is-accepted")
def test_a_question_in_place_of_a_decision(scenario: Scenario, implementation: Implementation) -> None:
    """A run is suspended, and the user asks something else; a loop may insist on the decision before it asks."""
    implementation.needs("suspend")
    tools = guarded("note")
    talk = Talk(implementation)
    scenario.plays(calls(CALL, NOTE))
    suspended(talk.run("Keep a note.", tools=tools))
    scenario.plays(says(NOON))

    run = talk.run("What time is it?", tools=tools)

    if run.ended and not run.received:
        raise NotApplicable(f"a suspended conversation takes no question: the loop {run.outcome}")
    accepted(run.request(1))
    returned(run, NOON)


def _ends(run: Run, text: str) -> None:
    """NotReached unless the run has ended with this answer."""
    if text not in (run.value.text or ""):
        raise NotReached(f"the run before should have ended with {text!r}, but the loop {run.outcome}")


@requirement("conversation-is-carried-once")
@pytest.mark.parametrize("first", ["words", "tools"])
def test_it_is_carried_once(scenario: Scenario, implementation: Implementation, first: str) -> None:
    """Three questions: each request carries all that was said before it, once and in order."""
    talk = Talk(implementation)
    wanted: list[Carried] = [INSTRUCTIONS]
    asked = {"the weather in Paris?": FINE, "the time in Paris?": NOON, "the way to Paris?": "It goes south."}
    for number, (words, said) in enumerate(asked.items()):
        used = first == "tools" and number < 2
        own = Call.of("weather", {"city": f"Paris {number}"})
        scenario.plays(*([calls(own)] if used else []), says(said))
        scenario.returns("weather", f"18 degrees, {number}")

        run = talk.run(f"What is {words}")

        wanted.append(question(words))
        carried(run.request(1).request.items, wanted)
        _ends(run, said)
        if used:
            wanted += [call(own.tool, own.arguments), result(f"18 degrees, {number}")]
            carried(run.request(2).request.items, wanted)
        wanted.append(answer(said))


@requirement("conversation-is-carried-once")
def test_text_beside_a_call_is_carried_once(scenario: Scenario, implementation: Implementation) -> None:
    """A turn has a text beside its call; the next question carries the text once, or not at all."""
    talk = Talk(implementation)
    scenario.plays(calls(CALL, text="I look."), says(FINE))
    _ends(talk.run("What is the weather?"), FINE)
    scenario.plays(says(NOON))

    run = talk.run("What time is it?")

    said = "".join(item.text for item in run.request(1).request.items if isinstance(item, Said))
    times = said.count("I look.")
    assert times <= 1, f"said once beside a call, and the next question carries it {times} times"


@requirement("conversation-is-carried-once")
def test_it_is_carried_beside_another(scenario: Scenario, implementation: Implementation) -> None:
    """Another conversation has its run between two questions of this one, which carries what was said before it."""
    talk, other = Talk(implementation), Talk(implementation)
    scenario.plays(says(FINE))
    _ends(talk.run("What is the weather?"), FINE)
    scenario.plays(says("It goes south."))
    _ends(other.run("Where does the road go?"), "It goes south.")
    scenario.plays(says(NOON))

    run = talk.run("What time is it?")

    wanted = [question("What is the weather?"), answer(FINE), question("What time is it?")]
    carried(run.request(1).request.items, wanted)


@requirement("conversation-is-carried-once")
def test_it_survives_a_failed_run(scenario: Scenario, implementation: Implementation) -> None:
    """A run is answered, the next one is refused; the third question carries the first with its answer."""
    talk = Talk(implementation)
    scenario.plays(says(FINE))
    _ends(talk.run("What is the weather?"), FINE)
    scenario.plays(calls(CALL), HttpError(400))
    talk.run("And elsewhere?").request(2)
    scenario.plays(says(NOON))

    run = talk.run("What time is it?")

    wanted = [question("What is the weather?"), answer(FINE), question("What time is it?")]
    carried(run.request(1).request.items, wanted)


@requirement("conversation-is-carried-once")
def test_a_request_that_is_tried_again(scenario: Scenario, implementation: Implementation) -> None:
    """The second question is answered at the second attempt; the third request carries it with its answer."""
    talk = Talk(implementation)
    scenario.plays(says(FINE))
    _ends(talk.run("What is the weather?"), FINE)
    scenario.plays(HttpError(500), says(NOON))
    again = talk.run("What time is it?")
    if shows_failure(again) and len(again.requests) == 1:
        raise NotApplicable(f"the loop does not try again: it {again.outcome}")
    _ends(again, NOON)
    scenario.plays(says("It goes south."))

    run = talk.run("Where does the road go?")

    wanted = [question("What is the weather?"), answer(FINE), question("What time is it?")]
    carried(again.request(2).request.items, wanted)
    wanted.append(answer(NOON))
    carried(run.request(1).request.items, [*wanted, question("Where does the road go?")])


@requirement("conversation-is-carried-once")
def test_words_that_are_said_again(scenario: Scenario, implementation: Implementation) -> None:
    """The user says the same three times, and gets the same answer: each time counts."""
    talk = Talk(implementation)
    for _ in range(2):
        scenario.plays(says("Shall I?"))
        _ends(talk.run("Go on."), "Shall I?")
    scenario.plays(says(FINE))

    run = talk.run("Go on.")

    said = "".join(item.text for item in run.request(1).request.items if isinstance(item, Said))
    times = said.count("Go on."), said.count("Shall I?")
    assert (3, 2) == times, f"said three times and asked back twice, of which the request carries {times}"


@requirement("last-answer-is-in-the-history")
@pytest.mark.parametrize("used", [False, True], ids=["after-words", "after-tools"])
def test_the_answer_is_carried(scenario: Scenario, implementation: Implementation, used: bool) -> None:
    """The answer of a run stands in the next request, before the next question."""
    talk = Talk(implementation)
    scenario.plays(*([calls(CALL)] if used else []), says(FINE))
    _ends(talk.run("What is the weather?"), FINE)
    scenario.plays(says(NOON))

    run = talk.run("What time is it?")

    carried(run.request(1).request.items, [answer(FINE), question("What time is it?")])


@requirement("last-answer-is-in-the-history")
@on("openai-responses/*/*")
def test_an_answer_in_items_is_carried(scenario: Scenario, implementation: Implementation) -> None:
    """The answer of a run comes in two messages of one response; both stand before the next question."""
    talk = Talk(implementation)
    scenario.plays(turn(FINE, NOON))
    _ends(talk.run("How is it?"), NOON)
    scenario.plays(says("It goes south."))

    run = talk.run("Where does the road go?")

    wanted = [answer(FINE), answer(NOON), question("Where does the road go?")]
    carried(run.request(1).request.items, wanted)


@requirement("conversations-stay-apart")
def test_they_stay_apart(scenario: Scenario, implementation: Implementation) -> None:
    """Two conversations take turns; each request carries its own and nothing of the other."""
    talks = {"violet": Talk(implementation), "indigo": Talk(implementation)}
    for words in ("What is", "And what was", "And what will be"):
        for color, talk in talks.items():
            scenario.plays(calls(Call.of("note", {"text": f"{words} {color}"})), says(f"It is {color}."))
            scenario.returns("note", f"kept {color}")

            run = talk.run(f"{words} the color {color}?")

            other = "indigo" if color == "violet" else "violet"
            run.request(2)
            for received in run.requests:
                assert color.encode() in received.raw
                assert other.encode() not in received.raw, f"request {received.n} carries words of another conversation"
