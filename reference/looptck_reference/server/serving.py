"""The simulator: the state of a server, and the execution of its runs.

A variant is a subclass that replaces the loop, the frames or a seam:

    class OneRoundTooMany(Simulator):
        class loop(ServerLoop):
            def cap_reached(self) -> bool:
                return self.round > self.cap
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from looptck_reference.server.api.chat import ChatFrames
from looptck_reference.server.api.frames import Frames
from looptck_reference.server.api.messages import MessagesFrames
from looptck_reference.server.api.responses_stream import ResponsesFrames
from looptck_reference.server.approvals import Approvals
from looptck_reference.server.config import Config, client_for
from looptck_reference.server.entry import Offer, Surface, enter
from looptck_reference.server.errors import Refused, ToolFailed
from looptck_reference.server.events import ApprovalRequired, Event, FileProduced, Finished
from looptck_reference.server.files import Files, StoredFile
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.sessions import Session, Sessions, weight_of
from looptck_reference.server.steps import AskClient, Execute, Fail, Finish, Infer, Step
from looptck_reference.server.tools import DispatchUrl, PythonRunner, Workshop
from looptck_reference.server.tools.callbacks import Callbacks
from looptck_reference.server.uploads import request_files
from looptck_reference.server.upstream import Upstream
from looptck_reference.server.values import Called, Permission, Result, RunRequest, ToolPath

__all__ = ["Config", "Run", "Simulator"]

log = logging.getLogger("looptck_reference.server")


@dataclass(frozen=True, slots=True)
class Run:
    """An admitted run with its own state."""

    loop: ServerLoop
    workshop: Workshop


class Simulator:
    """One server."""

    loop: ClassVar[type[ServerLoop]] = ServerLoop
    chat: ClassVar[type[Frames]] = ChatFrames
    messages: ClassVar[type[Frames]] = MessagesFrames
    responses: ClassVar[type[Frames]] = ResponsesFrames

    def __init__(self, config: Config) -> None:
        self.config = config
        limits = config.limits
        self.sessions = Sessions(
            limit=limits.sessions,
            capacity=limits.session_bytes,
            ttl=limits.session_ttl,
            clock=config.clock,
            weigh=weight_of,
        )
        self.files = Files(
            limit=limits.files,
            capacity=limits.file_bytes,
            ttl=limits.file_ttl,
            clock=config.clock,
            weigh=lambda file: len(file.data),
        )
        self.approvals = Approvals(limits.approval_timeout, config.clock)
        self._runs: set[str] = set()
        self._waiting: dict[str, asyncio.Task[object]] = {}
        self._stopping = False
        self._callbacks = Callbacks(config.callbacks, limits.callback_timeout)
        self._python = PythonRunner(config.python, config.dialect)
        self._client = client_for(config)
        self._upstream = Upstream(self._client, config.upstream, config.upstream_key, limit=limits.reply)
        self._dispatch: DispatchUrl | None = None
        if config.dispatch_url is not None:
            self._dispatch = DispatchUrl(
                self._client, config.dispatch_url, timeout=limits.dispatch_timeout, limit=limits.tool_result
            )
        self.surface = Surface(
            search=config.search is not None,
            code=config.code,
            callbacks=self._callbacks.schemas,
            dispatch=self._dispatch is not None,
            max_tool_rounds=config.max_tool_rounds,
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    @property
    def runs(self) -> int:
        """The number of active runs."""
        return len(self._runs)

    def stop(self) -> None:
        """End all runs, each of which informs its client, and admit no others."""
        self._stopping = True
        for task in self._waiting.values():
            task.cancel()

    def session_of(self, request: RunRequest) -> Session | None:
        """The client's own session with this id; without an id there is none, whatever the messages are."""
        return None if request.session_id is None else self.sessions.get(request.owner, request.session_id)

    def begin(self, request: RunRequest) -> Run:
        """Admit a run; it counts until `end`.

        Raises:
            Refused: the run is not admitted.
        """
        config = self.config
        offer = enter(request, self.surface, config.dialect)
        permission = config.permission.and_also(request.permission)
        if offer.entered and permission is Permission.ASK and not request.stream:
            message = (
                'agent_permission "ask" requires stream=true over HTTP; '
                "approve or deny emitted requests with POST /v1/agent/approvals/{approval_id}."
            )
            raise Refused(422, message, param="agent_permission")
        limit = config.limits.request_files
        files = request_files(request.files, lambda file_id: self.files.get(request.owner, file_id), limit)
        if self._stopping:
            raise _stopped()
        if self.runs >= config.limits.runs:
            raise Refused(503, f"{self.runs} runs are already active; try again later", code="too_many_runs")
        session = self.session_of(request) if offer.entered else None
        loop = self.loop(
            request,
            offer,
            config.dialect,
            run_id=uuid.uuid4().hex,
            created=int(config.clock.now()),
            session=session,
            session_id=_session_id(request, offer),
            server_rounds=config.max_tool_rounds,
            permission=config.permission,
            declared=files.declared,
            history_bytes=config.limits.run,
        )
        self._runs.add(loop.run_id)
        return Run(loop, Workshop(files, session.python if session else b""))

    def end(self, run: Run) -> None:
        """The run is over, whether or not it was executed."""
        self._runs.discard(run.loop.run_id)
        self.approvals.forget(run.loop.run_id)
        run.workshop.close()

    async def play(self, run: Run) -> AsyncGenerator[Event, None]:
        """Execute a run; its last event is `Finished`.

        Raises:
            Refused: the run has failed.
        """
        loop = run.loop
        step = loop.start()
        while not isinstance(step, Finish | Fail):
            for event in self._release_events(loop):
                yield event
            step = await self._unless_stopped(step, run)
        for event in self._release_events(loop):
            yield event
        if isinstance(step, Fail):
            raise _refusal(step.error)
        self._save(run, step)
        yield Finished(step.answer)

    async def _unless_stopped(self, step: Infer | AskClient | Execute, run: Run) -> Step:
        """Execute a step and return the next one, unless the server is stopped meanwhile."""
        task = asyncio.current_task()
        assert task is not None
        if self._stopping:
            raise _stopped()
        self._waiting[run.loop.run_id] = task
        try:
            return await self._obey(step, run.loop, run.workshop)
        except asyncio.CancelledError:
            if not self._stopping:
                raise
            task.uncancel()
            raise _stopped() from None
        finally:
            del self._waiting[run.loop.run_id]

    def _release_events(self, loop: ServerLoop) -> list[Event]:
        """The events for the client; approvals can be answered, and files fetched, from now on."""
        owner, events = loop.request.owner, loop.drain_events()
        for event in events:
            if isinstance(event, FileProduced):
                self.files.put(owner, event.file["id"], StoredFile(event.file, event.data))
            elif isinstance(event, ApprovalRequired):
                self.approvals.ask(owner, event.approval_id, loop.run_id)
        return events

    async def _obey(self, step: Infer | AskClient | Execute, loop: ServerLoop, workshop: Workshop) -> Step:
        match step:
            case Infer(body):
                return loop.model_answered(await self._upstream.ask(body, loop.request.headers))
            case AskClient(approval_id):
                return loop.client_decided(await self.approvals.decision(loop.request.owner, approval_id))
            case Execute(called):
                try:
                    result = await self._run(called, loop.request.headers, workshop)
                except Exception as error:  # noqa: BLE001  a tool may raise any error; the loop handles it
                    return loop.tool_raised(error)
                return loop.tool_ended(result)

    async def _run(self, called: Called, headers: Mapping[str, str], workshop: Workshop) -> Result:
        """Execute a call on its path."""
        match called.path:
            case ToolPath.WEB_SEARCH if self.config.search is not None:
                result = await self.config.search.run(called)
            case ToolPath.CODE:
                result = await self._python.run(called, workshop)
            case ToolPath.CALLBACK:
                result = await self._callbacks.run(called)
            case ToolPath.DISPATCH if self._dispatch is not None:
                result = await self._dispatch.run(called, _traced(headers))
            case _:
                raise ToolFailed(f"Tool `{called.call.name}` is not registered.", "not_found")
        limit = self.config.limits.tool_result
        if len(result.content.encode("utf-8", "surrogatepass")) > limit:
            raise ToolFailed(f"the result is larger than {limit} bytes")
        return result

    def _save(self, run: Run, step: Finish) -> None:
        loop = run.loop
        if step.session is not None and loop.session_id is not None:
            session = Session(step.session, frozenset(loop.remembered), run.workshop.python)
            if not self.sessions.put(loop.request.owner, loop.session_id, session):
                log.warning("session %s is larger than the server keeps; it is not stored", loop.session_id)


def _session_id(request: RunRequest, offer: Offer) -> str | None:
    if not offer.entered:
        return None
    return request.session_id or str(uuid.uuid4())


def _traced(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Headers for a dispatch endpoint: they identify the run, and never contain the client's key."""
    return {name: value for name, value in headers.items() if name != "authorization"}


def _stopped() -> Refused:
    return Refused(503, "the server is stopping; the run has ended", code="stopping")


def _refusal(error: Exception) -> Refused:
    return error if isinstance(error, Refused) else Refused(500, f"{type(error).__name__}: {error}")
