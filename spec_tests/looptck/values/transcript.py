"""Transcripts: everything that happened in one run, in order, with times relative to its start.

Events are appended from three threads (the provider's, the driver's, the test's) and read after the run; an append
to a list is atomic, and each event carries its own time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from time import perf_counter
from typing import Any

from looptck.values.frozen import dataclass
from looptck.values.history import Request
from looptck.values.outcome import Outcome
from looptck.values.problem import Problem
from looptck.values.spans import Span


@dataclass(frozen=True, slots=True)
class Received:
    """A model request. ``n`` counts from 1; ``body`` is the parsed JSON, or None if it was not JSON.

    Its repr is short: pytest asks for it where an assertion about requests fails.
    """

    at: float
    n: int
    path: str
    headers: Mapping[str, str] = field(repr=False)
    """The headers by lower-case name."""
    raw: bytes = field(repr=False)
    body: Any = field(repr=False)
    request: Request = field(repr=False)
    problems: tuple[Problem, ...]
    scripted: bool
    """Whether the script had a step for it."""
    wire: str = ""
    """The name of its wire."""


@dataclass(frozen=True, slots=True)
class Replied:
    """The reply to request ``n`` was sent, completely or as far as the loop read it."""

    at: float
    n: int
    status: int
    what: str
    stream: tuple[bytes, ...] = ()
    """The writes of an event stream, including its faults."""
    body: bytes = b""
    """The body of any other reply."""
    headers: tuple[tuple[str, str], ...] = ()
    """The headers that the script has for this reply."""

    @property
    def words(self) -> str:
        """Status, description and headers."""
        headers = " and ".join(f"{name} {value!r}" for name, value in self.headers)
        return f"{self.status}, {self.what}{f', with {headers}' if headers else ''}"


@dataclass(frozen=True, slots=True)
class HungUp:
    """The loop closed the connection before the reply to request ``n`` was sent."""

    at: float
    n: int


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The kit told the driver to cancel the run."""

    at: float


@dataclass(frozen=True, slots=True)
class ByKind:
    """The further arguments of the handler of a kind of tools: the name of the agent, and its inputs."""

    kind: str
    agent: Any
    inputs: Any


@dataclass(frozen=True, slots=True)
class Dispatched:
    """What a server posted to its dispatch URL: the JSON of the body, and its content type."""

    body: Mapping[str, Any]
    type: str


UNREADABLE_CALL = "/dispatch without name and arguments"
"""The path of an `UnroutedRequest` to the dispatch URL that is no call."""


@dataclass(frozen=True, slots=True)
class ToolBegan:
    """The ``run``-th tool execution, from 1: the toolbox was called."""

    at: float
    run: int
    tool: str
    arguments: Any
    by_kind: ByKind | None = None
    """None: the tool's handler ran it."""
    dispatched: Dispatched | None = None
    """None: a driver's handler called the toolbox."""
    server: str = ""
    """The MCP server whose tool it is; empty: the tool is the case's own."""


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """The toolbox has answered: ``{"value": …}`` or ``{"error": {…}}``."""

    at: float
    run: int
    answer: dict[str, Any]
    tool: str = ""


@dataclass(frozen=True, slots=True)
class McpAsked:
    """An MCP server of the kit got an HTTP request, and answered it with this status.

    ``message`` is the JSON-RPC message in its body; None if it has none. ``headers`` are by lower-case name. A status
    of 0 means that it closed the connection.
    """

    at: float
    server: str
    http: str
    headers: Mapping[str, str]
    message: Any
    status: int

    @property
    def method(self) -> str:
        """The method of the message; empty for a response, and where there is no message."""
        found = self.message.get("method") if isinstance(self.message, dict) else None
        return found if isinstance(found, str) else ""

    @property
    def words(self) -> str:
        """What was asked, and how it was answered."""
        answered = f"answered with {self.status}" if self.status else "not answered"
        return f"MCP server {self.server}: {self.told}, {answered}"

    @property
    def told(self) -> str:
        """The request in words: its message, or its HTTP method."""
        if self.http != "POST":
            return self.http
        return self.method or ("a response" if isinstance(self.message, dict) else "a body that is no message")


@dataclass(frozen=True, slots=True)
class ConfirmAsked:
    """The confirmation hook asks its ``question``-th question, from 1: whether this call may run."""

    at: float
    question: int
    call: Mapping[str, Any]
    """As the model wrote it."""


@dataclass(frozen=True, slots=True)
class ConfirmAnswered:
    """The confirmation hook got its answer."""

    at: float
    question: int
    call: Mapping[str, Any]
    decision: Mapping[str, Any]
    """``{"decision": "approve"}`` and its like."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Text that the caller of the loop received while the loop ran."""

    at: float
    text: str
    absent: bool = False
    """The caller was handed nothing, such as None, in place of a text."""


@dataclass(frozen=True, slots=True)
class Told:
    """The caller of the loop was told of a call, a piece of its arguments, a result, or the end, while the loop ran."""

    at: float
    event: Mapping[str, Any]
    """As the driver has sent it."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """The client of a server received an event of its stream: its name (``""``: it has none) and its JSON."""

    at: float
    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class GaveUp:
    """A gate was not opened in time, and the provider continued."""

    at: float
    gate: str


TOO_MUCH = "the requests of one run have more than"
"""How the kit says that it takes no more requests of a run."""


@dataclass(frozen=True, slots=True)
class UnroutedRequest:
    """A request to an unknown route, or one that was not read."""

    at: float
    method: str
    path: str
    why: str = ""
    """Why it was not read; empty: there is no such route."""

    @property
    def told(self) -> str:
        """Where it went, and why it was not read."""
        return f"{self.method} {self.path}{self.why and ': '}{self.why}"


@dataclass(frozen=True, slots=True)
class SideRequest:
    """A request outside the script, and its answer: to a side route, or relying on state that the service has lost."""

    at: float
    method: str
    path: str
    answered: str


@dataclass(frozen=True, slots=True)
class Spanned:
    """looptck received a span of the run."""

    at: float
    span: Span


@dataclass(frozen=True, slots=True)
class LostSpans:
    """An export of spans that belongs to no run: it was refused, or its trace id is unknown."""

    at: float
    why: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The caller of the loop has its outcome."""

    at: float
    outcome: Outcome


Event = (
    Received
    | Replied
    | HungUp
    | Cancelled
    | ToolBegan
    | ToolEnded
    | McpAsked
    | ConfirmAsked
    | ConfirmAnswered
    | Chunk
    | Told
    | ServerEvent
    | GaveUp
    | UnroutedRequest
    | SideRequest
    | Spanned
    | LostSpans
    | Ended
)


@dataclass(slots=True)
class Transcript:
    """The events of one run."""

    started: float = field(default_factory=perf_counter)
    events: list[Event] = field(default_factory=list)
    handed_over: float = 0.0
    """When the driver had the run's case, relative to its start: a driver that had hung was started anew before."""
    watchers: list[Callable[[Event], None]] = field(default_factory=list)
    """Called with every appended event; this is how gates watch for events."""

    def now(self) -> float:
        """Seconds since the run began."""
        return perf_counter() - self.started

    def append(self, event: Event) -> None:
        self.events.append(event)
        for watcher in self.watchers:
            watcher(event)
