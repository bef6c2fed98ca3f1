"""Histories: any conversation, any arguments and any results are passed on correctly."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import strategies as st

from looptck.bench.assertions.caller import shows_failure
from looptck.bench.assertions.results import answered_once, answers, answers_follow, one_result
from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.assertions.turns import calls_echoed
from looptck.bench.checks import Implementation, on, refusable, requirement
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import Tool
from looptck.provider.script import Step
from looptck.provider.toolbox import Behaviour, Returns
from looptck.spec import strategies
from looptck.spec.asking_on import asks_for_the_rest
from looptck.spec.long_results import broken, is_told_as_shortened, long_text, loss, require_no_refusal, signs
from looptck.values.framing import DEFAULT, Quirk
from looptck.values.history import Answered
from looptck.values.history import holds as whole
from looptck.values.outcome import Value
from looptck.values.plain import MOST, plain
from looptck.values.structured import begins_as_error, left_out
from looptck.values.turns import Call, Turn, calls, refuses, says
from looptck.values.verdicts import NotApplicable

DECLINED = {"refusal", "content_filter", "other"}
"""The stop words for a declined answer; some loops use one word for this and for a content filter."""
RETURNS = st.text(strategies.CHARACTERS, max_size=30).map(Returns)


@requirement("conversations-are-carried-right")
def test_any_conversation(scenario: Scenario, implementation: Implementation) -> None:
    """After each turn its calls are echoed, each is answered under its id, in order, and the prompt stays first."""
    first = {"turns": strategies.EVENTFUL, "behaviours": [Returns("one"), Returns("two")]}

    conversations = strategies.conversations(strategies.FLAT)

    @implementation.every(conversations, st.lists(RETURNS, min_size=1, max_size=4), first=first)
    def holds(turns: list[Turn], behaviours: list[Behaviour]) -> None:
        scenario.plays(*turns, says("Done."))
        for shift, tool in enumerate(strategies.FLAT):
            scenario.does(tool.name, *behaviours[shift:], *behaviours[:shift])

        run = implementation.run(agent="clerk", tools=strategies.FLAT)

        run.request(1)
        for n in range(1, len(turns) + 1):
            calls_echoed(run, n)
            answers(run, n)
            answers_follow(run, n)
        assert "Done." == run.value.text


@requirement("arguments-arrive-whatever-their-shape")
def test_any_arguments(scenario: Scenario, implementation: Implementation) -> None:
    """The tool receives the JSON value that the model wrote."""

    @implementation.every(strategies.calls(strategies.CLERK))
    def holds(call: Call) -> None:
        scenario.plays(calls(call), says("Noted."))

        run = implementation.run(agent="clerk")

        tools_ran(run, [{call.tool: json.loads(call.arguments)}])


NULLABLE = [{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": ["string", "null"]}]


@requirement("arguments-arrive-whatever-their-shape")
@pytest.mark.parametrize("schema", NULLABLE, ids=["by-union", "by-types"])
def test_null_argument(scenario: Scenario, implementation: Implementation, schema: dict[str, Any]) -> None:
    """A parameter that is required and may be null is null, and the tool receives it."""
    parameters = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {**schema, "description": "Null: the usual one."}},
        "required": ["city", "unit"],
    }
    arguments = {"city": "Paris", "unit": None}
    scenario.plays(calls(Call.of("measure", arguments)), says("Warm."))

    run = implementation.run(tools=[Tool("measure", "Measures how warm it is.", parameters)])

    tools_ran(run, [{"measure": arguments}])


@requirement("arguments-arrive-whatever-their-shape")
def test_arguments_that_count_as_false(scenario: Scenario, implementation: Implementation) -> None:
    """A flag is off, a number is zero, a text and a list are empty: each arrives, and is not taken for missing."""
    parameters = {
        "type": "object",
        "properties": {
            "on": {"type": "boolean", "description": "Whether the lamp is on."},
            "level": {"type": "integer", "description": "How bright it is."},
            "label": {"type": "string", "description": "What is written on it."},
            "rooms": {"type": "array", "items": {"type": "string"}, "description": "Where it is."},
        },
        "required": ["on", "level", "label", "rooms"],
    }
    arguments: dict[str, Any] = {"on": False, "level": 0, "label": "", "rooms": []}
    scenario.plays(calls(Call.of("lamp", arguments)), says("It is off."))

    run = implementation.run(tools=[Tool("lamp", "Sets a lamp.", parameters)])

    tools_ran(run, [{"lamp": arguments}])


@requirement("text-result-arrives-unchanged")
@pytest.mark.parametrize("length", [20_000, 200_000])
def test_large_result(scenario: Scenario, implementation: Implementation, length: int) -> None:
    """A long text that a tool returns is not cut without a word."""
    text = long_text(length)
    scenario.plays(calls(Call.of("ping")), says("Read."))
    scenario.returns("ping", text)

    run = implementation.run()

    require_no_refusal(run)
    got = one_result(run, 1).text
    if not whole(got, text) and is_told_as_shortened(got):
        raise NotApplicable("the loop shortens a long result, and tells the model that it does")
    assert whole(got, text), loss(text, got)


@requirement("long-result-is-cut-between-characters")
def test_cut_between_characters(scenario: Scenario, implementation: Implementation) -> None:
    """Four long texts of one character, each a byte later than the one before, come whole or as whole characters."""
    scenario.plays(calls(*(Call.of("note", {"text": str(n)}) for n in range(4))), says("Read."))
    scenario.returns("note", *(signs(offset, 30_000) for offset in range(4)))

    run = implementation.run()

    require_no_refusal(run)
    for answer in run.answers(1):
        part = broken(answer.text)
        assert part is None, f"the result of {answer.id} was cut inside a character: {part!a}"


BY_STRING = "which JavaScript makes of a value that is taken as a text: JSON.stringify, in the loop or its driver"
STRUCTURED = [
    {"city": "Zürich", "degrees": 18.5, "tags": ["sunny", "dry"], "warning": None},
    [{"id": 1, "name": "one"}, {"id": 2, "name": "two"}],
    42,
    True,
    0,
    False,
    [f"street {n}" for n in range(40)],
    {f"street {n}": f"closed on day {n}" for n in range(40)},
    {"message": "stored", "text": "Rain.", "result": 12.5, "output": "rain.log", "error": None},
    {"city": {"north": {"park": {"gate": {"lock": {"keys": [{"number": 7}]}}}}}},
]


STRUCTURED_IDS = ["object", "list", "number", "truth", "zero", "falsehood", "forty-entries", "forty-members"]
STRUCTURED_IDS += ["members-with-common-names", "eight-levels"]


@requirement("structured-result-reaches-the-model")
@pytest.mark.parametrize("value", STRUCTURED, ids=STRUCTURED_IDS)
def test_structured_result(scenario: Scenario, implementation: Implementation, value: Any) -> None:
    """The text of the result contains every key and leaf of the tool's value, and it is no error about the value."""
    answer = _answer(scenario, implementation, value)

    lost = left_out(value, answer.text)
    by_string = f", {BY_STRING}" if "[object Object]" in answer.text else ""
    assert not lost, (
        f"the tool returned {plain(value, MOST)}, and the model reads {plain(answer.text, MOST)}{by_string}"
    )
    assert not answer.failed, f"the tool returned a value, and its result is marked as an error: {answer.text!r}"
    assert not begins_as_error(answer.text), f"the tool returned a value, and the model reads an error: {answer.text!r}"


def _answer(scenario: Scenario, implementation: Implementation, value: Any) -> Answered:
    scenario.plays(calls(Call.of("ping")), says("Read."))
    scenario.returns("ping", value)
    return one_result(implementation.run(), 1)


@requirement("failing-call-leaves-the-others-whole")
def test_others_are_whole(scenario: Scenario, implementation: Implementation) -> None:
    """One of three calls fails; if the loop continues, the other two have their own results."""
    scenario.plays(
        calls(Call.of("add", {"a": 1, "b": 2}), Call.of("weather", {"city": "Atlantis"}), Call.of("ping")),
        says("Two of three."),
    )
    scenario.raises("weather", "there is no such city")

    run = implementation.run()

    run.delivered(1)
    if run.failed and len(run.requests) == 1:
        raise NotApplicable("the loop ends when a call fails")
    answers(run, 1)
    ran = [tool for tool, _ in run.tools_ran]
    assert {"add", "ping"} <= set(ran), f"the other two calls should have run too; the tools that ran: {plain(ran)}"


@requirement("failing-call-leaves-the-others-whole")
@on("openai-chat", "openai-responses", "anthropic-messages/stream/*")
@pytest.mark.parametrize("broken", [0, 1], ids=["first", "last"])
def test_a_broken_twin(scenario: Scenario, implementation: Implementation, broken: int) -> None:
    """Of two calls of one tool one has arguments that are cut; if a call of another tool runs, so does the other."""
    turn = [Call.of("weather", {"city": "Oslo"}), Call.of("ping")]
    turn.insert(broken, Call("weather", '{"city": '))
    scenario.plays(calls(*turn), says("Two of three."))

    run = implementation.run()

    run.delivered(1)
    if run.ended and len(run.requests) == 1:
        raise NotApplicable("the loop ends when the arguments of a call are broken")
    if len(run.normalized(2).asked) < len(turn):
        raise NotApplicable("the loop leaves out the turn, or a call of it, and asks again")
    answers(run, 1)
    if not run.tools_ran:
        raise NotApplicable("the loop runs no call of a turn in which the arguments of one are broken")
    assert any(arguments == {"city": "Oslo"} for _, arguments in run.tools_ran), (
        "the turn calls weather twice, once with cut arguments; the loop ran ping, and not the whole call of weather"
    )


@requirement("twin-ids-lose-nothing")
@refusable("No service gives two calls of a turn the same id, so how it treats the echo is unspecified.")
def test_twin_ids(scenario: Scenario, implementation: Implementation) -> None:
    """Two calls of one turn have the same id; unless the caller gets an error, both run and are answered.

    An error of the service about a request that carries the calls is none of the loop: that request is counted too.
    """
    cities = [{"weather": {"city": "Paris"}}, {"weather": {"city": "Oslo"}}]
    twins = (Call(tool, json.dumps(arguments), "call_twin") for one in cities for tool, arguments in one.items())
    scenario.plays(calls(*twins), says("Done."))

    run = implementation.run()

    run.delivered(1)
    if not run.failed:
        tools_ran(run, cities)
    if not run.failed or any(received.request.asked for received in run.requests[1:2]):
        answered_once(run, 1)


@requirement("refusal-is-told")
def test_refusal(scenario: Scenario, implementation: Implementation) -> None:
    """A refusal reaches the caller as text, stop reason or error."""
    scenario.plays(refuses("I cannot help with that."))

    run = implementation.run()

    run.delivered(1)
    if isinstance(run.outcome, Value):
        is_told = run.outcome.stop in DECLINED or "I cannot help with that." in (run.outcome.text or "")
        assert is_told, f"the model refused, and the loop {run.outcome}"


@requirement("text-before-calls-is-not-the-answer")
def test_cut_text_before_calls(scenario: Scenario, implementation: Implementation) -> None:
    """A loop that goes on after a text was cut gets calls, and then an answer: the cut text is no part of it."""
    scenario.plays(says("The capital of", stop="length"), calls(Call.of("ping")), says("It is there."))

    run = implementation.run()

    run.replied(1)
    if len(run.requests) < 2:
        raise NotApplicable("the loop does not go on after a text that was cut")
    run.delivered(3)
    assert "The capital of" not in (run.value.text or ""), f"calls came after the cut text, and the loop {run.outcome}"


@requirement("continued-answer-is-whole")
def test_continued_answer(scenario: Scenario, implementation: Implementation) -> None:
    """A loop that sends a cut answer back for its rest returns both parts, or says that one is missing.

    One that asks for another answer in its place, such as a shorter one, gets no such answer from this script.
    """
    scenario.plays(says("The capital of", stop="length"), says(" France is Paris."))

    run = implementation.run()

    run.replied(1)
    sent = run.requests[1].request.items if len(run.requests) > 1 else ()
    if not asks_for_the_rest(sent):
        raise NotApplicable("the loop does not ask for the rest of an answer that was cut")
    if implementation.started.answer is not None:
        raise NotApplicable("the loop asks for the answer as a call of a tool of its own, and so for all of it")
    run.delivered(2)
    whole = "The capital of" in run.value.text if isinstance(run.outcome, Value) and run.value.text else False
    assert whole or shows_failure(run), f"of an answer that it asked for in two parts the loop {run.outcome}"


@requirement("no-calls-in-any-spelling")
@pytest.mark.parametrize("spelling", [None, "calls-null", "calls-empty"])
def test_no_calls(scenario: Scenario, implementation: Implementation, spelling: Quirk | None) -> None:
    """A reply without calls is an answer, in whatever form it has no calls."""
    scenario.plays(Step(says("Hello."), DEFAULT.but(quirk=spelling)))

    run = implementation.run()

    run.delivered(1)
    said = {
        None: "no member for calls",
        "calls-null": "null in place of calls",
        "calls-empty": "an empty list of calls",
    }
    assert 1 == len(run.requests), f"the answer has {said[spelling]}, and the loop asked again"
    assert not run.failed, f"for a reply without calls the loop {run.outcome}"
    assert "Hello." == run.value.text
