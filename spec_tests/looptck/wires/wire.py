"""The interface of a wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Protocol

from looptck.values.framing import DEFAULT, Framing, Quirk
from looptck.values.frozen import dataclass
from looptck.values.growth import Growth
from looptck.values.history import Item, Request
from looptck.values.lenient import is_object
from looptck.values.problem import Problem
from looptck.values.turns import Stop, Turn

FAILED_REQUEST = "req_looptck"
"""The id of each request that the service answers with an error, in the body too where the wire has it there."""
CUT: frozenset[Stop] = frozenset({"length", "context_window", "content_filter"})
"""The stop reasons of a turn that may be incomplete."""


class Service(Protocol):
    """The backend of one run: it judges and reads requests, given its earlier replies.

    On a wire without server-side state each request is judged by itself. A service that has lost its state, or keeps
    none, answers a request that relies on state with a problem marked ``state_missing``.
    """

    def judge(
        self, body: object, headers: Mapping[str, str] | None = None, growth: Growth | None = None
    ) -> list[Problem]:
        """The problems for which the real service would refuse a request; it would report the first one.

        ``headers``: the request headers by lower-case name; None: unknown. ``growth``: how the body follows from an
        earlier one; it makes the judgement faster and changes nothing in it.
        """

    def read(self, body: object, growth: Growth | None = None) -> Request:
        """The provider-neutral form of a request, with the history from server-side state; never raises."""

    def replied(self, body: Any, n: int, turn: Turn, id: str | None = None) -> None:
        """Record that the service answered the ``n``-th request with this turn; ``id``: the id of a recorded reply."""

    def side(self, method: str, path: str, query: Mapping[str, str], body: Any) -> dict[str, Any] | None:
        """The reply on a route about what is stored, by its path below ``/v1``; None if there is none."""

    def lose_state(self, why: str | None = None) -> None:
        """Lose the server-side state; ``why`` is the error code for that, None the default one."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What a quirk makes of a reply; a reply may already have others."""

    body: Callable[[dict[str, Any]], dict[str, Any]]
    """Of a plain reply."""
    stream: Callable[[list[object]], list[object]]
    """Of the events of a stream."""


@dataclass(frozen=True, slots=True)
class Wire:
    """One provider's HTTP API, seen from the provider's side: a value whose fields are functions."""

    name: str
    """The name in the catalogue, for example ``openai-chat``."""
    route: str
    """The path below the base URL that takes a model request."""
    stops: frozenset[Stop]
    """The stop reasons that the wire can express."""
    layouts: frozenset[str]
    """The layout fields of ``Framing`` that the wire applies; the others have no effect."""
    quirks: frozenset[Quirk]
    """The observed quirks of servers of this wire, which it can reproduce."""
    body: Callable[[Turn, int, Framing], dict[str, Any]]
    """The plain reply to the ``n``-th request."""
    events: Callable[[Turn, int, Framing], list[object]]
    """The events of the streamed reply: JSON values, and text for an end marker."""
    without_finish: Callable[[list[object]], list[object]]
    """The events without those that have the finish reason."""
    error_body: Callable[[int, str], dict[str, Any]]
    """The body of an HTTP error, from its status and message."""
    error_events: Callable[[list[object], str], list[object]]
    """The error events that replace the rest of a stream, given the events before them and a message."""
    service: Callable[[bool], Service]
    """Makes the backend of one run; the argument: whether it keeps server-side state, if the wire has any."""
    refusal: Callable[[Problem], dict[str, Any]]
    """The error body with which the real service would refuse a request."""
    text: Callable[[object], str]
    """The text that an event of a stream adds to the answer."""
    echo: Callable[[Turn], list[Item]]
    """The items by which the next request should carry a turn."""
    turn: Callable[[str, bool], Turn]
    """The turn in the body of a recorded reply, plain or an event stream.

    Raises NoTurn if there is none, and no other error for any body."""
    side: Callable[[str, str, Any], dict[str, Any] | None]
    """The reply on a side route, given method, path below ``/v1`` and JSON body; None if there is no such route."""
    tells_usage: Callable[[Any], bool] = lambda _body: True
    """Whether the service tells the usage in its reply to this request."""
    said_to: Callable[[Turn, Any], Turn] = lambda turn, _body: turn
    """A turn as the service says it in its reply to this request."""
    is_usage: Callable[[Any], bool] = lambda _event: False
    """Whether an event has usage alone, and is sent only if the request asks for it."""
    changes: Mapping[Quirk, Changes] = field(default_factory=dict)
    """The quirks that are changes of a whole reply: a dialect can send several, in the order of their making."""
    request_id: str = ""
    """The header by which the service names each request in its reply; empty where it does not."""
    usual: Framing = DEFAULT
    """The framing of each reply for which a check wants no other."""
    parsed_arguments: bool = False
    """Whether a plain reply carries arguments as an object, so that malformed JSON is possible in streams only."""
    named_events: bool = False
    """Whether each event has an ``event:`` line, which repeats the ``type`` of its JSON."""

    def carries_out(self, framing: Framing) -> bool:
        """Whether the wire applies every part of the framing."""
        return framing.layout <= self.layouts and framing.quirk in (None, *self.quirks)

    def framed(self, framing: Framing) -> Framing:
        """The framing of a reply, given the one that the check wants."""
        return self.usual if framing == DEFAULT else framing

    def can_say(self, turn: Turn, *, stream: bool) -> bool:
        """Whether the wire can express a turn: its stop reason, and in plain replies its arguments.

        Incomplete arguments of a truncated turn may be omitted.
        """
        if turn.stopped not in self.stops:
            return False
        readable = stream or not self.parsed_arguments or turn.stopped in CUT
        return readable or all(is_object(call.arguments) for call in turn.calls)
