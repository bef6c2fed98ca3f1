"""What a service repeats of a request in its reply: the model's name, and on Responses most of what was asked for.

Clients read the name from the reply, to count costs or to choose what they do next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from looptck.values.framing import Framing
from looptck.values.turns import Turn
from looptck.wires import Wire

_NOT_REPEATED = frozenset({"input", "stream", "tools", "service_tier", "conversation"})
"""Members of a request that are also in a reply, where the service writes something else."""

Repeated = Mapping[str, Any]
"""The members that a reply repeats, by name."""


def repeated(wire: str, asked: Any) -> Repeated:
    """What the reply to a request repeats of it."""
    if not isinstance(asked, dict):
        return {}
    if wire == "openai-responses":
        return {name: value for name, value in asked.items() if name not in _NOT_REPEATED and value is not None}
    return {"model": asked["model"]} if isinstance(asked.get("model"), str) else {}


def repeating(wire: Wire, what: Callable[[], Repeated]) -> Wire:
    """The wire, whose replies repeat this, as far as they have such members."""

    def body(turn: Turn, n: int, framing: Framing) -> dict[str, Any]:
        return _with(wire.body(turn, n, framing), what())

    def events(turn: Turn, n: int, framing: Framing) -> list[object]:
        known = what()
        return [_event(event, known) for event in wire.events(turn, n, framing)]

    return replace(wire, body=body, events=events)


def _event(event: object, known: Repeated) -> object:
    """An event of a stream: it is a reply, or has one in it."""
    if not isinstance(event, dict):
        return event
    holder = next((name for name in ("response", "message") if isinstance(event.get(name), dict)), None)
    return _with(event, known) if holder is None else {**event, holder: _with(event[holder], known)}


def _with(reply: dict[str, Any], known: Repeated) -> dict[str, Any]:
    if "model" not in reply:
        return reply
    return {name: _merged(value, known[name]) if name in known else value for name, value in reply.items()}


def _merged(value: Any, asked: Any) -> Any:
    """What was asked for, with the defaults of the members that were not."""
    return {**value, **asked} if isinstance(value, dict) and isinstance(asked, dict) else asked
