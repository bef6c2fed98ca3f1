"""Clients that leave, wait or read slowly, and many of them at once: how runs are played beside each other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

from looptck_reference.mutants.mutant import CHAT_STREAM
from looptck_reference.mutants.server_loop.mutant import ServerMutant
from looptck_reference.server.errors import Refused
from looptck_reference.server.events import Event, Progress
from looptck_reference.server.loop import AgentLoop
from looptck_reference.server.serving import Config, Run, Simulator
from looptck_reference.server.sessions import Session
from looptck_reference.server.steps import AskClient, Execute, Fail, Infer, Step
from looptck_reference.server.tools import Workshop
from looptck_reference.server.values import Called, Message, Result
from looptck_reference.values import Turn
from looptck_reference.wires import OPENAI_CHAT

MANY = 100
"""As many runs at the same time are a load."""


class GoesOnWithoutItsClient(ServerMutant):
    """Runs on when the client has left: `server-client-gone-stops-the-run`."""

    breaks = ("server-client-gone-stops-the-run",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801  the bench's attribute
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


class SavesBeforeItRuns(ServerMutant):
    """Saves a session with each call before that has run: `server-client-gone-leaves-the-session-whole`."""

    breaks = ("server-client-gone-leaves-the-session-whole",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        async def _obey(self, step: Infer | AskClient | Execute, loop: AgentLoop, workshop: Workshop) -> Step:
            if isinstance(step, Execute) and loop.session_id is not None:
                echo = OPENAI_CHAT.echo(Turn("", (step.called.call,)))
                messages = (*loop.history, *(Message(body, hidden=True) for body in echo))
                self.sessions.put(loop.request.owner, loop.session_id, Session(messages))
            return await super()._obey(step, loop, workshop)


class OnePlainRunAtATime(ServerMutant):
    """Lets the tool of one plain request run at a time: `server-hanging-dispatch-holds-up-nobody`."""

    breaks = ("server-hanging-dispatch-holds-up-nobody",)

    class simulator(Simulator):  # noqa: N801
        def __init__(self, config: Config) -> None:
            super().__init__(config)
            self.free = asyncio.Lock()

        async def _obey(self, step: Infer | AskClient | Execute, loop: AgentLoop, workshop: Workshop) -> Step:
            if loop.request.stream or not isinstance(step, Execute):
                return await super()._obey(step, loop, workshop)
            async with self.free:
                return await super()._obey(step, loop, workshop)


class WaitsForItsEndpoint(ServerMutant):
    """Waits for a dispatch as long as it takes: `server-hanging-dispatch-ends`."""

    breaks = ("server-hanging-dispatch-ends",)

    def config(self, setup: str, upstream: str, dispatch: str) -> Config:
        config = super().config(setup, upstream, dispatch)
        return replace(config, limits=replace(config.limits, dispatch_timeout=600))


class HangingToolsEndTheRun(ServerMutant):
    """Gives a run up with its tool where that takes too long: `server-hanging-dispatch-ends`."""

    breaks = ("server-hanging-dispatch-ends",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801  the simulator's attribute
            def failure(self, called: Called, error: Exception) -> Result | Fail:
                if "no answer within" in str(error):
                    return Fail(Refused(422, f"{called.call.name} took too long"))
                return super().failure(called, error)


class OneWriterAtATime(ServerMutant):
    """Writes to one client at a time, however slowly that reads: `server-slow-readers-lose-nothing`."""

    breaks = ("server-slow-readers-lose-nothing",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        def __init__(self, config: Config) -> None:
            super().__init__(config)
            self.writing = asyncio.Lock()

        async def play(self, run: Run) -> AsyncGenerator[Event, None]:
            async for event in super().play(run):
                async with self.writing:
                    yield event


class LosesEventsUnderLoad(ServerMutant):
    """Leaves `complete` out while many runs go on: `server-many-streams-lose-nothing`."""

    breaks = ("server-many-streams-lose-nothing",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        def _told(self, loop: AgentLoop) -> list[Event]:
            events = super()._told(loop)
            return [one for one in events if self.runs < MANY or not _completes(one)]


class KeepsOldRuns(ServerMutant):
    """Never lets go of a run that ended beside many others: `server-memory-is-bounded`."""

    breaks = ("server-memory-is-bounded",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
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
