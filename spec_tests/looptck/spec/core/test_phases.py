"""Phases: the labels by which a model tells its comments from its answers go back with their messages."""

from __future__ import annotations

from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.values.history import leaves
from looptck.values.plain import plain
from looptck.values.turns import Call, Text, says, turn
from looptck.values.verdicts import NotApplicable

COMMENT = "I ask the weather service now."
ANSWER = "It is warm in Paris, and it stays dry."


@requirement("phases-are-echoed")
def test_a_comment_beside_a_call(scenario: Scenario, implementation: Implementation) -> None:
    """A turn has a call and a comment, which is in the next request."""
    scenario.plays(turn(Text(COMMENT, "commentary"), Call.of("weather", {"city": "Paris"})), says(ANSWER))

    _goes_back(implementation.run(), 2, COMMENT, "commentary")


@requirement("phases-are-echoed")
def test_the_next_question(scenario: Scenario, implementation: Implementation) -> None:
    """An answer is in the request of the next question."""
    implementation.needs("conversations")
    talk = Talk(implementation)
    scenario.plays(turn(Text(ANSWER, "final_answer")))
    talk.run("What is the weather in Paris?").delivered(1)
    scenario.plays(says("It is noon."))

    _goes_back(talk.run("What time is it?"), 1, ANSWER, "final_answer")


def _goes_back(run: Run, n: int, text: str, phase: str) -> None:
    """Decided by request ``n``, if it carries the message with this text."""
    items = run.request(n).body["input"]
    said = [one for one in items if isinstance(one, dict) and one.get("role") == "assistant"]
    messages = [one for one in said if any(text in leaf for leaf in leaves(one.get("content")))]
    if not messages:
        raise NotApplicable("the request does not carry the message, which the service may keep")
    found = messages[0].get("phase")
    told = "no phase" if found is None else f"the phase {plain(found)}"
    assert phase == found, f"the message {plain(text)} came with the phase {phase}, and goes back with {told}"
