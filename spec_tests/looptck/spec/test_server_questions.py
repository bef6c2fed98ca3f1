"""Server-side loops: what the questions of one request are bound to, and what they cost."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.checks import requirement
from looptck.guest import Guest
from looptck.kit import Scene
from looptck.run import Run
from looptck.turns import Call, calls, says
from looptck.verdicts import NotReached

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
def test_forced_choice(provider: Scene, guest: Guest, choice: dict[str, Any]) -> None:
    """The first question forces a call; those behind it let the model answer."""
    provider.plays(calls(PARIS), calls(PARIS), says("Done."))

    run = guest.ask(choice=choice[guest.implementation.cell.wire])

    first, *later = [received.body.get("tool_choice") for received in _all(run, 2)]
    if first in FREE:
        raise NotReached(f"the first question forces nothing: its tool_choice is {first!r}")
    assert [] == [one for one in later if one not in FREE], f"after the first, the questions had the choices {later}"


def _all(run: Run, least: int) -> list[Any]:
    run.request(least)
    return run.requests


COUNTS = {
    "openai-chat": ("prompt_tokens", "completion_tokens", "total_tokens"),
    "openai-responses": ("input_tokens", "output_tokens", "total_tokens"),
    "anthropic-messages": ("input_tokens", "output_tokens"),
}


@requirement("server-usage-is-the-sum-of-its-rounds")
def test_usage(provider: Scene, guest: Guest) -> None:
    """Three questions cost three times what one does."""
    one = _counted(guest, provider, rounds=0)
    if not all(one.values()):
        raise NotReached(f"control: a reply to one question tells the usage {one}")

    assert {name: 3 * count for name, count in one.items()} == _counted(guest, provider, rounds=2)


def _counted(guest: Guest, provider: Scene, *, rounds: int) -> dict[str, Any]:
    provider.plays(*(calls(PARIS) for _ in range(rounds)), says("Done."))
    run = guest.ask()
    run.delivered(rounds + 1)
    return {name: run.got.usage.get(name) for name in COUNTS[run.cell.wire]}
