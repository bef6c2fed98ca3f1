"""Guests: one request from question to answer, on a server of forty lines."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from looptck.bench.bench import Bench, Patience
from looptck.bench.benches import loop_bench, server_bench
from looptck.bench.checks import Check, Implementation
from looptck.bench.choosing import bench_for
from looptck.bench.scenario import Scenario
from looptck.bench.server import PING, WEATHER, ServerUnderTest
from looptck.catalogue.requirements import catalogue
from looptck.provider.gate import Gate
from looptck.provider.toolbox import Returns
from looptck.values.cell import Cell
from looptck.values.outcome import Value
from looptck.values.transcript import ToolBegan, UnroutedRequest
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

PARIS = Call.of("weather", {"city": "Paris"})
TINY = "server:python:meta.server.tiny:Bench"


@pytest.fixture(name="bench", scope="module")
def _kit() -> Iterator[Bench]:
    with bench_for(TINY, Patience(20.0, 5.0)) as bench:
        yield bench


@pytest.fixture(name="guest")
def _guest(bench: Bench) -> ServerUnderTest:
    check = Check(catalogue()["server-answer-ends-the-loop"], Cell("openai-chat", stream=False, mode="sync"), "x")
    return ServerUnderTest(Implementation(bench, check, Scenario()))


def test_one_run_from_three_sides(guest: ServerUnderTest) -> None:
    """The kit asks, is asked what the model says, runs the tool, and gets the answer."""
    guest.implementation.scenario.plays(calls(PARIS), says("Sunny."))
    guest.implementation.scenario.returns("weather", "sunny")

    run = guest.ask()

    assert (Value("Sunny."), "Sunny.", 2) == (run.outcome, run.got.text, len(run.requests))
    assert [("weather", {"city": "Paris"})] == run.tools_ran
    assert ["sunny"] == [answer.text for answer in run.answers(1)]
    assert [PING.name, WEATHER.name] == [tool.name for tool in run.request(1).request.tools]


def test_questions_differ(guest: ServerUnderTest) -> None:
    """A request that says no question has one that no other has."""
    guest.implementation.scenario.plays(says("Done."))

    first, second = guest.ask(), guest.ask()

    assert first.prompt != second.prompt


def test_runs_at_once_are_kept_apart(guest: ServerUnderTest) -> None:
    """Two requests that are open together have scenes, scripts and tools of their own."""
    held = Gate("until the second is answered", opens_on=None)
    first, second = Scenario(), Scenario()
    first.plays(calls(Call.of("ping")), says("First."))
    first.does("ping", Returns("pong", hold=held))
    second.plays(calls(PARIS), says("Second."))

    begun = guest.begin(scenario=first, tools=(PING,))
    other = guest.ask(scenario=second, tools=(WEATHER,))
    held.open()
    one = guest.end(begun)

    assert ("First.", "Second.") == (one.got.text, other.got.text)
    assert ([("ping", {})], [("weather", {"city": "Paris"})]) == (one.tools_ran, other.tools_ran)


def test_set_ups_and_routes(guest: ServerUnderTest) -> None:
    """Another set-up is another server, and its other routes can be asked."""
    guest.implementation.scenario.plays(says("Bare."))

    run = guest.ask(setup="bare", tools=())

    assert "Bare." == run.got.text
    assert [] == run.offered
    with guest.http("bare") as bare, guest.http() as usual:
        assert 200 == bare.get("/v1/models").status_code
        assert bare.base_url != usual.base_url
    assert (True, False) == (guest.can("bare"), guest.can("sessions"))
    assert guest.process() is not None


def test_what_was_dispatched_is_in_the_transcript(guest: ServerUnderTest) -> None:
    """The body that the server posted can be looked at."""
    guest.implementation.scenario.plays(calls(PARIS), says("Done."))

    run = guest.ask()

    posted = [
        event.dispatched.body for event in run.transcript.events if isinstance(event, ToolBegan) and event.dispatched
    ]
    assert [{"name": "weather", "arguments": {"city": "Paris"}}] == posted


def test_a_loop_is_no_server(bench: Bench) -> None:
    """An implementation that takes cases can be asked nothing, and a server is handed no cases."""
    no_server = pytest.raises(NotApplicable, match="is not a server: it takes cases, not requests")
    with bench_for("python:looptck_reference.kit.driver:Driver") as loop, no_server:
        server_bench(loop)
    with pytest.raises(NotApplicable, match="is a server: it takes requests, not cases"):
        loop_bench(bench)


def test_a_turn_that_was_never_said_is_not_reached(guest: ServerUnderTest) -> None:
    """Where questions are seen the turn decides."""
    guest.implementation.scenario.plays(says("Done."))

    run = guest.ask()

    guest.reached(run, 1)
    with pytest.raises(NotReached, match="request 2 never came"):
        guest.reached(run, 2)


def test_who_comes_elsewhere_is_written_down(guest: ServerUnderTest) -> None:
    """A post to the other URL is a stray of the run that is open."""
    gate = Gate("somebody was elsewhere")
    guest.implementation.scenario.plays(calls(PARIS), says("Done."))
    guest.implementation.scenario.does("weather", Returns("sunny", hold=gate))
    running = guest.begin()
    httpx.post(guest.elsewhere, json={"name": "weather", "arguments": {}}, trust_env=False)
    gate.open()

    run = guest.end(running)

    assert ["/elsewhere"] == [event.path for event in run.transcript.events if isinstance(event, UnroutedRequest)]
    assert [("weather", {"city": "Paris"})] == run.tools_ran
