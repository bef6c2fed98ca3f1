"""Server-side loops: a call that does not run is always reported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from looptck.bench.checks import control, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.provider.faults import HttpError
from looptck.values.history import Answered, Asked
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

PARIS = Call.of("weather", {"city": "Paris"})
DONE = "Done."


@requirement("server-unrun-calls-are-told")
def test_unrun_call(scenario: Scenario, server: ServerUnderTest) -> None:
    """The second of two calls has its own result in the next model request, or is in the client's reply or the log."""
    scenario.plays(calls(PARIS, Call.of("ping")), says(DONE))

    run = server.ask()

    if len(run.ran) > 1:
        raise NotApplicable("all calls of a turn are run")
    control(run, "weather")
    run.request(2)
    unrun = run.delivered(1).calls[1]
    to_model = _answered(run, "ping")
    to_client = {unrun.id, "ping"} & set(_words(run))
    word = {(True, False): "model", (False, True): "client", (True, True): "both", (False, False): "log"}
    if not (to_model or to_client):
        asked = [item for item in run.request(2).request.items if isinstance(item, Asked) and item.tool == "ping"]
        assert [] == asked, "the next model request has the call of ping, which did not run, and no result for it"
        if not (run.log or (run.log is not None and server.can("log"))):
            raise NotApplicable(
                "neither model nor client is told of the call of ping, and looptck sees no log: if it "
                "goes to stdout or stderr, declare `log`"
            )
        assert re.search(WARNED, run.log, re.IGNORECASE), (
            "the call of ping is in neither the next model request nor the client's reply, and the log does not warn"
        )
    server.implementation.diverges("unrun_calls", word[to_model, bool(to_client)])


WARNED = r"ping|tool.?call|warn|first|only|multiple|several|ignor|skip|drop|discard"
"""What a warning of calls that do not run says, in any case."""


def _answered(run: Run, tool: str) -> bool:
    """Whether the second model request contains a call of a tool, and a result for it."""
    items = run.request(2).request.items
    ids = {item.id for item in items if isinstance(item, Asked) and item.tool == tool}
    return any(isinstance(item, Answered) and item.id in ids for item in items)


def _words(run: Run) -> Iterator[Any]:
    """Every leaf of the client's reply, except for tools that are listed as offered."""
    reported = [event.value for event in run.got.events] if run.got.stream else [run.got.body]
    while reported:
        one = reported.pop()
        if isinstance(one, dict):
            reported += [inner for name, inner in one.items() if name != "tools"]
        elif isinstance(one, list):
            reported += one
        else:
            yield one


@requirement("server-call-without-executor-is-told")
def test_nobody_runs_it(scenario: Scenario, server: ServerUnderTest) -> None:
    """The server has no executor for the call: the client gets the call, or the model gets an error."""
    scenario.plays(calls(PARIS), says(DONE))

    run = server.ask(setup="bare", rounds=4)

    _returned_or_reported(server, run, "weather", "call_without_executor")


@requirement("server-unknown-tool-is-told")
def test_unknown_tool(scenario: Scenario, server: ServerUnderTest) -> None:
    """A call of a tool that was never offered does not become an empty answer."""
    scenario.plays(calls(Call.of("nosuch", {"city": "Paris"})), says(DONE))

    run = server.ask()

    _returned_or_reported(server, run, "nosuch", "unknown_tool")


@requirement("server-malformed-arguments-are-told")
@pytest.mark.parametrize("written", ['{"city": "Par', "Paris, please"], ids=["cut", "text"])
def test_malformed_arguments(scenario: Scenario, server: ServerUnderTest, written: str) -> None:
    """A call with arguments that are not JSON is posted with their text, or does not run and leads to an error."""
    scenario.plays(calls(PARIS), says(DONE))
    control(server.ask(), "weather")
    scenario.plays(calls(Call("weather", written)), says(DONE))

    run = server.ask()

    server.reached(run, 1)
    if run.ran:
        assert [("weather", written)] == run.tools_ran, f"for the arguments {written!r}, {run.tools_ran} ran"
        server.implementation.diverges("malformed_call", "posted-as-text")
    else:
        _returned_or_reported(server, run, "argument|json|pars|valid", "malformed_call")


def _returned_or_reported(server: ServerUnderTest, run: Run, names: str, topic: str) -> None:
    """Assert that a call was returned to the client, or led to an error or to a result that names it."""
    if server.can("upstream"):
        run.delivered(1)
    if run.got.error is not None:
        reported = "error"
    elif run.got.turn.calls:
        reported = "returned-to-the-client"
    elif not server.can("upstream"):
        reported = "result-for-the-model" if run.got.text == DONE else ""
    else:
        results = [item.text for item in run.added(1) if isinstance(item, Answered)] if len(run.requests) > 1 else []
        reported = "result-for-the-model" if any(re.search(names, text, re.IGNORECASE) for text in results) else ""
    if reported:
        server.implementation.diverges(topic, reported)
    assert reported, f"the client got the answer {run.got.text!r}, and the model got no result that mentions the call"


@requirement("server-cut-turn-runs-nothing")
@pytest.mark.parametrize("written", [PARIS.arguments, '{"city": "Par'], ids=["whole", "cut"])
def test_cut_turn(scenario: Scenario, server: ServerUnderTest, written: str) -> None:
    """A complete or partial call in a turn that the token limit cut does not run, and client or model are informed."""
    scenario.plays(calls(PARIS), says(DONE))
    control(server.ask(), "weather")
    scenario.plays(calls(Call("weather", written), stop="length"), says(DONE))

    run = server.ask()

    run.delivered(1)
    assert [] == run.tools_ran, f"{run.tools_ran} ran, of a turn that was cut"
    to_client = run.got.error is not None or run.got.turn.calls or run.got.turn.stopped != "end"
    reported = to_client or (len(run.requests) > 1 and run.new_answers(1))
    assert reported, f"the client got the answer {run.got.text!r}, as if nothing had been cut"


@requirement("server-model-error-is-told")
@pytest.mark.parametrize("status", [500, 503, 429])
def test_model_error(scenario: Scenario, server: ServerUnderTest, status: int) -> None:
    """If the model answers the second request with an error, the reply is an error."""
    scenario.plays(calls(PARIS), HttpError(status))

    run = server.ask()

    run.replied(2)
    assert run.got.error is not None, f"the client got {run.got}, with the answer {_text(run)!r}"


@requirement("server-model-error-reruns-no-tool")
def test_model_error_once(scenario: Scenario, server: ServerUnderTest) -> None:
    """Whether the server retries the model or gives up, the tool that has run does not run again."""
    scenario.plays(calls(PARIS), HttpError(500), says(DONE))

    run = server.ask()

    run.replied(2)
    server.implementation.diverges("model error", "asked again" if len(run.requests) > 2 else "an error for the client")
    assert [("weather", {"city": "Paris"})] == run.tools_ran


def _text(run: Run) -> str | None:
    try:
        return run.got.text
    except NotReached:
        return None
