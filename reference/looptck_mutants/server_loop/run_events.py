"""The events of a stream before and after each execution: `events_before`, `events_after`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.events import Event, Progress
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.values import Called, Record


@breaks("server-calling-comes-before-the-run", cells=CHAT_STREAM)
class CallingComesLate(ServerLoop):
    """Sends `calling` only after the tool has run."""

    def events_before(self, called: Called) -> Sequence[Event]:
        return []

    def events_after(self, record: Record) -> Sequence[Event]:
        return [*super().events_before(record.called), *super().events_after(record)]


@breaks(
    "server-calling-carries-the-arguments",
    collateral={"server-plain-and-stream-record-alike": "a record has arguments that are missing in the event"},
    cells=CHAT_STREAM,
)
class CallingHasFlatArguments(ServerLoop):
    """Omits arguments that are arrays or objects from `calling`."""

    def events_before(self, called: Called) -> Sequence[Event]:
        return [_flat(event) if isinstance(event, Progress) else event for event in super().events_before(called)]


def _flat(event: Progress) -> Progress:
    arguments = event.data.get("arguments")
    if not isinstance(arguments, dict):
        return event
    kept = {name: value for name, value in arguments.items() if not isinstance(value, dict | list)}
    return replace(event, data={**event.data, "arguments": kept})


@breaks(
    "server-complete-follows-each-run",
    collateral={
        (
            "server-failing-tool-counts-as-a-round",
            "server-files-come-before-complete",
            "server-plain-and-stream-record-alike",
            "server-progress-stands-around-each-run",
            "server-rounds-are-numbered-from-zero",
        ): "later rounds have no `complete` event"
    },
    cells=CHAT_STREAM,
)
class OnlyTheFirstRunIsComplete(ServerLoop):
    """Sends a `complete` event only in the first round."""

    def events_after(self, record: Record) -> Sequence[Event]:
        return [one for one in super().events_after(record) if not (self.round and isinstance(one, Progress))]


@breaks("server-complete-carries-the-result", cells=CHAT_STREAM)
class CompleteIsAscii(ServerLoop):
    """Removes characters beyond ASCII from results in `complete`."""

    def events_after(self, record: Record) -> Sequence[Event]:
        text = record.result.content.encode("ascii", "ignore").decode()
        return super().events_after(replace(record, result=replace(record.result, content=text)))
