"""Guests: one request from question to answer, on a server of forty lines."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from looptck.catalogue import catalogue
from looptck.cells import Cell
from looptck.checks import Check, Implementation
from looptck.guest import PING, WEATHER, Guest
from looptck.kit import Kit, Patience, Scene
from looptck.outcome import Value
from looptck.provider.gates import Gate
from looptck.provider.toolbox import Returns
from looptck.transcript import Stray, ToolBegan
from looptck.turns import Call, calls, says
from looptck.verdicts import NotApplicable, NotReached

PARIS = Call.of("weather", {"city": "Paris"})
TINY = "server:python:meta.server.tiny:Bench"


@pytest.fixture(name="kit", scope="module")
def _kit() -> Iterator[Kit]:
    with Kit(TINY, Patience(20.0, 5.0)) as kit:
        yield kit


@pytest.fixture(name="guest")
def _guest(kit: Kit) -> Guest:
    check = Check(catalogue()["server-answer-ends-the-loop"], Cell("openai-chat", stream=False, mode="sync"), "x")
    return Guest(Implementation(kit, check, Scene()))


def test_one_run_from_three_sides(guest: Guest) -> None:
    """The kit asks, is asked what the model says, runs the tool, and gets the answer."""
    guest.implementation.scene.plays(calls(PARIS), says("Sunny."))
    guest.implementation.scene.returns("weather", "sunny")

    run = guest.ask()

    assert (Value("Sunny."), "Sunny.", 2) == (run.outcome, run.got.text, len(run.requests))
    assert [("weather", {"city": "Paris"})] == run.tools_ran
    assert ["sunny"] == [answer.text for answer in run.answers(1)]
    assert [PING.name, WEATHER.name] == [tool.name for tool in run.request(1).request.tools]


def test_questions_differ(guest: Guest) -> None:
    """A request that says no question has one that no other has."""
    guest.implementation.scene.plays(says("Done."))

    first, second = guest.ask(), guest.ask()

    assert first.prompt != second.prompt


def test_runs_at_once_are_kept_apart(guest: Guest) -> None:
    """Two requests that are open together have scenes, scripts and tools of their own."""
    held = Gate("until the second is answered", opens_on=None)
    first, second = Scene(), Scene()
    first.plays(calls(Call.of("ping")), says("First."))
    first.does("ping", Returns("pong", hold=held))
    second.plays(calls(PARIS), says("Second."))

    begun = guest.begin(scene=first, tools=(PING,))
    other = guest.ask(scene=second, tools=(WEATHER,))
    held.open()
    one = guest.end(begun)

    assert ("First.", "Second.") == (one.got.text, other.got.text)
    assert ([("ping", {})], [("weather", {"city": "Paris"})]) == (one.tools_ran, other.tools_ran)


def test_set_ups_and_routes(guest: Guest) -> None:
    """Another set-up is another server, and its other routes can be asked."""
    guest.implementation.scene.plays(says("Bare."))

    run = guest.ask(setup="bare", tools=())

    assert "Bare." == run.got.text
    assert [] == run.offered
    with guest.http("bare") as bare, guest.http() as usual:
        assert 200 == bare.get("/v1/models").status_code
        assert bare.base_url != usual.base_url
    assert (True, False) == (guest.can("bare"), guest.can("sessions"))
    assert guest.process() is not None


def test_what_was_dispatched_is_in_the_transcript(guest: Guest) -> None:
    """The body that the server posted can be looked at."""
    guest.implementation.scene.plays(calls(PARIS), says("Done."))

    run = guest.ask()

    posted = [
        event.dispatched.body for event in run.transcript.events if isinstance(event, ToolBegan) and event.dispatched
    ]
    assert [{"name": "weather", "arguments": {"city": "Paris"}}] == posted


def test_a_loop_is_no_server() -> None:
    """An implementation that takes cases can be asked nothing."""
    with Kit("python:looptck_reference.driver:Driver") as kit, pytest.raises(NotApplicable, match="is no server"):
        _ = kit.servers


def test_a_turn_that_was_never_said_is_not_reached(guest: Guest) -> None:
    """Where questions are seen the turn decides."""
    guest.implementation.scene.plays(says("Done."))

    run = guest.ask()

    guest.reached(run, 1)
    with pytest.raises(NotReached, match="request 2 never came"):
        guest.reached(run, 2)


def test_who_comes_elsewhere_is_written_down(guest: Guest) -> None:
    """A post to the other URL is a stray of the run that is open."""
    gate = Gate("somebody was elsewhere")
    guest.implementation.scene.plays(calls(PARIS), says("Done."))
    guest.implementation.scene.does("weather", Returns("sunny", hold=gate))
    running = guest.begin()
    httpx.post(guest.elsewhere, json={"name": "weather", "arguments": {}}, trust_env=False)
    gate.open()

    run = guest.end(running)

    assert ["/elsewhere"] == [event.path for event in run.transcript.events if isinstance(event, Stray)]
    assert [("weather", {"city": "Paris"})] == run.tools_ran
