"""Replies: what a client got for one request, as far as a check asks for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from looptck.values.frozen import dataclass
from looptck.values.lenient import as_object, objects_in
from looptck.values.transcript import ServerEvent
from looptck.values.turns import Turn
from looptck.values.verdicts import NotReached
from looptck.wires import WIRES

PROGRESS = "agentic_tool_call_progress"
FILE = "file_produced"
APPROVAL = "agentic_tool_approval_required"
SERVER_EVENTS = frozenset({PROGRESS, FILE, APPROVAL})
"""The names of the events that a server adds to the ones of a wire."""
STREAMED = "text/event-stream"
"""The content type of a stream."""
DONE = "[DONE]"
ENDS = {
    "anthropic-messages": ("message_stop", "error"),
    "openai-responses": ("response.completed", "response.incomplete", "response.failed", "error"),
}


@dataclass(frozen=True, slots=True)
class Progress:
    """One progress event; ``at`` is the place of its event in the stream."""

    at: int
    round: Any
    tool: Any
    phase: Any
    data: Mapping[str, Any]


@dataclass(slots=True)
class Reply:
    """A plain reply or a stream, as much of it as came."""

    wire: str
    stream: bool
    status: int = 0
    """0: no reply has begun."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """By name, in lower case."""
    raw: bytes = b""
    events: list[ServerEvent] = field(default_factory=list)
    comments: int = 0
    broken: str = ""
    """What ended the connection before the reply was whole; empty: nothing."""
    left: bool = False
    """Whether the client went away before its end."""
    sent: bytes = b""
    """The body of its request."""

    @property
    def body(self) -> Any:
        """The JSON of a plain reply, or of an error. Raises NotReached where it is none."""
        try:
            return json.loads(self.raw)
        except (ValueError, RecursionError):
            raise NotReached(f"the reply of status {self.status} is no JSON: {self.raw[:200]!r}") from None

    @property
    def ok(self) -> bool:
        """Whether it is whole, of status 200, and contains no error."""
        return self.status == 200 and not self.broken and self.error is None

    @property
    def unstreamed(self) -> str:
        """Why it is no stream although its request asks for one; empty: it is one, or need not be."""
        kind = media_type(self.headers)
        if not self.stream or self.status != 200 or self.events or kind == STREAMED:
            return ""
        return f"the request asks for a stream, and its reply has the content type {kind or '(none)'}"

    @property
    def error(self) -> str | None:
        """The text of the error that it is, or of one in its stream; None: there is none."""
        if self.status != 200:
            return self.raw.decode(errors="replace")
        if not self.stream:
            return None
        for event in self.events:
            value = as_object(event.value)
            error = value.get("error") or as_object(value.get("response")).get("error")
            if event.name == "error" or value.get("type") == "error" or error:
                return json.dumps(error or value, ensure_ascii=False)
        return None

    @property
    def own(self) -> list[ServerEvent]:
        """The events of the wire itself, without those that the server adds and without the end marker."""
        return [
            event
            for event in self.events
            if not (is_server_event(event) or self._foreign(event) or event.value == DONE)
        ]

    def _foreign(self, event: ServerEvent) -> bool:
        """Whether it is of an unknown kind: the chunks of Chat Completions have neither a name nor a type."""
        named = self.wire == "openai-chat" and event.name and isinstance(event.value, dict)
        return bool(named) and not event.value.keys() & {"choices", "error"}

    @property
    def turn(self) -> Turn:
        """What the model said to the client at last. Raises NotReached where it cannot be read from the reply."""
        if not self.ok:
            raise NotReached(f"the reply has no turn: status {self.status}, {self.broken or self.error}")
        if self.unstreamed:
            raise NotReached(self.unstreamed)
        text = self.raw.decode(errors="replace")
        if self.stream:
            text = "".join(f"data: {json.dumps(event.value)}\n\n" for event in self.own)
        try:
            return WIRES[self.wire].turn(text, self.stream)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise NotReached(f"no turn can be read from the reply: {error}: {text[:300] or 'it is empty'}") from error

    @property
    def text(self) -> str | None:
        """The text of its turn."""
        return self.turn.text

    @property
    def ended(self) -> bool:
        """Whether its stream has the end that its wire defines, once and at its very end."""
        if self.broken or not self.events:
            return False
        last = self.events[-1]
        if self.wire == "openai-chat":
            marks = [event.value for event in self.events if event.value == DONE]
            return len(marks) == 1 and last.value == DONE
        ends = [event for event in self.events if _kind(event) in ENDS[self.wire]]
        return len(ends) == 1 and (ends[0] is last or (last.value == DONE and ends[0] is self.events[-2]))

    @property
    def finish(self) -> str | None:
        """The finish reason of Chat Completions, in the wire's own word; None: there is none."""
        bodies = [event.value for event in self.own] if self.stream else [self.body]
        choices = [choice for body in bodies for choice in objects_in(as_object(body).get("choices"))]
        found = [choice.get("finish_reason") for choice in reversed(choices)]
        return next((reason for reason in found if isinstance(reason, str) and reason), None)

    def member(self, name: str) -> Any:
        """A member at the top of a plain reply, or of the last chunk or final response that has it; else None."""
        if not self.stream:
            return as_object(self.body).get(name)
        for event in reversed(self.own):
            value = as_object(event.value)
            for one in (value, as_object(value.get("response")), as_object(value.get("message"))):
                if one.get(name) is not None:
                    return one[name]
        return None

    @property
    def session(self) -> str | None:
        """The session that it names."""
        found = self.member("session_id")
        return found if isinstance(found, str) else None

    @property
    def usage(self) -> Mapping[str, Any]:
        """The usage that it reports; empty: none."""
        return as_object(self.member("usage"))

    @property
    def progress(self) -> list[Progress]:
        """The progress events of a stream."""
        return [
            Progress(at, value.get("round"), value.get("tool_name"), value.get("phase"), as_object(value.get("data")))
            for at, event in enumerate(self.events)
            if event.name == PROGRESS
            for value in objects_in([event.value])
        ]

    @property
    def files(self) -> list[dict[str, Any]]:
        """The files of a plain reply, or of a stream's file_produced events."""
        if not self.stream:
            return objects_in(self.member("files"))
        return objects_in([event.value for event in self.events if event.name == FILE])

    @property
    def records(self) -> Sequence[Mapping[str, Any]]:
        """The entries of agentic_tool_calls in a plain reply; none where it has no such member."""
        return objects_in(as_object(self.body).get("agentic_tool_calls"))

    def __str__(self) -> str:
        if self.broken:
            return f"a reply that broke off: {self.broken}"
        if self.error is not None:
            return f"an error, status {self.status}: {self.error[:300]}"
        if self.unstreamed:
            return f"no stream, status {self.status}: {self.unstreamed}"
        what = f"a stream of {len(self.events)} events" if self.stream else "a plain reply"
        return f"{what}, status {self.status}"


def media_type(headers: Mapping[str, str]) -> str:
    """The content type of a reply, in lower case and without parameters; empty: it has none."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def is_server_event(event: ServerEvent) -> bool:
    """Whether an event is one that the server adds to the wire's own."""
    return event.name in SERVER_EVENTS


def _kind(event: ServerEvent) -> str:
    return str(as_object(event.value).get("type") or event.name)
