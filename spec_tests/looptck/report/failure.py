"""The text of one failure: the requirement, what went wrong, where it first went wrong, and how to see it again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from looptck.checks import Check
from looptck.drivers import reference
from looptck.outcome import shortened
from looptck.run import Run
from looptck.transcript import (
    Aside,
    Chunk,
    ConfirmAnswered,
    ConfirmAsked,
    Ended,
    Event,
    GaveUp,
    LostSpans,
    Received,
    Replied,
    Spanned,
    Stray,
    Told,
    ToolBegan,
    ToolEnded,
)
from looptck.verdicts import Result

MOST_EVENTS = 40
MOST_BYTES = 6_000
"""The most bytes of event streams that are shown."""


def told(
    driver: str,
    check: Check,
    result: Result,
    run: Run | None,
    error: BaseException | None,
    seen_by: Check | None = None,
) -> str:
    """The whole text, ending in a line to paste. ``seen_by`` is the check that was played, where it is another one."""
    requirement = check.requirement
    parts = [
        f"{result.verdict.upper()}  {requirement.id}  [{check.cell}]",
        f"  {requirement.level}  {requirement.text}",
        f"  source: {requirement.source}",
        f"  case: {check.case}",
        *_indented("  because: ", result.reason),
    ]
    for note in getattr(error, "__notes__", []):
        parts += _indented("  ", note)
    if run is not None:
        parts += _difference(run)
        parts += _problems(run)
        parts += _streams(run)
        parts += _tools(run)
        parts += _spans(run)
        parts += _timeline(run)
    parts.append(f"  again: {again(driver, seen_by or check)}")
    return "\n".join(parts)


def again(driver: str, check: Check) -> str:
    """The command that runs only this check."""
    words = ["looptck", "run"]
    if driver != reference([check.requirement.profile]):
        words += ["--driver", driver]
    words += ["--profile", check.requirement.profile, "--requirement", check.requirement.id]
    words += ["--cell", str(check.cell), "--case", check.case]
    return shlex.join(words)


def _indented(label: str, text: str) -> list[str]:
    first, *rest = text.splitlines() or [""]
    return [label + first, *(" " * len(label) + line for line in rest)]


def _difference(run: Run) -> Iterator[str]:
    found = run.first_difference()
    if found:
        received, difference = found
        yield f"  request {received.n} is the first that is not as it should be, at {difference.pointer}"
        yield f"    - {difference.expected}"
        yield f"    + {difference.got}"


def _problems(run: Run) -> Iterator[str]:
    for received in run.received:
        for problem in received.problems:
            yield f"  request {received.n} would be refused at {problem.pointer}: {problem.message} ({problem.rule})"


def _streams(run: Run) -> Iterator[str]:
    """The event streams of the run, where the framing may be what broke it. A property has shrunk them by now."""
    if not run.cell.stream:
        return
    replies = [event for event in run.transcript.events if isinstance(event, Replied) and event.stream]
    if sum(map(len, (piece for reply in replies for piece in reply.stream))) > MOST_BYTES:
        return
    for reply in replies:
        yield f"  the stream of reply {reply.n}, in {len(reply.stream)} writes:"
        for piece in reply.stream:
            yield from (f"    {line!r}"[:160] for line in piece.splitlines(keepends=True))
            if len(reply.stream) > 1:
                yield "    --- end of a write"


def _tools(run: Run) -> Iterator[str]:
    if not run.ran:
        yield "  tools that ran: none"
        return
    yield "  tools that ran:"
    for number, one in enumerate(run.ran, 1):
        answer = shortened(one.answer, 80) if one.answer is not None else "no answer yet"
        yield f"    {number}. {one.tool}({shortened(one.arguments, 80)}) → {answer}"


def _spans(run: Run) -> Iterator[str]:
    """The spans of a run that told of any."""
    if len(run.spans):
        yield "  spans, in ms since the first began:"
        yield from (f"    {line}" for line in run.spans.told())


def _timeline(run: Run) -> Iterator[str]:
    yield f"  what happened, in ms (run {run.id}):"
    events = run.transcript.events
    if len(events) > MOST_EVENTS:
        left_out = len(events) - MOST_EVENTS
        events = [*events[: MOST_EVENTS // 2], *events[-MOST_EVENTS // 2 :]]
        yield f"    ({left_out} events in the middle are left out)"
    yield from (f"    {event.at * 1000:8.1f}  {_event(event)}" for event in events)


def _event(event: Event) -> str:
    match event:
        case Received():
            late = "" if event.scripted else ", past the end of the script"
            size = len(event.request.items)
            return f"request {event.n}: {size} pieces of history, {len(event.raw)} bytes{late}"
        case Replied():
            return f"reply {event.n}: {event.status}, {event.what}"
        case ToolBegan():
            return f"tool run {event.run} begins: {event.tool}({shortened(event.arguments, 80)})"
        case ToolEnded():
            return f"tool run {event.run} ends"
        case ConfirmAsked() | ConfirmAnswered():
            return _confirmation(event)
        case Chunk():
            return f"the caller receives {shortened(event.text, 60)}"
        case Told():
            return f"the client receives {f'{event.name}: ' if event.name else ''}{shortened(event.value, 100)}"
        case GaveUp():
            return f"gate not opened in time: {event.gate}"
        case Aside() | Stray():
            return _beside(event)
        case Spanned():
            return f"a span comes: {shortened(event.span.name)}"
        case LostSpans():
            return f"spans are lost: {event.why}"
        case Ended():
            return f"the loop {event.outcome}"


def _confirmation(event: ConfirmAsked | ConfirmAnswered) -> str:
    if isinstance(event, ConfirmAsked):
        return f"question {event.question}, whether this may run: {shortened(event.call, 80)}"
    return f"question {event.question} is answered: {shortened(event.decision, 80)}"


def _beside(event: Aside | Stray) -> str:
    if isinstance(event, Aside):
        return f"a request beside the script: {event.method} {event.path}, answered with {event.answered}"
    return f"a request that nothing answers: {event.method} {event.path}"
