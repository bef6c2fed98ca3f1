"""Server-side loops: the tool choice, the format, the sampling and the usage of the model requests in one run."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pytest

from looptck.bench.assertions.usage import using
from looptck.bench.checks import on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.values.plain import plain
from looptck.values.turns import Call, Usage, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

PARIS = Call.of("weather", {"city": "Paris"})
FORCED: dict[str, dict[str, Any]] = {
    "any": {"openai-chat": "required", "openai-responses": "required", "anthropic-messages": {"type": "any"}},
    "named": {
        "openai-chat": {"type": "function", "function": {"name": "weather"}},
        "openai-responses": {"type": "function", "name": "weather"},
        "anthropic-messages": {"type": "tool", "name": "weather"},
    },
}
FREE = (None, "auto", "none")


@requirement("server-forced-choice-holds-for-one-round")
@pytest.mark.parametrize("choice", FORCED.values(), ids=FORCED)
def test_forced_choice(scenario: Scenario, server: ServerUnderTest, choice: dict[str, Any]) -> None:
    """The first model request forces a call; the later ones let the model answer."""
    scenario.plays(calls(PARIS), calls(PARIS), says("Done."))

    run = server.ask(choice=choice[server.implementation.cell.wire])

    first, *later = [received.body.get("tool_choice") for received in _all(run, 2)]
    if first in FREE:
        has = "no tool_choice" if first is None else f"the tool_choice {plain(first)}"
        raise NotReached(f"the client's request forces a call, and the first model request has {has}")
    forced = [one for one in later if one not in FREE]
    assert [] == forced, f"the later model requests have the tool_choice {plain(later)}"


FORMAT = {
    "type": "json_schema",
    "json_schema": {
        "name": "report",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"sky": {"type": "string"}},
            "required": ["sky"],
            "additionalProperties": False,
        },
    },
}


@requirement("server-response-format-holds-for-the-answer")
def test_response_format(scenario: Scenario, server: ServerUnderTest) -> None:
    """The response_format of a request is in the first model request, and in the one that gets the answer."""
    scenario.plays(calls(PARIS), calls(PARIS), says('{"sky": "blue"}'))

    run = server.ask(members={"response_format": FORMAT})

    first, *_, last = [received.body.get("response_format") for received in _all(run, 3)]
    if first is None:
        raise NotApplicable("the server does not hand a response_format to its model in the first round")
    assert first == last


@requirement("server-sampling-holds-in-every-round")
@pytest.mark.parametrize(("name", "value"), [("temperature", 0.25), ("top_p", 0.5)])
def test_sampling(scenario: Scenario, server: ServerUnderTest, name: str, value: float) -> None:
    """A sampling parameter of the first of three model requests is in the later ones too, if not the request's own."""
    scenario.plays(calls(PARIS), calls(PARIS), says("Done."))

    run = server.ask(members={name: value})

    first, *later = [received.body.get(name) for received in _all(run, 3)]
    if first is None:
        raise NotApplicable(f"the server does not hand {name} to its model in the first round")
    strange = [one for one in later if one not in (first, value)]
    assert [] == strange, f"{name} is {first} in the first model request, and then {plain(later)}"


LIMITS = ("max_completion_tokens", "max_tokens")
NAMES = [
    pytest.param("max_tokens", marks=on("openai-chat", "anthropic-messages"), id="max_tokens"),
    pytest.param("max_completion_tokens", marks=on("openai-chat"), id="max_completion_tokens"),
    pytest.param("max_output_tokens", marks=on("openai-responses"), id="max_output_tokens"),
]
"""How the client sets a limit of tokens on each wire."""
MOST = 777
LONG = "All is well. " * MOST


@requirement("server-sampling-holds-in-every-round")
@pytest.mark.parametrize("name", NAMES)
def test_most_tokens(scenario: Scenario, server: ServerUnderTest, name: str) -> None:
    """The client's limit of tokens, or a lower one, is in each of three model requests; a server may refuse it."""
    scenario.plays(calls(PARIS), calls(PARIS), says(LONG))

    run = server.ask(members={name: MOST})

    if HTTPStatus.BAD_REQUEST <= run.got.status < HTTPStatus.INTERNAL_SERVER_ERROR:
        raise NotApplicable(f"the server refuses {name}: {run.got}")
    limits = [_limit(received.body) for received in _all(run, 3)]
    if len(run.got.text or "") < len(LONG) and run.got.turn.stopped == "length":
        raise NotApplicable(f"the server cuts its reply at {name} by itself")
    held = [one is not None and one <= MOST for one in limits]
    assert all(held), f"the client allows {MOST} tokens, and the model requests have the limits {plain(limits)}"


def _limit(body: dict[str, Any]) -> int | None:
    return next((body[name] for name in LIMITS if isinstance(body.get(name), int)), None)


def _all(run: Run, least: int) -> list[Any]:
    run.request(least)
    return run.requests


COUNTS = {
    "openai-chat": ("prompt_tokens", "completion_tokens", "total_tokens"),
    "openai-responses": ("input_tokens", "output_tokens", "total_tokens"),
    "anthropic-messages": ("input_tokens", "output_tokens"),
}


USED = Usage(311, 23)
ASKS_FOR_USAGE = {"stream_options": {"include_usage": True}}
"""Without it no stream of Chat Completions need have a usage."""


@requirement("server-usage-is-the-sum-of-its-rounds")
def test_usage(scenario: Scenario, server: ServerUnderTest) -> None:
    """The usage of three model requests is three times that of one; a stream may have it only on request."""
    members: dict[str, Any] = {}
    one = _counted(server, scenario, members, rounds=0)
    cell = server.implementation.cell
    if not any(one.values()) and cell.stream and cell.wire == "openai-chat":
        members = ASKS_FOR_USAGE
        one = _counted(server, scenario, members, rounds=0)
        assert any(one.values()), "the client asks for the usage with stream_options, and the stream has none"
    if not all(one.values()):
        raise NotReached(f"control: a reply after one model request has the usage {plain(one)}")

    used = dict(zip(COUNTS[cell.wire], (USED.input, USED.output, USED.input + USED.output), strict=False))
    if not any(one[name] == count for name, count in used.items()):
        raise NotApplicable(f"the server counts tokens itself: of {plain(used)} it tells {plain(one)}")
    assert used == one, f"the model reports {plain(used)} for its one reply, and the client gets {plain(one)}"
    assert {name: 3 * count for name, count in one.items()} == _counted(server, scenario, members, rounds=2)


def _counted(server: ServerUnderTest, scenario: Scenario, members: dict[str, Any], *, rounds: int) -> dict[str, Any]:
    turns = (*(calls(PARIS) for _ in range(rounds)), says("Done."))
    scenario.plays(*(using(turn, USED) for turn in turns))
    run = server.ask(members=members)
    run.delivered(rounds + 1)
    return {name: run.got.usage.get(name) for name in COUNTS[run.cell.wire]}
