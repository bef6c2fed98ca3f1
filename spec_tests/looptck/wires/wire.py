"""What a wire has to be able to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from looptck.framing import Framing
from looptck.history import Request
from looptck.turns import Turn
from looptck.wires.problem import Problem


@dataclass(frozen=True, slots=True)
class Wire:
    """One provider's HTTP API, seen from the provider's side: a value whose fields are functions."""

    name: str
    """The word of the catalogue, for example ``openai-chat``."""
    route: str
    """The path below the base URL that takes a model request."""
    body: Callable[[Turn, int, Framing], dict[str, Any]]
    """The plain reply to the ``n``-th request."""
    events: Callable[[Turn, int, Framing], list[object]]
    """The events of the streamed reply: JSON values, and text for an end marker."""
    without_finish: Callable[[list[object]], list[object]]
    """Those events but for the ones that say why the model stopped."""
    error_body: Callable[[int, str], dict[str, Any]]
    """The body of an HTTP error, from its status and message; also the error inside a stream."""
    judge: Callable[[object], list[Problem]]
    """What the real service would refuse in a request's body."""
    refusal: Callable[[Problem], dict[str, Any]]
    """The body with which the real service would refuse."""
    read: Callable[[object], Request]
    """A request told neutrally; reads what it can of a bad one and never raises."""
