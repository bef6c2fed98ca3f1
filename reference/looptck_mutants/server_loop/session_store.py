"""The routes of sessions, and the number of stored sessions: the shelf behind `Simulator.sessions`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.bench import Bench
from looptck_reference.server.bounded import Shelf
from looptck_reference.server.errors import Refused
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.serving import Config, Run, Simulator
from looptck_reference.server.sessions import Session, weight_of
from looptck_reference.server.steps import AskClient, Execute, Finish, Infer, Step
from looptck_reference.server.tools import Workshop
from looptck_reference.server.values import RunRequest


class KeepingSimulator(Simulator):
    """A simulator with its own shelf for sessions."""

    shelf: type[Shelf[Session]] = Shelf

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        limits = config.limits
        self.sessions = self.shelf(
            limit=limits.sessions,
            capacity=limits.session_bytes,
            ttl=limits.session_ttl,
            clock=config.clock,
            weigh=weight_of,
        )


@breaks.part_of(KeepingSimulator, "shelf")
class SessionShelf(Shelf[Session]):
    """A shelf for sessions."""


@breaks("server-failed-run-leaves-its-session")
class FailedRunsAreSaved(Simulator):
    """Saves the history of a run in which the model failed."""

    async def _obey(self, step: Infer | AskClient | Execute, loop: ServerLoop, workshop: Workshop) -> Step:
        try:
            return await super()._obey(step, loop, workshop)
        except Refused:
            if loop.session_id is not None:
                self.sessions.put(loop.request.owner, loop.session_id, Session(tuple(loop.history)))
            raise


@breaks("server-missing-session-is-404")
class UnheardSessionsAreEmpty(SessionShelf):
    """Exports an empty session for an unknown id."""

    heard: frozenset[str] = frozenset()

    def get(self, owner: str, key: str) -> Session | None:
        return super().get(owner, key) or (None if key in self.heard else Session(()))

    def put(self, owner: str, key: str, value: Session) -> bool:
        self.heard |= {key}
        return super().put(owner, key, value)


@breaks("server-imported-session-goes-on")
class ImportsAreOnlyExported(Simulator):
    """Keeps imported sessions for export, but does not continue them."""

    saved: frozenset[str | None] = frozenset()

    def session_of(self, request: RunRequest) -> Session | None:
        return super().session_of(request) if request.session_id in self.saved else None

    def _save(self, run: Run, step: Finish) -> None:
        self.saved |= {run.loop.session_id}
        super()._save(run, step)


@breaks("server-import-replaces-the-session")
class TheFirstImportStays(KeepingSimulator):
    """Does not replace an existing session by an import."""

    class Staying(Shelf[Session]):
        def put(self, owner: str, key: str, value: Session) -> bool:
            return self.get(owner, key) is not None or super().put(owner, key, value)

    shelf = Staying

    def _save(self, run: Run, step: Finish) -> None:
        self.sessions.drop(run.loop.request.owner, run.loop.session_id or "")
        super()._save(run, step)


@breaks("server-bad-session-is-refused")
class BadImportsAreEmptySessions(Bench):
    """Creates an empty session for an invalid import, although it answers 400."""

    class Importing(KeepingSimulator):
        class Emptying(SessionShelf):
            def empty(self, key: str) -> None:
                for owner, one in list(self._kept):
                    if one == key:
                        self.put(owner, key, Session(()))

        shelf = Emptying

    simulator = Importing

    def app(self, simulator: Simulator) -> Any:
        app = super().app(simulator)

        async def clearing(scope: Scope, receive: Receive, send: Send) -> None:
            async def looked_at(message: Message) -> None:
                if message.get("status") == 400:
                    assert isinstance(simulator.sessions, BadImportsAreEmptySessions.Importing.Emptying)
                    simulator.sessions.empty(scope["path"].rpartition("/")[2])
                await send(message)

            put = scope["type"] == "http" and scope["method"] == "PUT"
            await app(scope, receive, looked_at if put else send)

        return clearing


@breaks("server-deleted-session-is-gone")
class DeletedSessionsStay(Bench):
    """Confirms the deletion of a session, but keeps it."""

    def app(self, simulator: Simulator) -> Any:
        app = super().app(simulator)

        async def keeping(scope: Scope, receive: Receive, send: Send) -> None:
            deletes = scope["type"] == "http" and scope["method"] == "DELETE"
            answer: ASGIApp = JSONResponse({"deleted": True}) if deletes else app
            await answer(scope, receive, send)

        return keeping


@breaks("server-sessions-are-bounded")
class SessionsAreForEver(Bench):
    """Never evicts sessions."""

    def config(self, setup: str, upstream: str, dispatch: str) -> Config:
        config = super().config(setup, upstream, dispatch)
        return replace(config, limits=replace(config.limits, sessions=1_000_000))


@breaks("server-sessions-are-bounded")
class TheFirstSessionGoesFirst(SessionShelf):
    """Evicts the oldest session, even if it was used recently."""

    def get(self, owner: str, key: str) -> Session | None:
        kept = self._kept.get((owner, key))
        return kept and kept[2]

    def put(self, owner: str, key: str, value: Session) -> bool:
        later = [*self._kept]
        stored = super().put(owner, key, value)
        for one in later[later.index((owner, key)) + 1 :] if stored and (owner, key) in later else ():
            if one in self._kept:
                self._kept.move_to_end(one)
        return stored
