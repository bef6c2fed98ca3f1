"""Server-side loops: tools that a request, or the server, denies, and questions that a plain reply cannot ask."""

from __future__ import annotations

from looptck.bench.checks import Liveness, control, requirement
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.spec.server_loop.approving import WEATHER, denied
from looptck.spec.server_loop.builtin_tools import Coder
from looptck.spec.server_loop.replies import results_of_all
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

MOST = 8
"""The number of model requests that an endless script answers."""


@requirement("server-denied-tools-do-not-run")
def test_denied_by_the_request(scenario: Scenario, server: ServerUnderTest) -> None:
    """With deny, the tool is offered but does not run, and the model gets a result; with auto it runs."""
    scenario.plays(calls(WEATHER), says("Done."))
    control(server.ask(permission="auto"), "weather")

    run = server.ask(permission="deny")

    denied(server, run)
    offers = [tool.name for tool in run.request(2).request.tools]
    server.implementation.diverges("denied_tools", "offered" if "weather" in offers else "hidden")


@requirement("server-denied-tools-do-not-run")
def test_denied_rounds(scenario: Scenario, server: ServerUnderTest) -> None:
    """Denied calls use up a cap: a model that never stops calling them is asked once a round, and once more at most."""
    if not server.can("rounds"):
        raise NotApplicable("the server does not take max_tool_rounds")
    scenario.always(lambda n: calls(Call.of("weather", {"city": f"city {n}"})), most=MOST)

    run = server.ask(permission="deny", rounds=2)

    run.request(2)
    assert [] == run.tools_ran, "the tool ran although it was denied"
    asked = len(run.received)
    assert asked <= 3, f"the request allows two rounds, and the model, whose calls were denied, was asked {asked} times"


@requirement("server-request-cannot-loosen-the-permission")
def test_denied_by_the_server(scenario: Scenario, server: ServerUnderTest) -> None:
    """A server that denies does so for a request with auto; a server that does not runs the tool."""
    scenario.plays(calls(WEATHER), says("Done."))
    control(server.ask(permission="auto"), "weather")

    run = server.ask(permission="auto", setup="denying")

    denied(server, run)


@requirement("server-ask-needs-a-stream")
def test_asking_without_a_stream(scenario: Scenario, server: ServerUnderTest) -> None:
    """A plain request with ask is refused before the model is asked; with auto it is answered."""
    scenario.plays(calls(WEATHER), says("Done."))
    if not (taken := server.ask(permission="auto")).got.ok:
        raise NotReached(f"control: a plain request with auto got {taken.got}")

    try:
        run = server.ask(permission="ask")
    except Liveness:
        raise AssertionError(
            "a plain request with ask is not refused, and waits for an answer that it cannot get"
        ) from None

    assert 400 <= run.got.status < 500, f"the request got {run.got}"
    assert ([], []) == (run.received, run.tools_ran)


@requirement("server-denied-tools-do-not-run")
def test_denied_code(scenario: Scenario, server: ServerUnderTest) -> None:
    """With deny, no program runs; with auto it prints."""
    if not server.can("code"):
        raise NotApplicable("the server does not run Python")
    coder = Coder.of(server)
    scenario.plays(calls(coder.call("print('seineewt'[::-1])")), says("Done."))
    if "tweenies" not in "".join(results_of_all(coder.ask(permission="auto"))):
        raise NotReached("control: with auto, the output of a program is reported nowhere")

    run = coder.ask(permission="deny")

    run.request(1)
    assert "tweenies" not in "".join(results_of_all(run)), "the program ran although it was denied"
