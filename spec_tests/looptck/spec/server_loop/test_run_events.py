"""Server-side loops: the events of a stream before and after each tool run, and their time."""

from __future__ import annotations

from looptck.bench.checks import requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest, tool
from looptck.provider.gates import phase_sent
from looptck.provider.toolbox import Returns
from looptck.spec.server_loop.replies import as_json
from looptck.values.transcript import Event, ServerEvent, ToolBegan, ToolEnded
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

PARIS = Call.of("weather", {"city": "Paris"})


def _phase(event: Event) -> str:
    """The phase of a progress event; empty for other events."""
    return (
        str(event.value.get("phase") or "") if isinstance(event, ServerEvent) and isinstance(event.value, dict) else ""
    )


@requirement("server-calling-comes-before-the-run")
def test_held_endpoint(scenario: Scenario, server: ServerUnderTest) -> None:
    """The client gets calling, and not yet complete, while the endpoint holds back its answer."""
    gate = phase_sent("calling")
    scenario.plays(calls(PARIS), says("Done."))
    scenario.does("weather", Returns("sunny", hold=gate))

    run = server.ask()

    _began(run)
    before = [_phase(event) for event in run.transcript.events[: _answered(run)] if _phase(event)]
    if "complete" in before:
        raise NotReached("control: complete was sent while the endpoint still held back its answer")
    assert [] == run.gave_up, "the tool did not return before the client had its calling event, and waited in vain"


def _began(run: Run) -> None:
    """Make sure that a tool ran."""
    if not any(isinstance(event, ToolBegan) for event in run.transcript.events):
        raise NotReached(f"no tool ran; the request {run.outcome}")


def _answered(run: Run, n: int = 1) -> int:
    """The index in the transcript at which the ``n``-th tool run got its answer. Raises NotReached if it got none."""
    places = [at for at, event in enumerate(run.transcript.events) if isinstance(event, ToolEnded)]
    if len(places) < n:
        raise NotReached(f"{len(places)} tool runs were answered; the request {run.outcome}")
    return places[n - 1]


FORECAST = tool("forecast", city="string", where="object")


@requirement("server-calling-carries-the-arguments")
def test_arguments_of_calling(scenario: Scenario, server: ServerUnderTest) -> None:
    """The arguments of the event are the model's, as a JSON value or as its text."""
    wanted = {"city": "Łódź", "where": {"near": ["東京", None], "days": [1, 2.5], "sure": True}}
    scenario.plays(calls(Call.of("forecast", wanted)), says("Done."))

    run = server.ask(tools=[FORECAST])

    _began(run)
    got = [one.data.get("arguments") for one in run.got.progress if one.phase == "calling"]
    if not got:
        raise NotReached(f"no event with the phase calling came; the client got {run.got}")
    assert [wanted] == [as_json(one) for one in got]


@requirement("server-complete-follows-each-run")
def test_two_completions(scenario: Scenario, server: ServerUnderTest) -> None:
    """Each of two tool runs has one complete event, after it has got its answer."""
    oslo = Call.of("weather", {"city": "Oslo"})
    scenario.plays(calls(PARIS), calls(oslo), says("Done."))

    run = server.ask()

    answered = [_answered(run, 1), _answered(run, 2)]
    complete = [at for at, event in enumerate(run.transcript.events) if _phase(event) == "complete"]
    assert 2 == len(complete), f"two tools ran, and {len(complete)} complete events were sent"
    for n in (0, 1):
        assert answered[n] < complete[n], f"the complete event of run {n + 1} came before the tool's answer"


@requirement("server-complete-carries-the-result")
def test_content_of_complete(scenario: Scenario, server: ServerUnderTest) -> None:
    """The content of the event is the endpoint's answer, character for character."""
    result = 'Łódź, 東京: "sunny" \\ 🌞\n\tand dry. '
    scenario.plays(calls(PARIS), says("Done."))
    scenario.returns("weather", result)

    run = server.ask()

    _answered(run)
    got = [one.data.get("content") for one in run.got.progress if one.phase == "complete"]
    if not got:
        raise NotReached(f"no event with the phase complete came; the client got {run.got}")
    assert [result] == got
