"""Server-side loops: a call that is not run is not lost without a word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from looptck.checks import control, requirement
from looptck.guest import Guest
from looptck.history import Answered, Asked
from looptck.kit import Scene
from looptck.provider.faults import HttpError
from looptck.run import Run
from looptck.turns import Call, calls, says
from looptck.verdicts import NotApplicable, NotReached

PARIS = Call.of("weather", {"city": "Paris"})
DONE = "Done."


@requirement("server-unrun-calls-are-told")
def test_unrun_call(provider: Scene, guest: Guest) -> None:
    """The second of two calls has a result of its own in the next question, or stands in what the client gets."""
    provider.plays(calls(PARIS, Call.of("ping")), says(DONE))

    run = guest.ask()

    if len(run.ran) > 1:
        raise NotApplicable("all calls of a turn are run")
    control(run, "weather")
    run.request(2)
    unrun = run.delivered(1).calls[1]
    to_model = _answered(run, "ping")
    to_client = {unrun.id, "ping"} & set(_words(run))
    word = {(True, False): "model", (False, True): "client", (True, True): "both"}
    guest.implementation.diverges("unrun_calls", word.get((to_model, bool(to_client)), "nobody"))
    assert to_model or to_client, "neither the next question nor anything that the client got has the call of ping"


def _answered(run: Run, tool: str) -> bool:
    """Whether the second question holds a call of a tool, and a result for it."""
    items = run.request(2).request.items
    ids = {item.id for item in items if isinstance(item, Asked) and item.tool == tool}
    return any(isinstance(item, Answered) and item.id in ids for item in items)


def _words(run: Run) -> Iterator[Any]:
    """Every leaf of what the client got, but for tools that are listed as offered."""
    told = [event.value for event in run.got.events] if run.got.stream else [run.got.body]
    while told:
        one = told.pop()
        if isinstance(one, dict):
            told += [inner for name, inner in one.items() if name != "tools"]
        elif isinstance(one, list):
            told += one
        else:
            yield one


@requirement("server-call-without-executor-is-told")
def test_nobody_runs_it(provider: Scene, guest: Guest) -> None:
    """A request with rounds on a server that can run nothing: the client gets the call, or the model an error."""
    provider.plays(calls(PARIS), says(DONE))

    run = guest.ask(setup="bare", rounds=4)

    _handed_or_told(guest, run, "weather", "call_without_executor")


@requirement("server-unknown-tool-is-told")
def test_unknown_tool(provider: Scene, guest: Guest) -> None:
    """A call of a tool that nobody offered is not an empty answer."""
    provider.plays(calls(Call.of("nosuch", {"city": "Paris"})), says(DONE))

    run = guest.ask()

    _handed_or_told(guest, run, "nosuch", "unknown_tool")


@requirement("server-malformed-arguments-are-told")
@pytest.mark.parametrize("written", ['{"city": "Par', "Paris, please"], ids=["cut", "text"])
def test_malformed_arguments(provider: Scene, guest: Guest, written: str) -> None:
    """A call with arguments that are no JSON is not run, and somebody learns of it."""
    provider.plays(calls(PARIS), says(DONE))
    control(guest.ask(), "weather")
    provider.plays(calls(Call("weather", written)), says(DONE))

    run = guest.ask()

    guest.reached(run, 1)
    assert [] == run.tools_ran
    _handed_or_told(guest, run, "argument|json|pars|valid", "malformed_call")


def _handed_or_told(guest: Guest, run: Run, names: str, topic: str) -> None:
    """A call was handed to the client, ended in an error, or in a result that names it."""
    if guest.can("upstream"):
        run.delivered(1)
    if run.got.error is not None:
        told = "error"
    elif run.got.turn.calls:
        told = "returned-to-the-client"
    elif not guest.can("upstream"):
        told = "result-for-the-model" if run.got.text == DONE else ""
    else:
        results = [item.text for item in run.added(1) if isinstance(item, Answered)] if len(run.requests) > 1 else []
        told = "result-for-the-model" if any(re.search(names, text, re.IGNORECASE) for text in results) else ""
    guest.implementation.diverges(topic, told or "nobody is told")
    assert told, f"the client got the answer {run.got.text!r}, and the model no result that tells of the call"


@requirement("server-cut-turn-runs-nothing")
@pytest.mark.parametrize("written", [PARIS.arguments, '{"city": "Par'], ids=["whole", "cut"])
def test_cut_turn(provider: Scene, guest: Guest, written: str) -> None:
    """A call in a turn that the token limit cut is not run, be it whole or not, and the client is told."""
    provider.plays(calls(PARIS), says(DONE))
    control(guest.ask(), "weather")
    provider.plays(calls(Call("weather", written), stop="length"), says(DONE))

    run = guest.ask()

    run.delivered(1)
    assert [] == run.tools_ran
    told = run.got.error is not None or run.got.turn.calls or run.got.turn.stopped != "end"
    assert told, f"the client got the answer {run.got.text!r}, as if nothing had been cut"


@requirement("server-model-error-is-told")
@pytest.mark.parametrize("status", [500, 503, 429])
def test_model_error(provider: Scene, guest: Guest, status: int) -> None:
    """A model that answers the second question with an error makes the reply one."""
    provider.plays(calls(PARIS), HttpError(status))

    run = guest.ask()

    run.replied(2)
    assert run.got.error is not None, f"the client got {run.got}, with the answer {_text(run)!r}"


@requirement("server-model-error-reruns-no-tool")
def test_model_error_once(provider: Scene, guest: Guest) -> None:
    """Whether the server asks the model again or gives up, the tool that has run is not run again."""
    provider.plays(calls(PARIS), HttpError(500), says(DONE))

    run = guest.ask()

    run.replied(2)
    guest.implementation.diverges("model error", "asked again" if len(run.requests) > 2 else "an error for the client")
    assert [("weather", {"city": "Paris"})] == run.tools_ran


def _text(run: Run) -> str | None:
    try:
        return run.got.text
    except NotReached:
        return None
