"""What the checks of ``agent-loop-010`` ask about calls that fail, and the tools they fail with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from looptck.run import Run
from looptck.solutions import ToldError, activity, call, told_errors
from looptck.verdicts import NotReached

RAISED = [
    ("RuntimeError", "the service is not there"),
    ("KeyError", "Atlantis"),
    ("TimeoutError", "no reply in 30 s"),
    ("CancelledError", "the service gave up"),
    ("PermissionError", "zwei Zeilen:\n„verboten“, 100 %"),
]
"""Types and messages of what tools raise."""
ERRORS = pytest.mark.parametrize(("type", "message"), RAISED, ids=[type for type, _ in RAISED])

COUNT = activity("count", n="integer", mark="string")
SOUND = {"n": 1, "mark": "sound"}
"""Arguments that the tool `COUNT` takes, of the call that stands beside one that fails."""


def count(**parameters: Any) -> dict[str, Any]:
    """A call of `COUNT`, the sound one where nothing else is said."""
    return call("count", {**SOUND, **parameters}, to=f"†state.{parameters.get('mark', 'sound')}")


def goes_on(run: Run) -> None:
    """The first turn did not end the run: the model was asked again."""
    run.delivered(1)

    assert len(run.requests) > 1, f"the run did not go on: the loop {run.outcome}"


def sound_ran(run: Run, tool: str = "count", arguments: Mapping[str, Any] = SOUND) -> None:
    """The control of a call that must not run: the sound one beside it did.

    Raises:
        NotReached: it did not, so that nothing was tested.
    """
    if arguments not in run.arguments_of(tool):
        wanted = f"{tool} should have run with {dict(arguments)}"
        raise NotReached(f"control: {wanted}, and {run.tools_ran} did; the loop {run.outcome}")


def errors_about(run: Run, marker: str, *, n: int = 2) -> list[ToldError]:
    """The Error Messages in request ``n`` whose call holds a marker."""
    return [error for error in told_errors(run.request(n)) if any(marker in text for text in words(error.call))]


def told_counts(run: Run, *markers: str, n: int = 2) -> dict[str, int]:
    """How many Error Messages request ``n`` has about the calls with these markers."""
    return {marker: len(errors_about(run, marker, n=n)) for marker in markers}


def words(value: Any) -> Iterator[str]:
    """All texts in a JSON value, and the values that are none as JSON."""
    match value:
        case dict():
            for inner in value.values():
                yield from words(inner)
        case list():
            for inner in value:
                yield from words(inner)
        case str():
            yield value
        case _:
            yield json.dumps(value)
