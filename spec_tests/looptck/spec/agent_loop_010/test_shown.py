"""Profile ``agent-loop-010``: what of a result the later Requests show, and what they do not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import call, embedded, solution, texts
from looptck.provider import gates
from looptck.provider.gate import Gate
from looptck.provider.toolbox import Returns
from looptck.spec.agent_loop_010.probes import DONE, tools
from looptck.values.transcript import Event, Received
from looptck.values.verdicts import NotReached

OWN = ("_call", "_date", "_outputMethod")


def _leak(value: Any, marker: str) -> str | None:
    """The innermost JSON object with the marker that has one of these keys: the key, and the object as text."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = next((leak for one in inner if (leak := _leak(one, marker))), None)
    if found or not isinstance(value, dict) or marker not in str(value):
        return found
    leaked = [key for key in OWN if key in value]
    return f"{' and '.join(leaked)} in {json.dumps(value, ensure_ascii=False)}" if leaked else None


@requirement("loop010-own-keys-are-hidden")
@pytest.mark.parametrize("path", ["†state.x", "†state.deep.x", "†data.x", "†account.x"])
@pytest.mark.parametrize("method", [None, "set"], ids=["without-method", "set"])
def test_own_keys_are_hidden(scenario: Scenario, implementation: Implementation, path: str, method: str | None) -> None:
    """Both later Requests contain the value of a result, and none of the keys that name its origin."""
    scenario.returns("fetch", "marker7431")
    scenario.plays(solution(call("fetch", {"value": 1}, to=path, method=method)), solution(), DONE)

    run = implementation.run(tools=tools("fetch"))

    before = texts(run.request(1))
    for shown in (run.request(2), run.request(3)):
        if "marker7431" not in texts(shown):
            raise NotReached(f"request {shown.n} does not contain the result at all")
        leak = next((leak for value in embedded(shown) if (leak := _leak(value, "marker7431"))), None)
        assert leak is None, f"request {shown.n} shows a result with keys that are to be hidden: {leak}"
        for key in OWN[:2]:
            assert before.count(key) == texts(shown).count(key), (
                f"request {shown.n} has the hidden key {key} where request 1 has not: {_around(shown, key)}"
            )


def _around(request: Received, word: str) -> str:
    """The end of a request's texts, from a little before the last occurrence of a word."""
    text = texts(request)
    at = text.rfind(word)
    return text[max(at - 60, 0) : at + 60]


@requirement("loop010-no-path-stores-nothing")
def test_no_path_stores_nothing(scenario: Scenario, implementation: Implementation) -> None:
    """Of two results, the model reads the one with a path, and never the one without."""
    scenario.returns("note", "marker1964")
    scenario.returns("fetch", "marker2893")
    scenario.does("last", Returns("a result", hold=gates.tool_ended("note")))
    scenario.plays(
        solution(call("note"), call("fetch", to="†state.x")), solution(call("last", to="†state.y")), solution(), DONE
    )

    run = implementation.run(tools=tools("note", "fetch", "last"))

    run.tool_ended("note")
    for n in (2, 3, 4):
        if "marker2893" not in texts(run.request(n)):
            raise NotReached(f"control: request {n} does not contain the result that has a path")
        assert "marker1964" not in texts(run.request(n)), f"request {n} contains a result that was not to be stored"


@requirement("loop010-no-path-stores-nothing")
@on("openai-chat")
def test_whether_anybody_waits(scenario: Scenario, implementation: Implementation) -> None:
    """Whether the next Request waits for a call without a path is left open."""
    asked = Gate("request 2", _second, gates.ABSENCE)
    scenario.does("note", Returns("a result", hold=asked))
    scenario.does("last", Returns("a result", hold=gates.tool_began("note")))
    scenario.plays(solution(call("note")), solution(call("last", to="†state.y")), DONE)

    run = implementation.run(tools=tools("note", "last"))

    run.request(2)
    run.tool_began("note")
    implementation.diverges(
        "a call without an output path",
        "is awaited" if asked.name in run.gave_up else "runs on while the model is asked again",
    )


def _second(event: Event) -> bool:
    return isinstance(event, Received) and event.n == 2
