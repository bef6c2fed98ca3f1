"""Arguments that cannot be read are another problem than a tool that there is not, and a model mends them otherwise."""

from __future__ import annotations

from looptck.bench.assertions.failure_texts import tells_of_no_such_tool
from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable

CITY = '{"city": "Paris"'
MISSING = "teleport"


@requirement("bad-arguments-are-told-as-such")
@on("openai-chat", "openai-responses", "anthropic-messages/stream/*")
def test_words_for_an_unknown_tool(scenario: Scenario, implementation: Implementation) -> None:
    """A model forgets the closing brace; of a tool that there is not it is told in other words."""
    scenario.plays(calls(Call.of(MISSING, {"city": "Paris"})), says("There is no such tool."))
    unknown = _told(implementation.run())
    scenario.plays(calls(Call("weather", CITY)), says("I could not tell."))
    run = implementation.run()

    told = _told(run)
    if told is None:
        raise NotApplicable("the loop ends where arguments cannot be read")

    assert told != unknown or not tells_of_no_such_tool(told), (
        f"the tool weather is offered, its arguments {CITY!r} cannot be read, and the model is told "
        f"{run.answers(1)[0].text!r}, as of a tool that there is not"
    )


def _told(run: Run) -> str | None:
    """What the model is told of the call of its first turn, without names of tools; None if it is told nothing."""
    run.delivered(1)
    answers = run.answers(1) if len(run.requests) > 1 else []
    if not answers:
        return None
    text = answers[0].text
    for name in sorted({MISSING, *run.offered}, key=len, reverse=True):
        text = text.replace(name, "…")
    return text
