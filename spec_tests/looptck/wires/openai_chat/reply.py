"""Reads a recorded reply of Chat Completions back into the turn that it says.

The service numbers calls by their ``index`` and names each once. What servers of this wire were seen to do instead is
read as well: no index, one index for several calls that their ids tell apart, ids in every delta, arguments as an
object; and members that are null or left out, which the service's own types allow. Of several choices the first counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from looptck.turns import Call, Piece, Refusal, Stop, Text, Turn
from looptck.wires.received import events

_STOPS: dict[str, Stop] = {
    "stop": "end",
    "tool_calls": "calls",
    "length": "length",
    "content_filter": "content_filter",
}


@dataclass(slots=True)
class _Call:
    """A call of which more may come."""

    index: int | None
    id: str | None
    custom: bool
    name: str = ""
    arguments: str = ""

    def add(self, part: dict[str, Any]) -> None:
        """What a delta, or a whole call, says of it."""
        said = part.get("custom" if self.custom else "function") or {}
        arguments = said.get("input" if self.custom else "arguments")
        self.name += said.get("name") or ""
        if arguments is not None:
            self.arguments += arguments if isinstance(arguments, str) else json.dumps(arguments)


def turn(text: str, stream: bool) -> Turn:
    """The turn in a body, plain or an event stream. Raises what reading foreign JSON raises where it says none."""
    choices = list(_choices(events(text) if stream else [json.loads(text)]))
    messages = [choice.get("delta") or {} if stream else choice["message"] for choice in choices]
    if any((message.get("function_call") or {}).get("name") for message in messages):
        raise ValueError("no piece of a turn stands for a function_call, which tool_calls have replaced")
    pieces: list[Piece] = []
    content, refusal = _said(messages, "content"), _said(messages, "refusal")
    if content or (content is not None and not stream):
        pieces.append(Text(content))
    if refusal:
        pieces.append(Refusal(refusal))
    parts = [part for message in messages for part in message.get("tool_calls") or ()]
    calls = _joined(parts) if stream else _joined({"index": place, **part} for place, part in enumerate(parts))
    pieces += [Call(call.name, call.arguments, call.id, call.custom) for call in calls]
    return Turn(tuple(pieces), _stop(choices))


def _choices(bodies: Iterable[Any]) -> Iterable[dict[str, Any]]:
    """What each body, a chunk or the whole, says of the first choice."""
    for body in bodies:
        if body.get("error"):
            raise ValueError(f"the reply is an error, or breaks off with one: {body['error']}")
        yield from (choice for choice in body["choices"] if not choice.get("index"))


def _stop(choices: list[dict[str, Any]]) -> Stop:
    finish = next((choice["finish_reason"] for choice in choices if choice.get("finish_reason")), None)
    if finish not in _STOPS:
        raise ValueError(f"the finish_reason is {finish!r}, and none of {', '.join(_STOPS)}")
    return _STOPS[finish]


def _said(messages: list[dict[str, Any]], name: str) -> str | None:
    texts = [message[name] for message in messages if message.get(name) is not None]
    return "".join(texts) if texts else None


def _joined(parts: Iterable[dict[str, Any]]) -> list[_Call]:
    """The calls that these parts make. A part belongs to the last call of its index, if its id is not another's."""
    calls: list[_Call] = []
    for part in parts:
        index, id = part.get("index"), part.get("id") or None
        same = (call for call in reversed(calls) if call.index == index and id in {None, call.id})
        call = next(same, None)
        if call is None:
            call = _Call(index, id, part.get("type") == "custom")
            calls.append(call)
        call.add(part)
    return calls
