"""Receipts: the conversation of a failed run as data for a page, with the first wrong event and its place marked.

A receipt has no times, addresses or ids of runs, so that two runs of one loop give the same one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from looptck.bench.run import Run
from looptck.failures.deltas import deltas, encoding_of
from looptck.failures.outline import outline
from looptck.failures.reasons import wrong_behind
from looptck.failures.signs import Sign, first_difference
from looptck.values.frozen import dataclass
from looptck.values.outcome import serializable, shortened
from looptck.values.plain import cut
from looptck.values.printable import printable, steady
from looptck.values.transcript import (
    Cancelled,
    Chunk,
    ConfirmAnswered,
    ConfirmAsked,
    Ended,
    Event,
    HungUp,
    McpAsked,
    Received,
    Replied,
    Told,
    ToolBegan,
    ToolEnded,
    UnroutedRequest,
)
from looptck.values.turns import Call, Text, Turn

MOST_DELTAS = 12
"""The most lines of one stream."""
MOST_STEPS = 24
"""The most steps; those in the middle are left out."""
LONGEST = 300
"""The most characters of a line."""
_OWN = re.compile(r"^/c\d+(?=/)")
"""What makes the base URL of a run its own."""


@dataclass(slots=True)
class Step:
    """One thing that happened."""

    actor: str
    """Who did it: loop, service, tool, caller or kit."""
    title: str
    lines: Sequence[str] = ()
    marked: Sequence[int] = ()
    """The lines that show what is wrong, from 0."""
    wrong: str | None = None
    """What is wrong, if this is the first wrong event."""

    def serializable(self) -> dict[str, Any]:
        """As JSON, without what is empty."""
        found: dict[str, Any] = {"actor": self.actor, "title": _clean(self.title), "lines": [*map(_clean, self.lines)]}
        found |= {"marked": [*self.marked]} if self.marked else {}
        return found | ({} if self.wrong is None else {"wrong": _clean(self.wrong)})


TOLD = {
    *(Received, Replied, HungUp, UnroutedRequest, Cancelled, Ended),
    *(ToolBegan, ToolEnded, McpAsked, ConfirmAsked, ConfirmAnswered, Told),
}
"""The events that become a step each. Chunks that follow each other become one."""


def receipt(runs: Sequence[Run], reason: str = "") -> list[dict[str, Any]] | None:
    """The steps of the run with the first wrong event behind this reason, as JSON; None if nothing ran."""
    if not runs:
        return None
    found = ((run, wrong_behind(run, reason)) for run in reversed(runs))
    run, wrong = next((one for one in found if one[1] is not None), (runs[-1], None))
    return [step.serializable() for step in _Telling(run, *(wrong or (None, ()))).steps()]


@dataclass(frozen=True, slots=True)
class _Telling:
    """A run while it becomes steps."""

    run: Run
    wrong: Event | None
    """The first wrong event."""
    sign: Sign

    def steps(self) -> Iterator[Step]:
        """The first and the last steps, and the wrong one between them. Only these are written out."""
        told = [*_told(self.run.transcript.events)]
        if len(told) <= MOST_STEPS:
            yield from map(self._step, told)
            return
        half = MOST_STEPS // 2
        middle = [one for one in told[half:-half] if any(event is self.wrong for event in one)]
        yield from map(self._step, [*told[:half], *middle])
        yield Step("kit", "leaves out the steps between")
        yield from map(self._step, told[-half:])

    def _step(self, events: Sequence[Event]) -> Step:
        step = self._written(events)
        if step.wrong is None and any(event is self.wrong for event in events):
            step.wrong = ", ".join(self.sign)
        return step

    def _written(self, events: Sequence[Event]) -> Step:
        match events[0]:
            case Chunk() | Told():
                return _heard(events)
            case Received() as event:
                return self._request(event)
            case Replied() as event:
                return self._reply(event)
            case ToolBegan(tool=tool, arguments=arguments):
                return Step("tool", f"{tool} runs", [shortened(arguments, LONGEST)])
            case ToolEnded(tool=tool, answer=answer):
                said = answer.get("error") or answer.get("value")
                how = "raises" if "error" in answer else "returns"
                return Step("tool", f"{tool or 'a tool'} {how}", [shortened(said, LONGEST)])
            case HungUp(n=n):
                return Step("loop", f"closes the connection within reply {n}")
            case Cancelled():
                return Step("caller", "cancels the run")
            case ConfirmAsked(call=call):
                return Step("loop", "asks whether this call may run", [shortened(call, LONGEST)])
            case ConfirmAnswered(decision=decision):
                return Step("caller", "answers", [shortened(decision, LONGEST)])
            case UnroutedRequest() | McpAsked() as event:
                return _beside_the_model(event)
            case Ended() as event:
                return Step("loop", f"the run ends as {_kind(event)}", [shortened(event.outcome, LONGEST)])
            case event:
                raise TypeError(f"{type(event).__name__} is no step of a receipt")

    def _request(self, event: Received) -> Step:
        """Only what is new since the last request, unless the place of the fault is in the rest."""
        wrong, pointer = self._fault(event)
        if not isinstance(event.body, dict):
            return Step("loop", f"request {event.n}", [cut(event.raw.decode(errors="replace"), LONGEST)], wrong=wrong)
        lines = list(outline(event.body, self._before(event.n), pointer))
        marked = [number for number, line in enumerate(lines) if line.marked]
        return Step(
            "loop", f"request {event.n}: POST {_OWN.sub('', event.path)}", [line.text for line in lines], marked, wrong
        )

    def _before(self, n: int) -> Mapping[str, Any]:
        """The body of the request before; empty before the first."""
        bodies = (one.body for one in reversed(self.run.received) if one.n < n)
        return next((body for body in bodies if isinstance(body, dict)), {})

    def _fault(self, event: Received) -> tuple[str | None, str]:
        """What is wrong with a request and where, if it is the first wrong event."""
        if self.wrong is not event:
            return None, ""
        if self.sign[0] == "history" and (found := first_difference(self.run)) is not None:
            return f"expected: {found[1].expected}; sent: {found[1].got}", found[1].pointer
        if event.problems:
            return f"the service refuses it: {event.problems[0].reported}", event.problems[0].pointer
        return ", ".join(self.sign), ""

    def _reply(self, event: Replied) -> Step:
        title = f"reply {event.n}: {event.words}"
        turn = self.run.turns.get(event.n)
        if event.stream:
            unusual = encoding_of(event.stream)
            lines = [*deltas(event.stream, self.run.cell.wire, MOST_DELTAS), *([f"({unusual})"] if unusual else [])]
        elif turn is not None and event.what == "a turn":
            lines = [*_spoken(turn)]
        else:
            lines = event.body.decode(errors="replace").splitlines()[:MOST_DELTAS]
        return Step("service", title, lines)


def _told(events: Sequence[Event]) -> Iterator[list[Event]]:
    """The events of each step. Tools that begin one right after the other stand in the order of their calls' text."""
    for kind, group in groupby(events, key=type):
        if kind is Chunk:
            yield [*group]
        elif kind is ToolBegan:
            yield from ([event] for event in sorted(group, key=_called))
        elif kind in TOLD:
            yield from ([event] for event in group)


def _beside_the_model(event: UnroutedRequest | McpAsked) -> Step:
    if isinstance(event, McpAsked):
        return Step("loop", event.words)
    what = "sends what is not read" if event.why else "asks an unknown route"
    return Step("loop", f"{what}: {event.told}")


def _called(event: Event) -> str:
    """A call as text that orders equal sets of calls in the same way."""
    return json.dumps([event.tool, event.arguments], default=str) if isinstance(event, ToolBegan) else ""


def _heard(events: Sequence[Event]) -> Step:
    """What the caller got while the run went on: text, or one event."""
    if isinstance(events[0], Told):
        return Step("caller", "is told", [shortened(events[0].event, LONGEST)])
    text = "".join(event.text for event in events if isinstance(event, Chunk))
    return Step("caller", "receives", [json.dumps(text, ensure_ascii=False)])


def _spoken(turn: Turn) -> Iterator[str]:
    for piece in turn.pieces:
        match piece:
            case Text(text):
                yield f"text: {json.dumps(text, ensure_ascii=False)}"
            case Call(tool, arguments, id):
                yield f"call {id}: {tool}({arguments})"
            case _:
                yield type(piece).__name__.lower()
    yield f"stops with: {turn.stopped}"


def _kind(event: Ended) -> str:
    kind = serializable(event.outcome)["kind"]
    return {"value": "an answer", "failed": "an error", "suspended": "suspended", "nothing": "a hang"}[kind]


def _clean(text: str) -> str:
    return steady(printable(cut(text, LONGEST)))
