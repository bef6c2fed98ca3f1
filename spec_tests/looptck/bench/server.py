"""Servers under test, as a check sees them: looptck is their client, their model and their dispatch endpoint."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from looptck.bench.bench import Running
from looptck.bench.benches import server_bench
from looptck.bench.checks import Implementation
from looptck.bench.client import Ask
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import Tool
from looptck.drivers import USUAL
from looptck.provider import shared
from looptck.values.history import Item
from looptck.values.verdicts import NotReached

if TYPE_CHECKING:
    import httpx


class RequestOverrides(TypedDict, total=False):
    """How a request differs from the default: set-up, wire, stream or plain, and the fields of `Ask`."""

    setup: str
    stream: bool
    wire: str
    scenario: Scenario
    before: Sequence[Item]
    after: Sequence[Item]
    tools: Sequence[Tool]
    session: str | None
    rounds: int | None
    permission: str | None
    choice: Any
    members: Mapping[str, Any]
    chunked: bool
    on_event: Callable[[Any], object] | None


def tool(name: str, **types: str) -> Tool:
    """A tool with parameters of these JSON types, all of them required."""
    properties = {parameter: {"type": type} for parameter, type in types.items()}
    schema = {"type": "object", "properties": properties, "required": [*types]}
    return Tool(name, f"Does what {name} says.", schema)


def open_tool(name: str, **types: str) -> Tool:
    """As `tool`, but with any further parameters allowed."""
    closed = tool(name, **types)
    return replace(closed, parameters={**closed.parameters, "additionalProperties": True})


PING = tool("ping")
WEATHER = open_tool("weather", city="string")
_NUMBERS = itertools.count(1)


@dataclass(slots=True)
class ServerUnderTest:
    """A client of the server under test."""

    implementation: Implementation
    offers: Sequence[Tool] = field(default=(PING, WEATHER))
    """The default tools of its requests."""

    @property
    def can(self) -> Callable[[str], bool]:
        """Whether the server has a capability, or a set-up."""
        return self.implementation.started.can

    def begin(self, question: str | None = None, **how: Unpack[RequestOverrides]) -> Running:
        """Send a request without waiting for the reply. The default question is unique."""
        implementation = self.implementation
        setup = how.pop("setup", USUAL)
        wire = how.pop("wire", implementation.cell.wire)
        stream = how.pop("stream", implementation.cell.stream)
        scenario = how.pop("scenario", implementation.scenario)
        how.setdefault("tools", self.offers)
        asked = Ask(question=question or f"Please go on, number {next(_NUMBERS)}.", **how)  # type: ignore[misc]
        return implementation.ask(asked, scenario, setup=setup, wire=wire, stream=stream)

    def ask(self, question: str | None = None, **how: Unpack[RequestOverrides]) -> Run:
        """Send a request, and wait for the whole reply.

        Raises:
            Liveness: the reply did not come in time.
            DriverFault: the server cannot be started.
        """
        return self.end(self.begin(question, **how))

    def end(self, running: Running) -> Run:
        """Wait for a reply."""
        return self.implementation.end(running)

    def reached(self, run: Run, n: int) -> None:
        """Make sure that the model has produced its ``n``-th turn; if looptck cannot see that, that a reply has ended.

        Raises:
            NotReached: this has not happened.
        """
        if self.can("upstream"):
            run.delivered(n)
        elif not run.ended:
            raise NotReached(f"no reply has ended: the request {run.outcome}")

    @property
    def elsewhere(self) -> str:
        """A URL without a route, where looptck records each request as an `UnroutedRequest`."""
        return self.implementation.bench.origin + shared.ELSEWHERE

    def http(self, setup: str = USUAL) -> httpx.Client:
        """An HTTP client for routes other than the loop's; use it as a context manager.

        A request to which the server does not reply raises AssertionError.
        """
        bench = server_bench(self.implementation.bench)
        return bench.visits.http(bench.servers.url(setup))

    def process(self, setup: str = USUAL) -> int | None:
        """The id of the server's process, if it is known."""
        return server_bench(self.implementation.bench).servers.process(setup)
