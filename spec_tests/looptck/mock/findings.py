"""What is wrong with a run of a mock, in words: the request, the place, the rule, and the service's own error."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from looptck.mock.answers import Answer, Item
from looptck.mock.requests import Request
from looptck.provider.script import Step
from looptck.values.frozen import dataclass
from looptck.values.plain import amount, cut, plain
from looptck.values.turns import Turn
from looptck.wires.rules import RULES

Kind = Literal["refused", "beyond", "unplayed", "unrouted", "waited", "error"]
"""``refused``: the service would refuse a request; ``beyond``: a request came after the end of the script;
``unplayed``: answers are left; ``unrouted``: a request to a route that there is not, or that was not read; ``waited``:
a gate was never opened; ``error``: a function of the test has raised, or an answer cannot be sent on a wire."""

KINDS: tuple[Kind, ...] = ("refused", "beyond", "unplayed", "unrouted", "waited", "error")
SERVICES = {
    "openai-chat": "OpenAI Chat Completions",
    "openai-responses": "OpenAI Responses",
    "anthropic-messages": "Anthropic Messages",
}
MOST_MESSAGES = 12
MOST_LEFT = 5
SHORT = 160


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong."""

    kind: Kind
    text: str
    number: int | None = None
    """The number of the request that it is about; None: of none."""


def refused(request: Request) -> Finding:
    """A request that the service would refuse."""
    first, *others = request.refused_for
    rules = RULES[request.wire]
    lines = [
        f"request {request.number} would be refused by {SERVICES[request.wire]} with status {first.status}:",
        f"    {first.reported}",
        f"  at {first.pointer or '/'}: {_there(request.body, first.pointer)}",
        f"  rule {first.rule}: {rules.get(first.rule, '')}".rstrip(": "),
        *(f"  also, at {one.pointer or '/'}: {one.reported}" for one in others[:3]),
        *_shown(request),
    ]
    return Finding("refused", "\n".join(lines), request.number)


def beyond(request: Request, played: int) -> Finding:
    """A request for which the script has no answer."""
    match played:
        case 0:
            had = "the script has no answer"
        case 1:
            had = "the one answer of the script was played"
        case _:
            had = f"all {played} answers of the script were played"
    lines = [f"request {request.number} came when {had}:", *_shown(request)]
    return Finding("beyond", "\n".join(lines), request.number)


def unplayed(left: Sequence[Item | Step], requests: int) -> Finding:
    """Answers that were never played."""
    were = "was" if len(left) == 1 else "were"
    lines = [f"{len(left)} of the script's answers {were} not played, after {amount(requests, 'request')}:"]
    lines += [f"  {described(one)}" for one in left[:MOST_LEFT]]
    lines += [f"  and {len(left) - MOST_LEFT} more"] if len(left) > MOST_LEFT else []
    return Finding("unplayed", "\n".join(lines))


def described(item: Item | Step) -> str:
    """An answer of a script in one line."""
    if isinstance(item, Answer):
        item = item.step
    if isinstance(item, str):
        return f"says {plain(item, SHORT)}"
    if not isinstance(item, Step):
        return f"the function {getattr(item, '__qualname__', repr(item))}"
    fault = f" with the fault {plain(item.fault, SHORT)}" if item.fault is not None else ""
    return f"{said(item.turn)}{fault}".strip() if item.turn is not None else plain(item.fault, SHORT)


def said(turn: Turn) -> str:
    """A turn of the model in one line."""
    parts = [f"says {plain(turn.text, SHORT)}"] if turn.text else []
    parts += [f"refuses {plain(turn.refusal, SHORT)}"] if turn.refusal else []
    parts += [f"calls {call.tool}({cut(call.arguments, SHORT)})" for call in turn.calls]
    return ", ".join(parts) or "says nothing"


def _there(body: Any, pointer: str) -> str:
    """What is at a place of a body, in short."""
    for escaped in pointer.split("/")[1:]:
        step = escaped.replace("~1", "/").replace("~0", "~")
        if isinstance(body, list) and step.isdigit() and int(step) < len(body):
            body = body[int(step)]
        elif isinstance(body, dict) and step in body:
            body = body[step]
        else:
            return "nothing is there"
    return cut(json.dumps(body, ensure_ascii=False), SHORT)


def _shown(request: Request) -> Iterator[str]:
    yield f"  the request: POST {request.path}, model {request.model or '?'}{', stream' if request.stream else ''}"
    if request.tools:
        yield f"    offers {', '.join(tool.name for tool in request.tools)}"
    messages = request.messages
    if len(messages) > MOST_MESSAGES:
        yield f"    … {len(messages) - MOST_MESSAGES} messages"
    yield from (f"    {one.pointer}  {one}" for one in messages[-MOST_MESSAGES:])
    if not messages:
        yield f"    {cut(request.raw.decode(errors='replace'), SHORT)}"
