"""A turn as an event stream to be sent: with its fault applied, and with gates between the writes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, dropwhile, pairwise
from operator import itemgetter

from looptck.provider import faults
from looptck.provider.encoded import Encoder
from looptck.provider.gate import Gate
from looptck.provider.habits import Habits, Place
from looptck.provider.replies import written
from looptck.provider.script import Hold, Recorded, Step
from looptck.values.framing import DEFAULT
from looptck.values.jsontext import compact, parsed
from looptck.values.turns import Call, Piece, Turn
from looptck.wires import Wire
from looptck.wires.fragments import parts

_BLOCK = re.compile(rb".*?(?:\r\n\r\n|\n\n|\r\r)", re.DOTALL)
"""An event with the blank line that ends it, whatever ends the lines."""


@dataclass(slots=True)
class Stream:
    """The body of a streamed reply."""

    parts: list[bytes | Gate]
    """The writes and the gates between them."""
    broken: bool
    """Whether the connection breaks after the last."""
    own: Gate | None = None
    """The gate that `Habits` has added."""

    @property
    def writes(self) -> tuple[bytes, ...]:
        """The parts without the gates."""
        return tuple(part for part in self.parts if isinstance(part, bytes))


def streamed(wire: Wire, turn: Turn, n: int, step: Step, habits: Habits | None, encoder: Encoder) -> Stream:
    """The stream of a turn that answers the ``n``-th request.

    If a fault or the stop reason invalidates a turn with calls, the stream is held right before that; see `Habits`.
    """
    if step.fault is None and not step.holds and (turn.stopped == "calls" or not turn.calls):  # most streams, and fast
        return Stream(written(step.framing, encoder.stream(turn, n, step.framing)), broken=False)
    whole = wire.events(turn, n, step.framing)
    end = before_the_end(wire, whole)
    events = _broken(wire, whole, end, step.fault)
    encoded = list(step.framing.encode_each(events, named=wire.named_events))
    borders = [0, *accumulate(map(len, encoded))]
    lost_at: int | None = None if turn.stopped == "calls" else end
    cut: int | None = None
    match step.fault:
        case faults.Malformed(at):
            encoded[at] = _malformed(encoded[at])
            lost_at = at
        case faults.NoFinish():
            lost_at = end
        case faults.ErrorEvent(after):
            lost_at = end if after is None else after
        case faults.Cut():
            cut = _cut(step.fault, turn, step, events, borders, end)
            lost_at = sum(border <= cut for border in borders) - 1
    holds = [(_place(wire, turn, step, events, end, hold), hold.gate) for hold in step.holds]
    own = None
    if habits is not None and lost_at is not None and not holds and _calls_something(turn, events[:lost_at]):
        own = habits.gate(Place(wire.name, step.framing, _calls_and_behind(turn), end - lost_at))
        holds += [(lost_at, own)] if own is not None else []
    return Stream(_parts(encoded, cut, holds, step), cut is not None, own)


def _parts(encoded: list[bytes], cut: int | None, holds: list[tuple[int, Gate]], step: Step) -> list[bytes | Gate]:
    parts: list[bytes | Gate] = []
    sent = 0
    for after, gate in sorted(holds, key=itemgetter(0)):
        parts += [b"".join(encoded[sent:after]), gate]
        sent = after
    rest = b"".join(encoded[sent:])
    if cut is not None:
        return [*parts, rest[: cut - len(b"".join(encoded[:sent]))]]
    return [*parts, *written(step.framing, rest)]


def before_the_end(wire: Wire, events: Sequence[object]) -> int:
    """The number of events before the first one with the finish reason."""
    kept = wire.without_finish(list(events))
    return next((at for at, event in enumerate(events) if at >= len(kept) or event is not kept[at]), len(events))


def without_usage(wire: Wire, reply: Recorded) -> Recorded:
    """A recorded stream without its event of usage, on wires where the service sends it only if it is asked for."""
    for block in _BLOCK.finditer(reply.body):
        if wire.is_usage(_event(block[0])):
            start, stop = block.span()
            ends = dict.fromkeys(min(end, max(start, end - (stop - start))) for end in reply.ends)
            return replace(reply, body=reply.body[:start] + reply.body[stop:], ends=tuple(ends))
    return reply


def recorded(wire: Wire, turn: Turn | None, reply: Recorded, habits: Habits | None) -> Stream:
    """A recorded stream in its chunks. In an invalid turn, the chunk with the finish reason is split for the gate."""
    ends = reply.ends or (len(reply.body),)
    end = None
    gate = None
    if habits is not None and turn is not None and turn.calls and turn.stopped != "calls":
        end = _end_of_recorded(wire, reply.body)
    if habits is not None and turn is not None and end is not None:
        gate = habits.gate(Place(wire.name, DEFAULT, _calls_and_behind(turn), 0))
    if end is None or gate is None:
        return Stream([reply.body[start:stop] for start, stop in pairwise((0, *ends))], reply.broken)
    before = (0, *(stop for stop in ends if stop < end), end)
    behind = (end, *(stop for stop in ends if stop > end))
    parts: list[bytes | Gate] = [reply.body[start:stop] for start, stop in pairwise(before)]
    parts += [gate, *(reply.body[start:stop] for start, stop in pairwise(behind))]
    return Stream(parts, reply.broken, gate)


def _end_of_recorded(wire: Wire, body: bytes) -> int | None:
    """The number of bytes before the first event with the finish reason; None if it is unknown."""
    blocks = [block + b"\n\n" for block in body.split(b"\n\n")]
    events = [_event(block) for block in blocks]
    try:
        place = before_the_end(wire, events)
    except (LookupError, TypeError):
        return None
    return sum(map(len, blocks[:place])) if place < len(events) - 1 else None


def _event(block: bytes) -> object:
    data = [line.removeprefix(b"data:").strip() for line in block.split(b"\n") if line.startswith(b"data:")]
    event = parsed(b"\n".join(data))
    return "" if event is None else event


def _place(wire: Wire, turn: Turn, step: Step, events: list[object], end: int, hold: Hold) -> int:
    """The number of events that are sent before the gate of a hold."""
    if hold.after is None:
        return end
    if isinstance(hold.after, int):
        return hold.after
    text = ""
    for place, event in enumerate(events, 1):
        text += wire.text(event)
        if hold.after in text:
            return place
    if turn.calls:
        return _place_in_arguments(turn.calls[-1].arguments, hold.after, step, events, end)
    raise ValueError(f"the stream does not contain {hold.after!r}, after which it should be held")


def _place_in_arguments(arguments: str, text: str, step: Step, events: list[object], end: int) -> int:
    """The number of events until the arguments of a call have this text, which an answer is said in."""
    pieces = list(parts(arguments, step.framing.fragment))
    wanted = json.dumps(text, ensure_ascii=False)[1:-1]
    most = next((n for n in range(1, len(pieces)) if wanted in "".join(pieces[:n])), len(pieces))
    sent = 0
    for place, event in enumerate(events[:end], 1):
        sent += json.dumps(pieces[sent], ensure_ascii=False).encode() in compact(event)
        if sent == most:
            return place
    return end


def _broken(wire: Wire, events: list[object], end: int, fault: faults.Fault | None) -> list[object]:
    """The events of a stream with its fault applied."""
    match fault:
        case faults.NoFinish(done):
            kept = wire.without_finish(events)
            return kept if done else [event for event in kept if not isinstance(event, str)]
        case faults.ErrorEvent(after, message):
            before = events[: end if after is None else after]
            return [*before, *wire.error_events(before, message)]
        case _:
            return events


def _cut(fault: faults.Cut, turn: Turn, step: Step, events: list[object], borders: list[int], end: int) -> int:
    """The number of bytes that are sent before the connection breaks."""
    match fault.place:
        case None:
            return int(borders[-1] * fault.share)
        case "last-piece":
            at = _last_piece(turn, step, events, end)
        case "before-finish":
            return borders[end]
        case "finish":
            at = end
    return (borders[at] + borders[at + 1]) // 2


def _last_piece(turn: Turn, step: Step, events: list[object], end: int) -> int:
    """The index of the event with the last piece of the last call's arguments, or else of the text.

    Where no event consists of that piece, as with whole calls in one delta, it is the one before the finish.
    """
    said = turn.calls[-1].arguments if turn.calls else turn.text or ""
    last = json.dumps([*parts(said, step.framing.fragment)][-1], ensure_ascii=False).encode()
    return next((place for place, event in enumerate(events) if last in compact(event)), max(end - 1, 0))


def _malformed(event: bytes) -> bytes:
    """The event with its name, and with truncated JSON as data."""
    before, field, data = event.partition(b"data:")
    return before + field + b' {"id":"looptck-' + data[len(data.rstrip()) :]


def _calls_something(turn: Turn, events: list[object]) -> bool:
    """Whether these events contain a part of a call of the turn."""
    ids = [json.dumps(call.id, ensure_ascii=False).encode() for call in turn.calls[:1]]
    return any(id in compact(event) for event in events for id in ids)


def _calls_and_behind(turn: Turn) -> tuple[str, ...]:
    """The kinds of the turn's pieces from its first call on, and which calls are complete."""
    return tuple(map(_kind, dropwhile(lambda piece: not isinstance(piece, Call), turn.pieces)))


def _kind(piece: Piece) -> str:
    if not isinstance(piece, Call):
        return type(piece).__name__
    if not piece.arguments:
        return "unwritten"  # a loop may start such a call late that starts others early
    return "whole" if isinstance(parsed(piece.arguments.encode(errors="replace")), dict) else "half"
