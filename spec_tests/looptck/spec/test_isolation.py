"""Isolation: two runs of one loop have nothing in common."""

from __future__ import annotations

from looptck.agents import agent
from looptck.checks import Implementation, requirement
from looptck.kit import Scene
from looptck.provider.gates import Gate
from looptck.provider.script import Step
from looptck.run import Run
from looptck.turns import Call, calls, says


def _texts(run: Run) -> str:
    return "\n".join(received.raw.decode(errors="replace") for received in run.requests)


@requirement("runs-do-not-leak")
def test_one_after_the_other(provider: Scene, implementation: Implementation) -> None:
    """The second run's requests know nothing of the first."""
    provider.plays(calls(Call.of("note", {"text": "first-secret"})), says("First."))
    implementation.run("first-question").request(2)
    provider.plays(calls(Call.of("note", {"text": "other"})), says("Second."))

    run = implementation.run("second-question")

    run.request(2)
    assert "first-" not in _texts(run)
    assert len(run.prompt) == len(run.request(1).request.items)


@requirement("tools-do-not-leak")
def test_tools_of_an_earlier_run(provider: Scene, implementation: Implementation) -> None:
    """A run that has one tool offers that tool alone, though an earlier run had four."""
    tools = agent("assistant").tools
    provider.plays(says("First."))
    implementation.run(tools=tools).request(1)
    provider.plays(says("Second."))

    run = implementation.run(tools=tools[:1])

    assert [tools[0].name] == [tool.name for tool in run.request(1).request.tools]


@requirement("concurrent-runs-do-not-leak")
def test_at_the_same_time(provider: Scene, implementation: Implementation) -> None:
    """Two runs are held until each has asked the model; neither sees anything of the other."""
    first_asked, second_asked = Gate("the first run has asked"), Gate("the second run has asked")
    turn = calls(Call.of("note", {"text": "of-the-first"}))
    provider.plays(Step(turn, before=second_asked), says("First."), signal=first_asked)
    provider.returns("note", "result-of-the-first")
    first = implementation.begin("question-of-the-first")
    turn = calls(Call.of("note", {"text": "of-the-second"}))
    provider.plays(Step(turn, before=first_asked), says("Second."), signal=second_asked)
    provider.returns("note", "result-of-the-second")
    second = implementation.begin("question-of-the-second")

    runs = implementation.end(first), implementation.end(second)

    for run, other in zip(runs, ("of-the-second", "of-the-first"), strict=True):
        run.request(2)
        assert [] == run.gave_up
        assert other not in _texts(run)
        assert 1 == len(run.ran)
