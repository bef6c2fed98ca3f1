"""Server-side loops: what a stream tells before and behind each run, and when."""

from __future__ import annotations

import json
from typing import Any

from looptck.checks import requirement
from looptck.guest import Guest, tool
from looptck.kit import Scene
from looptck.provider.gates import phase_told
from looptck.provider.toolbox import Returns
from looptck.run import Run
from looptck.transcript import Event, Told, ToolBegan, ToolEnded
from looptck.turns import Call, calls, says
from looptck.verdicts import NotReached

PARIS = Call.of("weather", {"city": "Paris"})


def _phase(event: Event) -> str:
    """The phase of a progress event; empty: it is none."""
    return str(event.value.get("phase") or "") if isinstance(event, Told) and isinstance(event.value, dict) else ""


@requirement("server-calling-comes-before-the-run")
def test_held_endpoint(provider: Scene, guest: Guest) -> None:
    """The client reads calling, and not yet complete, while the endpoint keeps its answer back."""
    gate = phase_told("calling")
    provider.plays(calls(PARIS), says("Done."))
    provider.does("weather", Returns("sunny", hold=gate))

    run = guest.ask()

    _began(run)
    before = [_phase(event) for event in run.transcript.events[: _answered(run)] if _phase(event)]
    if "complete" in before:
        raise NotReached("control: complete was told while the endpoint still kept its answer back")
    assert [] == run.gave_up, "the endpoint kept its answer back, and the client was not told that the tool is called"


def _began(run: Run) -> None:
    """Make sure that a tool ran."""
    if not any(isinstance(event, ToolBegan) for event in run.transcript.events):
        raise NotReached(f"no tool ran; the request {run.outcome}")


def _answered(run: Run, n: int = 1) -> int:
    """The place in the transcript at which the ``n``-th run had its answer. Raises NotReached if it never had."""
    places = [at for at, event in enumerate(run.transcript.events) if isinstance(event, ToolEnded)]
    if len(places) < n:
        raise NotReached(f"{len(places)} tool runs were answered; the request {run.outcome}")
    return places[n - 1]


FORECAST = tool("forecast", city="string", where="object")


@requirement("server-calling-carries-the-arguments")
def test_arguments_of_calling(provider: Scene, guest: Guest) -> None:
    """The arguments of the event are the model's, as a JSON value or as its text."""
    wanted = {"city": "Łódź", "where": {"near": ["東京", None], "days": [1, 2.5], "sure": True}}
    provider.plays(calls(Call.of("forecast", wanted)), says("Done."))

    run = guest.ask(tools=[FORECAST])

    _began(run)
    got = [one.data.get("arguments") for one in run.got.progress if one.phase == "calling"]
    if not got:
        raise NotReached(f"no event with the phase calling came; the client got {run.got}")
    assert [wanted] == [_value(one) for one in got]


def _value(arguments: Any) -> Any:
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments


@requirement("server-complete-follows-each-run")
def test_two_completions(provider: Scene, guest: Guest) -> None:
    """Of two runs each is told to be complete, once, when it has its answer."""
    oslo = Call.of("weather", {"city": "Oslo"})
    provider.plays(calls(PARIS), calls(oslo), says("Done."))

    run = guest.ask()

    answered = [_answered(run, 1), _answered(run, 2)]
    complete = [at for at, event in enumerate(run.transcript.events) if _phase(event) == "complete"]
    assert 2 == len(complete), f"two tools ran, and {len(complete)} were told to be complete"
    for n in (0, 1):
        assert answered[n] < complete[n], f"run {n + 1} was told to be complete before it had its answer"


@requirement("server-complete-carries-the-result")
def test_content_of_complete(provider: Scene, guest: Guest) -> None:
    """The content of the event is what the endpoint answered, character for character."""
    result = 'Łódź, 東京: "sunny" \\ 🌞\n\tand dry. '
    provider.plays(calls(PARIS), says("Done."))
    provider.returns("weather", result)

    run = guest.ask()

    _answered(run)
    got = [one.data.get("content") for one in run.got.progress if one.phase == "complete"]
    if not got:
        raise NotReached(f"no event with the phase complete came; the client got {run.got}")
    assert [result] == got
