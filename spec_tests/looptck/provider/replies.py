"""Replies in one write, or in the pieces of a framing; and the content types of all replies."""

from __future__ import annotations

from typing import Any

from looptck.provider import faults
from looptck.provider.encoded import Encoder
from looptck.provider.http import HttpReply, head
from looptck.provider.script import Step
from looptck.values.jsontext import compact
from looptck.values.turns import Turn

Headers = list[tuple[str, str]]

JSON: Headers = [("content-type", "application/json")]
EVENTS: Headers = [("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache")]


def typed(headers: Headers, step: Step) -> Headers:
    """The headers of a reply, whose content type has the parameters of its step."""
    media = headers[0][1].partition(";")[0]
    return headers if step.type is None else [("content-type", media + step.type), *headers[1:]]


def plain(encoder: Encoder, n: int, turn: Turn, step: Step) -> HttpReply:
    """The ``n``-th reply, in one piece or in those of its framing."""
    body = encoder.plain(turn, n, step.framing)
    start = head(200, typed(JSON, step), length=len(body))
    if isinstance(step.fault, faults.Cut):
        return HttpReply([start + body[: int(len(body) * step.fault.share)]], then_close=True)
    pieces = step.framing.pieces(body)
    return HttpReply([start + pieces[0], *pieces[1:]])


def whole(status: int, body: Any, headers: Headers | None = None) -> HttpReply:
    """A reply in one write, whose body is JSON."""
    encoded = compact(body)
    return HttpReply([head(status, headers or JSON, length=len(encoded)) + encoded])
