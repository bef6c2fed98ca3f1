"""The requests that a mock has got, as a test reads them: the same on every wire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from looptck.values.frozen import dataclass
from looptck.values.history import Answered, Asked, Item, Offered, Opaque, Said, parsed
from looptck.values.plain import amount, cut, plain
from looptck.values.problem import Problem
from looptck.values.transcript import Received

__all__ = ["Message", "Request"]

SHORT = 100


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of a request's history: a text of a role, a call of the model, or a tool's result."""

    role: str
    """``system``, ``user``, ``assistant`` (also of calls and of thinking), ``tool`` (of results)."""
    text: str = ""
    """What was said, or the result's text."""
    tool: str | None = None
    """The name of the tool, of calls and of results; None: it is neither."""
    arguments: Any = None
    """Of a call: its arguments as JSON, or the text that is no JSON."""
    id: str | None = None
    """The id of the call, of calls and of results."""
    failed: bool = False
    """Of a result: whether it is marked as an error, on the wire that has such a mark."""
    pointer: str = field(default="", compare=False)
    """Where it is in the body, as a JSON pointer."""

    def __str__(self) -> str:
        if self.role == "tool":
            return f"tool {self.tool or '?'} ({self.id}): {plain(self.text, SHORT)}"
        if self.tool is not None:
            return f"assistant calls {self.tool}({plain(self.arguments, SHORT)}) as {self.id}"
        return f"{self.role}: {plain(self.text, SHORT)}"


@dataclass(frozen=True, slots=True, repr=False)
class Request:
    """A request to the model."""

    received: Received

    @property
    def number(self) -> int:
        """Its number, from 1."""
        return self.received.n

    @property
    def wire(self) -> str:
        """``openai-chat``, ``openai-responses`` or ``anthropic-messages``."""
        return self.received.wire

    @property
    def path(self) -> str:
        """The path that it was sent to."""
        return self.received.path

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers by lower-case name."""
        return self.received.headers

    @property
    def raw(self) -> bytes:
        """The body as it was sent."""
        return self.received.raw

    @property
    def body(self) -> Any:
        """The body as JSON; None if it is none."""
        return self.received.body

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self.received.request.model

    @property
    def stream(self) -> bool:
        """Whether it asks for a stream."""
        return self.received.request.stream

    @property
    def tools(self) -> tuple[Offered, ...]:
        """The offered tools, each with ``name``, ``description`` and ``parameters``."""
        return self.received.request.tools

    @property
    def messages(self) -> tuple[Message, ...]:
        """The whole history in order, also what the service has stored."""
        return tuple(_messages(self.received.request.items))

    @property
    def text(self) -> str:
        """The text of the last message of the user."""
        return next((one.text for one in reversed(self.messages) if one.role == "user"), "")

    @property
    def results(self) -> dict[str, str]:
        """The text of each result of a tool, by the id of its call."""
        return {one.id: one.text for one in self.received.request.answers}

    @property
    def refused_for(self) -> tuple[Problem, ...]:
        """What the service would refuse it for, each with ``message``, ``rule`` and ``pointer``; it tells the first."""
        return self.received.problems

    def __repr__(self) -> str:
        last = self.messages[-1] if self.messages else "no message"
        return f"<request {self.number}, {self.wire}, {amount(len(self.messages), 'message')}, {cut(str(last), SHORT)}>"


def _messages(items: tuple[Item, ...]) -> Iterator[Message]:
    names: dict[str, str] = {}
    for item in items:
        match item:
            case Said(role, text):
                yield Message("system" if role == "developer" else role, text, pointer=item.pointer)
            case Asked(id, tool, arguments):
                names[id] = tool
                yield Message("assistant", tool=tool, arguments=_value(arguments), id=id, pointer=item.pointer)
            case Answered(id, text):
                name = names.get(id, "")
                yield Message("tool", text, tool=name, id=id, failed=item.failed, pointer=item.pointer)
            case Opaque():
                yield Message("assistant", item.text, pointer=item.pointer)


def _value(arguments: str) -> Any:
    try:
        return parsed(arguments)
    except ValueError:
        return arguments
