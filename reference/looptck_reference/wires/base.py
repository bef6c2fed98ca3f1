"""What a wire is: a value that translates between a provider's HTTP API and the neutral values.

A wire does no I/O and keeps no state; the one thing with state is the `TurnStream` that it makes for each stream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from looptck_reference.agent import Agent
    from looptck_reference.values import Delta, Json, Stop, ToolResult, Turn
    from looptck_reference.wires.sse import EventReader

__all__ = ["TurnStream", "Wire"]


class TurnStream(Protocol):
    """Collects the events of one stream into one turn."""

    complete: bool
    """Whether the wire's own end mark has been seen, after which nothing can be missing."""

    def add(self, data: str) -> Delta:
        """Take the data of one event and say what it added."""

    def close(self) -> Turn:
        """The whole turn, or an error where the stream was not whole."""


class Wire(Protocol):
    """One HTTP API of one provider."""

    provider: str
    """Whose API it is, as the GenAI semantic conventions name it."""

    path: str
    """Where requests go, behind the base URL."""

    reader: type[EventReader]
    """What cuts the bytes of a stream into events."""

    runs_calls_on: frozenset[Stop]
    """The stops at which the provider means a turn's calls to be run."""

    def headers(self, api_key: str) -> Mapping[str, str]:
        """How a request is authorised."""

    def headers_for(self, agent: Agent) -> Mapping[str, str]:
        """What else the requests of an agent say before their body."""

    def opening(self, messages: Sequence[Json]) -> list[Json]:
        """The caller's messages as the beginning of a history."""

    def echo(self, turn: Turn) -> list[Json]:
        """What a tool turn of the model adds to the history."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        """What the results of one turn add to the history."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        """The body that asks the model."""

    def decode(self, reply: Json) -> Turn:
        """The turn in a plain reply."""

    def stream(self) -> TurnStream:
        """A collector for one stream."""
