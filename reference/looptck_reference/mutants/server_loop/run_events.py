"""What a stream tells around each run: `told_before`, `told_after`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_reference.mutants.mutant import CHAT_STREAM, because
from looptck_reference.mutants.server_loop.mutant import ServerMutant
from looptck_reference.server.events import Event, Progress
from looptck_reference.server.loop import AgentLoop
from looptck_reference.server.serving import Simulator
from looptck_reference.server.values import Called, Record


class CallingComesLate(ServerMutant):
    """Tells that a tool is called when it has run: `server-calling-comes-before-the-run`."""

    breaks = ("server-calling-comes-before-the-run",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801  the bench's attribute
        class loop(AgentLoop):  # noqa: N801  the simulator's attribute
            def told_before(self, called: Called) -> Sequence[Event]:
                return []

            def told_after(self, record: Record) -> Sequence[Event]:
                return [*super().told_before(record.called), *super().told_after(record)]


class CallingHasFlatArguments(ServerMutant):
    """Leaves arguments that are lists or objects out of what it tells: `server-calling-carries-the-arguments`."""

    breaks = ("server-calling-carries-the-arguments",)
    also = because("a record has arguments that the event has not", "server-plain-and-stream-record-alike")
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def told_before(self, called: Called) -> Sequence[Event]:
                return [_flat(event) if isinstance(event, Progress) else event for event in super().told_before(called)]


def _flat(event: Progress) -> Progress:
    arguments = event.data.get("arguments")
    if not isinstance(arguments, dict):
        return event
    kept = {name: value for name, value in arguments.items() if not isinstance(value, dict | list)}
    return replace(event, data={**event.data, "arguments": kept})


class OnlyTheFirstRunIsComplete(ServerMutant):
    """Tells of the first round that it is complete, and of no other: `server-complete-follows-each-run`."""

    breaks = ("server-complete-follows-each-run",)
    also = because(
        "its rounds behind the first are not told to be complete",
        "server-failing-tool-counts-as-a-round",
        "server-files-come-before-complete",
        "server-plain-and-stream-record-alike",
        "server-progress-stands-around-each-run",
        "server-rounds-are-numbered-from-zero",
    )
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def told_after(self, record: Record) -> Sequence[Event]:
                return [one for one in super().told_after(record) if not (self.round and isinstance(one, Progress))]


class CompleteIsAscii(ServerMutant):
    """Tells results without what is not ASCII: `server-complete-carries-the-result`."""

    breaks = ("server-complete-carries-the-result",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def told_after(self, record: Record) -> Sequence[Event]:
                text = record.result.content.encode("ascii", "ignore").decode()
                return super().told_after(replace(record, result=replace(record.result, content=text)))
