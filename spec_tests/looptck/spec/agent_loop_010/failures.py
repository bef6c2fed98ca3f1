"""Calls that fail: the tools that raise, and helpers that find errors in requests (``agent-loop-010``)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import pytest

from looptck.bench.run import Run
from looptck.bench.solutions import ErrorMessage, activity, call, error_messages
from looptck.values.plain import amount, plain
from looptck.values.verdicts import NotReached

RAISED = [
    ("RuntimeError", "the service is not there"),
    ("KeyError", "Atlantis"),
    ("TimeoutError", "no reply in 30 s"),
    ("CancelledError", "the service gave up"),
    ("PermissionError", "zwei Zeilen:\n„verboten“, 100 %"),
]
"""Types and messages of the errors that tools raise."""
ERRORS = pytest.mark.parametrize(("type", "message"), RAISED, ids=[type for type, _ in RAISED])

COUNT = activity("count", n="integer", mark="string")
SOUND = {"n": 1, "mark": "sound"}
"""Arguments of the call of `COUNT` that is sent together with a failing call."""


def count(**parameters: Any) -> dict[str, Any]:
    """A call of `COUNT`; by default the valid one, `SOUND`."""
    return call("count", {**SOUND, **parameters}, to=f"†state.{parameters.get('mark', 'sound')}")


def goes_on(run: Run) -> None:
    """Assert that the first turn did not end the run: the model was asked again."""
    run.delivered(1)

    assert len(run.requests) > 1, f"the run did not continue: the loop {run.outcome}"


def sound_ran(run: Run, tool: str = "count", arguments: Mapping[str, Any] = SOUND) -> None:
    """The control of a call that must not run: the valid call of the same turn did run.

    Raises:
        NotReached: it did not run, so the check would test nothing.
    """
    if arguments not in run.arguments_of(tool):
        wanted = f"{tool} should have run with {plain(arguments)}"
        raise NotReached(f"control: {wanted}, and {run.tools_ran} did; the loop {run.outcome}")


def errors_about(run: Run, marker: str, *, n: int = 2) -> list[ErrorMessage]:
    """The Error Messages in request ``n`` whose call contains a marker."""
    return [error for error in error_messages(run.request(n)) if any(marker in text for text in words(error.call))]


def told_once(run: Run, *failed: Mapping[str, Any], n: int = 2) -> None:
    """Assert that request ``n`` has one Error Message about each of these calls, which have a marker ``mark…``."""
    wrong, unheard = [], set()
    for one in failed:
        marker = next(word for word in words(one) if word.startswith("mark"))
        found = len(errors_about(run, marker, n=n))
        if found != 1:
            wrong.append(f"{amount(found, 'Error Message') if found else 'no Error Message'} about {described(one)}")
        if not found:
            unheard.add(one["_tool"])

    partial = [error.call for error in error_messages(run.request(n)) if _is_partial(error.call, unheard)]
    whole = "the whole call" if partial and isinstance(partial[0], dict) else "the call"
    but = f"; it has one whose `call` is {plain(partial[0])}, which is not {whole}" if partial else ""
    assert not wrong, f"request {n} has {' and '.join(wrong)}{but}; each failed call is reported in one"


def _is_partial(failed: Any, unheard: Collection[str]) -> bool:
    """Whether the call in an Error Message is none, or one of these tools without the marker of its call."""
    if not isinstance(failed, dict):
        return True
    return failed.get("_tool") in unheard and not any(word.startswith("mark") for word in words(failed))


def described(failed: Mapping[str, Any]) -> str:
    """A call as text: its tool and its parameters."""
    parameters = {name: value for name, value in failed.items() if not name.startswith("_")}
    return f"{failed['_tool']}({json.dumps(parameters, ensure_ascii=False)})"


def words(value: Any) -> Iterator[str]:
    """All strings in a JSON value; other values as JSON text."""
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
