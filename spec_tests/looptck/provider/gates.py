"""The gates for the events that checks wait for."""

from __future__ import annotations

from collections.abc import Callable

from looptck.provider.gate import Gate
from looptck.values.transcript import (
    Cancelled,
    Chunk,
    ConfirmAsked,
    Ended,
    Event,
    Received,
    ServerEvent,
    Told,
    ToolBegan,
    ToolEnded,
)

ABSENCE = 0.3
"""Seconds to wait for an event that a correct loop never causes: the only fixed delay apart from watchdogs."""


def caller_has(text: str) -> Gate:
    """Opens when the caller of the loop has received this text (all chunks so far joined)."""
    seen: list[str] = []

    def opens(event: Event) -> bool:
        if isinstance(event, Chunk):
            seen.append(event.text)
        return isinstance(event, Chunk) and text in "".join(seen)

    return Gate(f"the caller has received {text!r}", opens)


def caller_is_told_of_a_call() -> Gate:
    """Opens when the caller of the loop is told of a call; not every loop tells it before the end."""
    gate = Gate("the caller is told of a call", lambda event: isinstance(event, Told) and event.event["kind"] == "call")
    gate.patience, gate.if_ever = 2.0, True
    return gate


def tool_began(tool: str, times: int = 1) -> Gate:
    """Opens when the tool has been started this many times."""
    return _counting(
        f"tool {tool} has started {times} times", times, lambda e: isinstance(e, ToolBegan) and e.tool == tool
    )


def tool_begins_too_early(tool: str) -> Gate:
    """As `tool_began`, if a correct loop does not open the gate."""
    gate = tool_began(tool)
    gate.patience, gate.if_ever = ABSENCE, True
    return gate


def tool_begins_if_ever(tool: str, times: int) -> Gate:
    """As `tool_began`, but with a short patience, for a loop that may begin the tool only after the held stream.

    The patience is kept to its end: a loop that starts calls a moment after each other rests in between.
    """
    gate = tool_began(tool, times)
    gate.patience, gate.of_silence = 2 * ABSENCE, True
    return gate


def tools_began(times: int) -> Gate:
    """Opens when this many tool runs have begun, in all runs that use the gate."""
    return _counting(f"{times} tool runs have begun", times, lambda e: isinstance(e, ToolBegan))


def phase_sent(phase: str, times: int = 1) -> Gate:
    """Opens when a server's client has read this many progress events of a phase."""
    return _counting(
        f"the client has read {times} {phase} event{'s' if times > 1 else ''}",
        times,
        lambda e: isinstance(e, ServerEvent) and isinstance(e.value, dict) and e.value.get("phase") == phase,
    )


def tool_ended(tool: str, times: int = 1) -> Gate:
    """Opens when the toolbox has answered this many runs of the tool, and the loop had time to read the answer."""
    gate = _counting(
        f"tool {tool} has ended {times} times", times, lambda e: isinstance(e, ToolEnded) and e.tool == tool
    )
    gate.taken_in = True
    return gate


def confirmation_asked(tool: str, times: int = 1) -> Gate:
    """Opens when the confirmation hook has been asked this many times about calls of the tool."""
    return _counting(
        f"the confirmation hook was asked about {tool} {times} times",
        times,
        lambda e: isinstance(e, ConfirmAsked) and tool in {e.call.get("_tool"), e.call.get("name")},
    )


def run_ended(*behind: str) -> Gate:
    """Opens when the caller of the loop has the outcome; with a short patience, as a loop may wait for the held part.

    Args:
        behind: tools that may be held too; the run cannot end while one is running, so that time does not count.
    """
    at_work = 0

    def opens(event: Event) -> bool:
        nonlocal at_work
        if isinstance(event, ToolBegan | ToolEnded) and event.tool in behind:
            at_work += 1 if isinstance(event, ToolBegan) else -1
        return isinstance(event, Ended)

    ended = Gate("the run has ended", opens, patience=3 * ABSENCE, of_silence=True, if_ever=True)
    ended.not_while = lambda: at_work > 0
    return ended


def cancelled_run_ended(*, of_a_tool: bool = False) -> Gate:
    """Opens when the run that is held here has ended, after it was cancelled; the time before that does not count.

    Args:
        of_a_tool: a loop may wait for the tool that is held; so the wait ends once the run is cancelled and the
            implementation is at rest.
    """
    cancelled = False

    def opens(event: Event) -> bool:
        nonlocal cancelled
        cancelled = cancelled or isinstance(event, Cancelled)
        return isinstance(event, Ended)

    gate = Gate("the cancelled run has ended", opens, not_while=lambda: not cancelled)
    if of_a_tool:
        gate.patience, gate.if_ever = 2.0, True
    return gate


def taken_in() -> Gate:
    """Is open from the start: what waits here goes on when the implementation has read what it was sent."""
    gate = Gate("the implementation has read what it was sent", taken_in=True)
    gate.open()
    return gate


def tools_ended(times: int) -> Gate:
    """Opens when this many tool runs have ended, and the loop had time to read their answers."""
    gate = _counting(f"{times} tool runs have ended", times, lambda e: isinstance(e, ToolEnded))
    gate.taken_in = True
    return gate


def opener(gate: Gate) -> Callable[[Event], None]:
    """A watcher that opens a gate of another run at the first model request of its run."""

    def watch(event: Event) -> None:
        if isinstance(event, Received):
            gate.open()

    return watch


def _counting(name: str, times: int, wanted: Callable[[Event], bool]) -> Gate:
    count = 0

    def opens(event: Event) -> bool:
        nonlocal count
        count += wanted(event)
        return count >= times

    return Gate(name, opens)
