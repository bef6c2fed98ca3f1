"""The protocol of a wire: a value that translates between a provider's HTTP API and the neutral values.

A wire does no I/O and keeps no state; only the `TurnStream` that it makes for each stream has state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from looptck_reference.vocabulary.agent import Agent
    from looptck_reference.vocabulary.values import Delta, Json, Stop, ToolResult, Turn
    from looptck_reference.wires.sse import EventReader

__all__ = ["TurnStream", "Wire"]


class TurnStream(Protocol):
    """Collects the events of one stream into one turn."""

    complete: bool
    """Whether the wire's own end mark has come, after which nothing can be missing."""

    def add(self, data: str) -> Delta:
        """Take the data of one event and return what it added."""

    def close(self) -> Turn:
        """The complete turn; raises an error if the stream is incomplete."""


class Wire(Protocol):
    """One HTTP API of one provider."""

    provider: str
    """The provider's name in the GenAI semantic conventions."""

    path: str
    """The path of requests, relative to the base URL."""

    reader: type[EventReader]
    """The parser that splits the bytes of a stream into events."""

    runs_calls_on: frozenset[Stop]
    """The stops at which the provider means a turn's calls to run."""

    def headers(self, api_key: str) -> Mapping[str, str]:
        """The headers that authorise a request."""

    def headers_for(self, agent: Agent) -> Mapping[str, str]:
        """Additional request headers for an agent."""

    def opening(self, messages: Sequence[Json]) -> list[Json]:
        """The caller's messages as entries of a history. `Agent` has their form."""

    def instructions(self, messages: Sequence[Json]) -> list[Json]:
        """Those of the caller's messages that are sent beside the history, in every request of a conversation."""

    def echo(self, turn: Turn) -> list[Json]:
        """The items that a tool turn of the model adds to the history."""

    def answer(self, turn: Turn) -> list[Json]:
        """The items that the turn which ended a run adds to the history; none if the service would refuse them."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        """The items that the results of one turn add to the history."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        """The body of a model request."""

    def decode(self, reply: Json) -> Turn:
        """The turn in a plain reply."""

    def stream(self) -> TurnStream:
        """A collector for one stream."""
