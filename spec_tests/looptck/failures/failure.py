"""The report of one failure: the requirement, the reason, the first wrong event, and the command that repeats it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from typing import Any

from looptck.bench.checks import Check
from looptck.bench.run import Run
from looptck.catalogue.requirements import Requirement
from looptck.drivers import reference
from looptck.failures.deltas import deltas, encoding_of
from looptck.failures.endings import answered, misread, raised, sent
from looptck.failures.reasons import is_behind
from looptck.failures.signs import first_difference
from looptck.values.outcome import shortened
from looptck.values.plain import MOST, amount, cut, plain
from looptck.values.transcript import (
    Cancelled,
    Chunk,
    ConfirmAnswered,
    ConfirmAsked,
    Ended,
    Event,
    GaveUp,
    HungUp,
    LostSpans,
    McpAsked,
    Received,
    Replied,
    ServerEvent,
    SideRequest,
    Spanned,
    Told,
    ToolBegan,
    ToolEnded,
    UnroutedRequest,
)
from looptck.values.verdicts import Result

MOST_EVENTS = 40
MOST_PIECES = 110
"""The most characters of chunks that came one after the other."""
MOST_DELTAS = 30
"""The most lines for one stream."""
MOST_LOGGED = 12
"""The most lines of a server's log."""
FEW = 6
"""The most lines of evidence if there are many failures."""


def render_failure(
    check: Check, result: Result, run: Run | None, line: str, example: Mapping[str, Any] | None = None
) -> str:
    """The report of one failure, ending in a command line; ``example`` are the values that fail a property."""
    requirement = check.requirement
    parts = [
        f"{result.verdict.upper()}  {requirement.id}  [{check.cell}]",
        f"  {weight(requirement)} {requirement.text}",
        f"  source: {requirement.source}",
        *(f"  not for loops that declare {one}" for one in requirement.excused_by),
        f"  case: {check.case}",
        *indented("  because: ", result.reason),
    ]
    if example:
        parts += indented("  with: ", "; ".join(f"{name}: {plain(value, MOST)}" for name, value in example.items()))
    if run is not None:
        parts += _difference(run, result.reason)
        parts += _problems(run, result.reason)
        parts += _streams(run, MOST_DELTAS)
        parts += _ends_of([*_tools(run)])
        parts += _spans(run)
        parts += _timeline(run)
        parts += _log(run)
    parts.append(f"  again: {line}")
    return "\n".join(parts)


def evidence(run: Run | None, reason: str = "") -> list[str]:
    """The best evidence in a run, in a few lines: a request or a stream, the tools that ran, an error.

    It does not repeat what the reason of the verdict says.
    """
    if run is None:
        return []
    found = list(_difference(run, reason)) or list(_problems(run, reason))[:2] or list(_streams(run, FEW))
    tools = list(_tools(run))
    few = tools if len(tools) <= FEW else [*tools[:FEW], "    … and more"]
    ended = [f"  {words}" for words in raised(run, reason)]
    return [*(cut(line, WIDE) for line in found), *(few if len(found) < FEW else []), *ended]


def ending(run: Run | None, reason: str = "") -> str:
    """What ended a run before it could do what was expected: a refusal, an error, a misread call, an unusual stream.

    It does not repeat what the reason of the verdict says, and is empty if there is nothing to add.
    """
    if run is None:
        return ""
    is_refused = any(received.problems for received in run.received)
    if is_refused:
        return next(_problems(run, reason), "").strip()
    words = [*sent(run), *islice(chain(raised(run, reason), misread(run, reason), answered(run, reason)), 1)]
    return "; ".join(words)


MOST_LINES = 60
"""The most lines from the beginning, and from the end, of what a run did."""
WIDE = 300
"""The most characters of a line of evidence."""


def weight(requirement: Requirement) -> str:
    """Level and impact."""
    return f"{requirement.level}, {requirement.impact}:" if requirement.impact else f"{requirement.level}:"


def again(driver: str, check: Check, given: Sequence[str] = ()) -> str:
    """The command that runs only this check, with the options that the run was given."""
    words = ["looptck", "run"]
    if driver != reference([check.requirement.profile]):
        words += ["--driver", driver]
    words += ["--profile", check.requirement.profile, "--requirement", check.requirement.id]
    words += ["--cell", str(check.cell), "--case", check.case, *given]
    return shlex.join(words)


def indented(label: str, text: str) -> list[str]:
    """A text after a label, with its further lines indented below the first."""
    first, *rest = text.removesuffix("\n").split("\n")
    return [label + first, *(" " * len(label) + line for line in rest)]


def _difference(run: Run, reason: str) -> Iterator[str]:
    """The first wrong request, if the reason can come from it."""
    found = first_difference(run)
    if found and is_behind(run, reason):
        received, difference = found
        yield f"  the first wrong request is request {received.n}, at {difference.pointer}"
        yield f"    - {difference.expected}"
        yield f"    + {difference.got}"


def _problems(run: Run, reason: str) -> Iterator[str]:
    """The refused requests, each rule once, without those that the reason names already."""
    seen = set()
    for received in run.received:
        for problem in received.problems:
            known = problem.rule in seen or (problem.message in reason and problem.pointer in reason)
            seen.add(problem.rule)
            if not known:
                where = f"request {received.n} {problem.refusal}"
                yield f"  {where}: {problem.reported} ({problem.rule})"


def _streams(run: Run, most: int) -> Iterator[str]:
    """The event streams of the run, whose framing may be the cause. Those of a property are shrunk already."""
    if not run.cell.stream:
        return
    left = most
    for reply in run.transcript.events:
        if isinstance(reply, Replied) and reply.stream and left > 0:
            lines = deltas(reply.stream, run.cell.wire, left)
            unusual = encoding_of(reply.stream)
            writes = amount(len(reply.stream), "write")
            yield f"  the stream of reply {reply.n}, in {writes}{f', with {unusual}' if unusual else ''}:"
            yield from (f"    {line}" for line in lines)
            left -= len(lines)


def _tools(run: Run) -> Iterator[str]:
    if not run.ran:
        yield "  tools that ran: none"
        return
    yield "  tools that ran:"
    for number, one in enumerate(run.ran, 1):
        answer = shortened(one.answer, 80) if one.answer is not None else "no answer yet"
        yield f"    {number}. {one.tool}({shortened(one.arguments, 80)}) → {answer}"


def _ends_of(lines: Sequence[str]) -> Sequence[str]:
    """The first and the last lines of many."""
    left = len(lines) - 2 * MOST_LINES
    return lines if left <= 1 else [*lines[:MOST_LINES], f"    … {left} lines", *lines[-MOST_LINES:]]


def _spans(run: Run) -> Iterator[str]:
    """The spans of the run, if it exported any."""
    if len(run.spans):
        yield "  spans, in ms since the first began:"
        yield from (f"    {line}" for line in run.spans.lines())


def _log(run: Run) -> Iterator[str]:
    """The last lines that the process of a server wrote during the run."""
    lines = [line for line in (run.log or "").splitlines() if line.strip()]
    if lines:
        yield "  what the server wrote to its log, at last:"
        yield from (f"    {cut(line, WIDE)}" for line in lines[-MOST_LOGGED:])


def _timeline(run: Run) -> Iterator[str]:
    yield f"  what happened, in ms (run {run.id}):"
    lines = [f"{event.at * 1000:8.1f}  {words}" for event, words in _happened(run.transcript.events)]
    if (left_out := len(lines) - MOST_EVENTS) > 1:
        half = MOST_EVENTS // 2
        lines = [*lines[:half], f"          ({left_out} events in the middle are omitted)", *lines[-half:]]
    yield from (f"    {line}" for line in lines)


def _happened(events: Sequence[Event]) -> Iterator[tuple[Event, str]]:
    """The events in words. Chunks between which nothing else happened are one."""
    for kind, group in groupby(events, key=type):
        chunks = [event for event in group if isinstance(event, Chunk)] if kind is Chunk else []
        if len(chunks) > 1:
            pieces = cut(" ".join(plain(chunk.text) for chunk in chunks), MOST_PIECES)
            took = (chunks[-1].at - chunks[0].at) * 1000
            yield chunks[0], f"the caller receives {amount(len(chunks), 'chunk')} in {took:.1f} ms: {pieces}"
        else:
            yield from ((event, _event(event)) for event in chunks or group)


def _event(event: Event) -> str:
    match event:
        case Received():
            late = "" if event.scripted else ", past the end of the script"
            size = len(event.request.items)
            return f"request {event.n}: {size} history items, {len(event.raw)} bytes{late}"
        case Replied():
            return f"reply {event.n}: {event.words}"
        case ToolBegan():
            return f"tool run {event.run} begins: {event.tool}({shortened(event.arguments, 80)})"
        case ToolEnded():
            return f"tool run {event.run} ends"
        case HungUp() | Cancelled() | GaveUp():
            return _not_waited_for(event)
        case ConfirmAsked() | ConfirmAnswered():
            return _confirmation(event)
        case Chunk():
            return f"the caller receives {'nothing' if event.absent else shortened(event.text, 60)}"
        case Told() | ServerEvent():
            return _heard(event)
        case SideRequest() | UnroutedRequest() | McpAsked():
            return _unscripted(event)
        case Spanned():
            return f"span received: {shortened(event.span.name)}"
        case LostSpans():
            return f"spans lost: {event.why}"
        case Ended():
            return f"the loop {event.outcome}"


def _heard(event: Told | ServerEvent) -> str:
    if isinstance(event, Told):
        return f"the caller is told: {shortened(event.event, 100)}"
    return f"the client receives {f'{event.name}: ' if event.name else ''}{shortened(event.value, 100)}"


def _not_waited_for(event: HungUp | Cancelled | GaveUp) -> str:
    match event:
        case HungUp():
            return f"the loop closes the connection within reply {event.n}"
        case Cancelled():
            return "the caller cancels the run"
        case GaveUp():
            return f"waited in vain until {event.gate}"


def _confirmation(event: ConfirmAsked | ConfirmAnswered) -> str:
    if isinstance(event, ConfirmAsked):
        return f"question {event.question}, may this call run: {shortened(event.call, 80)}"
    return f"question {event.question} is answered: {shortened(event.decision, 80)}"


def _unscripted(event: SideRequest | UnroutedRequest | McpAsked) -> str:
    if isinstance(event, McpAsked):
        return event.words
    if isinstance(event, SideRequest):
        return f"a request outside the script: {event.method} {event.path}, answered with {event.answered}"
    return f"a request {'that was not read' if event.why else 'to an unknown route'}: {event.told}"
