"""Receipts: the conversation of a failed run as data for a page, with the first wrong event and its place marked.

A receipt has no times, addresses or ids of runs, so that two runs of one loop give the same one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from looptck.bench.run import Run
from looptck.failures.deltas import deltas, encoding_of
from looptck.failures.outline import outline
from looptck.failures.signs import first_difference, first_wrong
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
    Received,
    Replied,
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


def receipt(runs: Sequence[Run]) -> list[dict[str, Any]] | None:
    """The steps of the run in which the first wrong event happened, as JSON; None if nothing ran."""
    if not runs:
        return None
    run = next((one for one in reversed(runs) if first_wrong(one) is not None), runs[-1])
    steps = [*_Telling(run).steps()]
    if len(steps) > MOST_STEPS:
        half = MOST_STEPS // 2
        middle = [one for one in steps[half:-half] if one.wrong]
        gap = Step("kit", f"{len(steps) - MOST_STEPS - len(middle)} steps are left out")
        steps = [*steps[:half], *middle, gap, *steps[-half:]]
    return [step.serializable() for step in steps]


@dataclass(slots=True)
class _Telling:
    """A run while it becomes steps."""

    run: Run
    before: Mapping[str, Any] = field(default_factory=dict)
    """The body of the last request."""

    def steps(self) -> Iterator[Step]:
        wrong = first_wrong(self.run)
        for kind, group in groupby(self.run.transcript.events, key=type):
            events: list[Event] = list(group)
            if kind is ToolBegan:
                events.sort(key=lambda one: json.dumps([one.tool, one.arguments], default=str))  # type: ignore[union-attr]
            if kind is Chunk:
                yield _chunks(events)
                continue
            for event in events:
                step = self._step(event)
                if step is not None:
                    if wrong is not None and event is wrong[0] and step.wrong is None:
                        step.wrong = ", ".join(wrong[1])
                    yield step

    def _step(self, event: Event) -> Step | None:
        match event:
            case Received():
                return self._request(event)
            case Replied():
                return self._reply(event)
            case ToolBegan():
                return Step("tool", f"{event.tool} runs", [shortened(event.arguments, LONGEST)])
            case ToolEnded():
                said = event.answer.get("error") or event.answer.get("value")
                how = "raises" if "error" in event.answer else "returns"
                return Step("tool", f"{event.tool or 'a tool'} {how}", [shortened(said, LONGEST)])
            case HungUp():
                return Step("loop", f"closes the connection within reply {event.n}")
            case Cancelled():
                return Step("caller", "cancels the run")
            case ConfirmAsked():
                return Step("loop", "asks whether this call may run", [shortened(event.call, LONGEST)])
            case ConfirmAnswered():
                return Step("caller", "answers", [shortened(event.decision, LONGEST)])
            case UnroutedRequest():
                return Step("loop", f"asks an unknown route: {event.method} {event.path}")
            case Ended():
                return Step("loop", f"the run ends as {_kind(event)}", [shortened(event.outcome, LONGEST)])
        return None

    def _request(self, event: Received) -> Step:
        """Only what is new since the last request, unless the place of the fault is in the rest."""
        wrong, pointer = self._fault(event)
        if not isinstance(event.body, dict):
            return Step("loop", f"request {event.n}", [cut(event.raw.decode(errors="replace"), LONGEST)], wrong=wrong)
        lines = list(outline(event.body, self.before, pointer))
        self.before = event.body
        marked = [number for number, line in enumerate(lines) if line.marked]
        return Step(
            "loop", f"request {event.n}: POST {_OWN.sub('', event.path)}", [line.text for line in lines], marked, wrong
        )

    def _fault(self, event: Received) -> tuple[str | None, str]:
        """What is wrong with a request and where, if it is the first wrong event."""
        first = first_wrong(self.run)
        if first is None or first[0] is not event:
            return None, ""
        if first[1][0] == "history" and (found := first_difference(self.run)) is not None:
            return f"expected: {found[1].expected}; sent: {found[1].got}", found[1].pointer
        if event.problems:
            return f"the service refuses it: {event.problems[0].message}", event.problems[0].pointer
        return ", ".join(first[1]), ""

    def _reply(self, event: Replied) -> Step:
        title = f"reply {event.n}: {event.status}, {event.what}"
        turn = self.run.turns.get(event.n)
        if event.stream:
            unusual = encoding_of(event.stream)
            lines = [*deltas(event.stream, self.run.cell.wire, MOST_DELTAS), *([f"({unusual})"] if unusual else [])]
        elif turn is not None and event.what == "a turn":
            lines = [*_spoken(turn)]
        else:
            lines = event.body.decode(errors="replace").splitlines()[:MOST_DELTAS]
        return Step("service", title, lines)


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


def _chunks(events: Sequence[Event]) -> Step:
    text = "".join(event.text for event in events if isinstance(event, Chunk))
    return Step("caller", "receives", [json.dumps(text, ensure_ascii=False)])


def _kind(event: Ended) -> str:
    kind = serializable(event.outcome)["kind"]
    return {"value": "an answer", "failed": "an error", "suspended": "suspended", "nothing": "a hang"}[kind]


def _clean(text: str) -> str:
    return steady(printable(cut(text, LONGEST)))
