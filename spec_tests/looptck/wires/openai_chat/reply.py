"""Decodes a recorded reply of Chat Completions into a turn.

The service numbers calls by their ``index`` and names each once. What servers of this wire were seen to do instead is
read as well: no index, one index for several calls that their ids tell apart, ids in every delta, arguments as an
object; a last delta under a new index that says nothing; and members that are null or left out, which the service's own
types allow. Of several choices the first counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from looptck.values.turns import Call, Piece, Refusal, Stop, Text, Turn
from looptck.wires.found import Found, NoTurn, body, written
from looptck.wires.received import events

_STOPS: dict[str, Stop] = {
    "stop": "end",
    "tool_calls": "calls",
    "length": "length",
    "content_filter": "content_filter",
}


@dataclass(slots=True)
class _Call:
    """A call that further deltas may extend."""

    index: Any
    id: str | None
    custom: bool
    name: str = ""
    arguments: str = ""

    def add(self, part: Found) -> None:
        """Add a delta, or a whole call."""
        said = part["custom" if self.custom else "function"]
        if said.nothing:
            return
        arguments = said["input" if self.custom else "arguments"]
        name = said["name"].text_if_any or ""
        if name != self.name or part["id"].nothing:  # a server that repeats the id repeats the name
            self.name += name
        if not arguments.nothing:
            self.arguments += arguments.value if isinstance(arguments.value, str) else written(arguments)


def turn(text: str, stream: bool) -> Turn:
    """The turn in a body, plain or an event stream. Raises NoTurn if there is none."""
    bodies = (event for event in events(text) if event.value is not None) if stream else [body(text)]
    choices = list(_choices(bodies, stream=stream))
    messages = [message for choice in choices for message in _message(choice, stream=stream)]
    for message in messages:
        called = message["function_call"]
        if not called.nothing and called["name"].text_if_any:
            raise called.but("tool_calls were expected in place of the deprecated function_call")
    pieces: list[Piece] = []
    content, refusal = _said(messages, "content"), _said(messages, "refusal")
    if content or (content is not None and not stream):
        pieces.append(Text(content))
    if refusal:
        pieces.append(Refusal(refusal))
    parts = [part for message in messages for part in message["tool_calls"].entries]
    calls = _joined(parts, numbered=not stream)
    pieces += [Call(call.name, call.arguments, call.id, call.custom) for call in calls]
    return Turn(tuple(pieces), _stop(choices))


def _choices(bodies: Iterable[Found], *, stream: bool) -> Iterable[Found]:
    """The first choice of each body (a chunk or the plain reply); a chunk may have no choice."""
    for one in bodies:
        if one["error"].value and not one["error"].nothing:
            raise one["error"].but("the reply is an error, or breaks off with one")
        choices = one["choices"].entries if stream else one["choices"]
        yield from (choice for choice in choices if choice["index"].nothing or not choice["index"].value)


def _message(choice: Found, *, stream: bool) -> Iterable[Found]:
    """The content of a choice: its message, or its delta if it has one."""
    if not stream:
        return [choice["message"]]
    return [] if choice["delta"].nothing else [choice["delta"]]


def _stop(choices: list[Found]) -> Stop:
    reasons = [choice["finish_reason"] for choice in choices]
    finish = next((reason for reason in reasons if reason.text_if_any), None)
    if finish is None:
        raise NoTurn(f"no finish_reason came; one of {', '.join(_STOPS)} was expected")
    if finish.text not in _STOPS:
        raise finish.but(f"a finish_reason that is one of {', '.join(_STOPS)} was expected")
    return _STOPS[finish.text]


def _said(messages: list[Found], name: str) -> str | None:
    texts = [text for message in messages if (text := message[name].text_if_any) is not None]
    return "".join(texts) if texts else None


def _joined(parts: Iterable[Found], *, numbered: bool) -> list[_Call]:
    """The calls that these parts form. A part belongs to the last call with its index, unless it has a different id.

    ``numbered``: a part without an index has its position as the index.
    """
    calls: list[_Call] = []
    for place, part in enumerate(parts):
        index = place if numbered and "index" not in part.fields else part.fields.get("index")
        id = part["id"].text_if_any or None
        same = (call for call in reversed(calls) if call.index == index and id in {None, call.id})
        call = next(same, None)
        if call is None and not numbered and _says_nothing(part):
            continue
        if call is None:
            call = _Call(index, id, part["type"].value == "custom")
            calls.append(call)
        call.add(part)
    return calls


def _says_nothing(part: Found) -> bool:
    """Whether a delta has neither an id nor a name nor arguments."""
    said = part["custom" if part["type"].value == "custom" else "function"]
    members = [part["id"], *([] if said.nothing else [said["name"], said["input"], said["arguments"]])]
    return all(member.nothing or member.value == "" for member in members)
