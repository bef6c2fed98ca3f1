"""What a wire has to be able to do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from looptck.values.framing import Framing, Quirk
from looptck.values.history import Item, Request
from looptck.values.problem import Problem
from looptck.values.turns import Stop, Turn

CUT: frozenset[Stop] = frozenset({"length", "context_window", "content_filter"})
"""The stop reasons of a turn that may be half of what the model meant."""


class Service(Protocol):
    """The backend of one run: it judges and reads requests, given what it has answered before.

    On a wire without server-side state each request is judged by itself. A service that has lost its state, or keeps
    none, answers a request that relies on it with a problem that is marked ``state_missing``.
    """

    def judge(self, body: object, headers: Mapping[str, str] | None = None) -> list[Problem]:
        """What the real service would refuse in a request's body; the first is what it would answer.

        ``headers``: those of the request, by name in lower case; None: they are not known.
        """

    def read(self, body: object) -> Request:
        """The provider-neutral form of a request, with the history from server-side state; never raises."""

    def replied(self, body: Any, n: int, turn: Turn, id: str | None = None) -> None:
        """The service has answered the ``n``-th request with this whole turn; ``id``: that of a recorded reply."""

    def lose_state(self, why: str | None = None) -> None:
        """The service loses its state; ``why`` is the error code that it gives for that, None the usual one."""


@dataclass(frozen=True, slots=True)
class Wire:
    """One provider's HTTP API, seen from the provider's side: a value whose fields are functions."""

    name: str
    """The word of the catalogue, for example ``openai-chat``."""
    route: str
    """The path below the base URL that takes a model request."""
    stops: frozenset[Stop]
    """The stop reasons that the wire has a word for."""
    layouts: frozenset[str]
    """The layout fields of ``Framing`` that the wire carries out; the others change nothing on it."""
    quirks: frozenset[Quirk]
    """The quirks that servers of this wire were seen to have, and that it can play."""
    body: Callable[[Turn, int, Framing], dict[str, Any]]
    """The plain reply to the ``n``-th request."""
    events: Callable[[Turn, int, Framing], list[object]]
    """The events of the streamed reply: JSON values, and text for an end marker."""
    without_finish: Callable[[list[object]], list[object]]
    """Those events but for the ones that say why the model stopped."""
    error_body: Callable[[int, str], dict[str, Any]]
    """The body of an HTTP error, from its status and message."""
    error_events: Callable[[list[object], str], list[object]]
    """What the service sends in place of the rest of a stream, given the events before it and a message."""
    service: Callable[[bool], Service]
    """The backend of one run; given whether it keeps state, where the wire has any."""
    refusal: Callable[[Problem], dict[str, Any]]
    """The body with which the real service would refuse."""
    text: Callable[[object], str]
    """The text for the caller that an event of a stream adds."""
    echo: Callable[[Turn], list[Item]]
    """The items by which the next request should carry a turn."""
    turn: Callable[[str, bool], Turn]
    """The turn in the body of a recorded reply, plain or an event stream.

    Raises NoTurn where there is none, and nothing else whatever the body holds."""
    side: Callable[[str, str, Any], dict[str, Any] | None]
    """The reply on a side route, given method, path below ``/v1`` and JSON body; None if there is no such route."""
    parsed_arguments: bool = False
    """Whether a plain reply carries arguments as an object, so that broken text can be said in streams only."""
    named_events: bool = False
    """Whether each event has an ``event:`` line, which repeats the ``type`` of its JSON."""

    def carries_out(self, framing: Framing) -> bool:
        """Whether the framing means something on this wire, all of it."""
        return framing.layout <= self.layouts and framing.quirk in (None, *self.quirks)

    def can_say(self, turn: Turn, *, stream: bool) -> bool:
        """Whether the wire has words for a turn: its stop reason, and in plain replies its arguments.

        Half of the arguments of a truncated turn may be left out.
        """
        if turn.stopped not in self.stops:
            return False
        readable = stream or not self.parsed_arguments or turn.stopped in CUT
        return readable or all(_is_object(call.arguments) for call in turn.calls)


def _is_object(arguments: str) -> bool:
    try:
        return not arguments.strip() or isinstance(json.loads(arguments), dict)
    except ValueError:
        return False
