"""What ended a run before it could do what was expected, as far as its reason does not say it: for its first line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from looptck.bench.run import Run
from looptck.failures.deltas import encoding_of
from looptck.failures.reasons import wrong_behind
from looptck.failures.signs import MISREAD, RENAMED, first_difference
from looptck.values.history import Asked, is_encoded_twice
from looptck.values.outcome import Failed, Value, shortened
from looptck.values.transcript import Replied

ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")
"""What an event of a stream ends in."""


def raised(run: Run, reason: str) -> Iterator[str]:
    """The error of the loop, or what the client of a server has met, unless the reason has it."""
    if not isinstance(run.outcome, Failed) or run.outcome.type in reason:
        return
    if run.reply is None:
        yield f"the loop {run.outcome}"
    elif run.outcome.message not in reason:
        yield f"what the client met: {run.outcome.message}"


def misread(run: Run, reason: str) -> Iterator[str]:
    """The call that the loop has read wrongly, as it came and as it went back, unless the reason has it."""
    found = wrong_behind(run, reason)
    if found is None or found[1] not in {MISREAD, RENAMED} or (first := first_difference(run)) is None:
        return
    received, difference = first
    item = next((one for one in received.request.items if one.pointer == difference.pointer), None)
    got, came = (call.removeprefix("call ") for call in (difference.got, difference.expected))
    if isinstance(item, Asked) and is_encoded_twice(item.arguments):
        yield f"request {received.n} sends back arguments that are encoded twice: a JSON text in which their JSON is"
    elif got not in reason:
        yield f"request {received.n} sends back {got}, where the turn had {came}"


def answered(run: Run, reason: str) -> Iterator[str]:
    """What the model is told of a call whose tool has never run, or that the loop has ended in place of running it."""
    if "actual tool runs" not in reason:
        return
    ran = {tool for tool, _ in run.tools_ran}
    for received in run.requests:
        called = {asked.id: asked.tool for asked in received.request.asked}
        for result in received.request.answers:
            if (tool := called.get(result.id)) is not None and tool not in ran:
                yield f"the model is told of {tool}: {shortened(result.text)}"
                return
    last = run.turns.get(len(run.requests))
    if isinstance(run.outcome, Value) and last is not None and last.calls:
        yield f"the loop {run.outcome}"


def sent(run: Run) -> Iterator[str]:
    """The first stream that was sent otherwise than most services send theirs, and how, if no tool has run."""
    if not run.cell.stream or run.ran:
        return
    for reply in run.transcript.events:
        unusual = _unusual(reply.stream) if isinstance(reply, Replied) and reply.stream else ""
        if unusual and isinstance(reply, Replied):
            yield f"reply {reply.n} was sent with {unusual}"
            return


def _unusual(writes: Sequence[bytes]) -> str:
    cut = "events cut into pieces" if any(not one.endswith(ENDS) for one in writes[:-1]) else ""
    return ", ".join(words for words in (encoding_of(writes), cut) if words)
