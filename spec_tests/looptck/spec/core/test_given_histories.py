"""Given histories: a run begins with earlier turns, with calls and results, which its caller hands over."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.checks import Implementation, requirement
from looptck.bench.scenario import Scenario
from looptck.spec.conversing import INSTRUCTIONS, Carried, accepted, answer, call, carried, question, result
from looptck.values.history import holds
from looptck.values.turns import Call, calls, says

Message = dict[str, Any]


def _asks(text: str) -> Message:
    return {"role": "user", "content": text}


def _answers(text: str) -> Message:
    return {"role": "assistant", "content": text}


def _calls(text: str, **arguments: dict[str, Any]) -> Message:
    """A turn with a call of each tool; its id is made of the tool's name."""
    made = [{"id": f"call_{tool}_7", "name": tool, "arguments": given} for tool, given in arguments.items()]
    return {"role": "assistant", "content": text, "calls": made}


def _returns(tool: str, text: str) -> Message:
    return {"role": "tool", "call_id": f"call_{tool}_7", "content": text}


PARIS = {"city": "Paris"}
HISTORIES = {
    "words": [_asks("What is the weather?"), _answers("In which city?")],
    "questions-in-a-row": [_asks("What is the weather?"), _asks("In Paris, that is.")],
    "a-call": [
        _asks("What is the weather?"),
        _calls("", weather=PARIS),
        _returns("weather", "18 degrees"),
        _answers("It is fine."),
    ],
    "an-empty-result": [
        _asks("What is the weather?"),
        _calls("", weather=PARIS, note={"text": "fine"}),
        _returns("weather", "18 degrees"),
        _returns("note", ""),
        _answers("It is fine."),
    ],
    "equal-results": [
        _asks("What is the weather?"),
        _calls("", weather=PARIS, note={"text": "fine"}),
        _returns("weather", "done"),
        _returns("note", "done"),
        _answers("It is fine."),
    ],
    "calls-beside-text": [
        _asks("What is the weather?"),
        _calls("I look.", weather=PARIS, note={"text": "fine"}),
        _returns("weather", "18 degrees"),
        _returns("note", "kept"),
        _answers("It is fine."),
    ],
    "two-rounds": [
        _asks("What is the weather?"),
        _calls("", weather=PARIS),
        _returns("weather", "18 degrees"),
        _calls("", note={"text": "fine"}),
        _returns("note", "kept"),
        _answers("It is fine."),
        _asks("Thank you."),
        _answers("You are welcome."),
    ],
}


def _wanted(history: list[Message]) -> list[Carried]:
    wanted = [INSTRUCTIONS]
    for message in history:
        words, role = message["content"], message["role"]
        if words and words != "done":
            wanted.append({"user": question, "assistant": answer, "tool": result}[role](words))
        wanted += [call(one["name"], json.dumps(one["arguments"])) for one in message.get("calls", ())]
    return wanted


@requirement("given-history-is-kept")
@pytest.mark.parametrize("history", HISTORIES.values(), ids=list(HISTORIES))
def test_it_is_kept(scenario: Scenario, implementation: Implementation, history: list[Message]) -> None:
    """The first request carries all messages once, in their order, and then the question."""
    scenario.plays(says("It is noon."))

    run = implementation.run("What time is it?", history=history)

    request = run.request(1).request
    carried(request.items, [*_wanted(history), question("What time is it?")])
    results = [one["content"] for one in history if one["role"] == "tool"]
    carry = [one.text for one in request.answers]
    assert len(results) == len(carry), f"of {len(results)} given results the request carries {len(carry)}"
    for wanted, text in zip(results, carry, strict=True):
        assert holds(text, wanted), f"the result {wanted!r} has become {text!r}"
    accepted(run.request(1))


WITH_CALLS = [name for name, history in HISTORIES.items() if any("calls" in message for message in history)]


@requirement("given-calls-do-not-run")
@pytest.mark.parametrize("name", WITH_CALLS)
def test_given_calls_do_not_run(scenario: Scenario, implementation: Implementation, name: str) -> None:
    """A tool runs for the call that the model makes now, and none for the calls of the history, which have results."""
    scenario.plays(calls(Call.of("ping")), says("It is noon."))

    run = implementation.run("Is anybody there?", history=HISTORIES[name])

    run.delivered(2)
    tools_ran(run, [{"ping": {}}])
