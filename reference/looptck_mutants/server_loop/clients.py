"""Clients that disconnect, wait or read slowly, and many clients at once: concurrent runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.bench import Bench
from looptck_reference.server.errors import Refused
from looptck_reference.server.events import Event, Progress
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.serving import Config, Run, Simulator
from looptck_reference.server.sessions import Session
from looptck_reference.server.steps import AskClient, Execute, Fail, Infer, Step
from looptck_reference.server.tools import Workshop
from looptck_reference.server.values import Called, Message, Result
from looptck_reference.vocabulary.values import Turn
from looptck_reference.wires import OPENAI_CHAT

MANY = 100
"""The number of concurrent runs that counts as load."""


@breaks("server-client-gone-stops-the-run", cells=CHAT_STREAM)
class GoesOnWithoutItsClient(Simulator):
    """Continues a run after its client has disconnected."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.running: set[asyncio.Task[None]] = set()

    async def play(self, run: Run) -> AsyncGenerator[Event, None]:
        events: asyncio.Queue[Event | Exception | None] = asyncio.Queue()
        running = asyncio.create_task(_to_the_end(super().play(run), events))
        self.running.add(running)
        running.add_done_callback(self.running.discard)
        while (event := await events.get()) is not None:
            if isinstance(event, Exception):
                raise event
            yield event


@breaks("server-client-gone-leaves-the-session-whole", cells=CHAT_STREAM)
class SavesBeforeItRuns(Simulator):
    """Saves a session before each call has run."""

    async def _obey(self, step: Infer | AskClient | Execute, loop: ServerLoop, workshop: Workshop) -> Step:
        if isinstance(step, Execute) and loop.session_id is not None:
            echo = OPENAI_CHAT.echo(Turn("", (step.called.call,)))
            messages = (*loop.history, *(Message(body, hidden=True) for body in echo))
            self.sessions.put(loop.request.owner, loop.session_id, Session(messages))
        return await super()._obey(step, loop, workshop)


@breaks("server-hanging-dispatch-holds-up-nobody")
class OnePlainRunAtATime(Simulator):
    """Runs the tools of plain requests one at a time."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.free = asyncio.Lock()

    async def _obey(self, step: Infer | AskClient | Execute, loop: ServerLoop, workshop: Workshop) -> Step:
        if loop.request.stream or not isinstance(step, Execute):
            return await super()._obey(step, loop, workshop)
        async with self.free:
            return await super()._obey(step, loop, workshop)


@breaks("server-hanging-dispatch-ends")
class WaitsForItsEndpoint(Bench):
    """Waits for a dispatched call without a timeout."""

    def config(self, setup: str, upstream: str, dispatch: str) -> Config:
        config = super().config(setup, upstream, dispatch)
        return replace(config, limits=replace(config.limits, dispatch_timeout=600))


@breaks("server-hanging-dispatch-ends")
class HangingToolsEndTheRun(ServerLoop):
    """Fails the run if a tool takes too long."""

    def failure(self, called: Called, error: Exception) -> Result | Fail:
        if "no answer within" in str(error):
            return Fail(Refused(422, f"{called.call.name} took too long"))
        return super().failure(called, error)


@breaks("server-slow-readers-lose-nothing", cells=CHAT_STREAM)
class OneWriterAtATime(Simulator):
    """Writes to one client at a time, so that a slow reader blocks the others."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.writing = asyncio.Lock()

    async def play(self, run: Run) -> AsyncGenerator[Event, None]:
        async for event in super().play(run):
            async with self.writing:
                yield event


@breaks("server-many-streams-lose-nothing", cells=CHAT_STREAM)
class LosesEventsUnderLoad(Simulator):
    """Drops `complete` events during many concurrent runs."""

    def _release_events(self, loop: ServerLoop) -> list[Event]:
        events = super()._release_events(loop)
        return [one for one in events if self.runs < MANY or not _completes(one)]


@breaks("server-memory-is-bounded", cells=CHAT_STREAM)
class KeepsOldRuns(Simulator):
    """Never releases runs that ended during many others."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.old: list[tuple[Run, bytearray]] = []

    def end(self, run: Run) -> None:
        if self.runs >= MANY:
            self.old.append((run, bytearray(b"\1") * 1024 * 1024))
        super().end(run)


def _completes(event: Event) -> bool:
    return isinstance(event, Progress) and event.phase == "complete"


async def _to_the_end(played: AsyncGenerator[Event, None], events: asyncio.Queue[Event | Exception | None]) -> None:
    try:
        async for event in played:
            events.put_nowait(event)
    except Exception as error:  # noqa: BLE001  it is raised where it is waited for
        events.put_nowait(error)
    events.put_nowait(None)
