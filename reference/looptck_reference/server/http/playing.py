"""Runs as responses: an event stream, or one body at the end. A run ends when its client disconnects."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from looptck_reference.server.api.frames import KEEP_ALIVE, Frames
from looptck_reference.server.clock import done_within
from looptck_reference.server.errors import Refused
from looptck_reference.server.events import Event, Finished
from looptck_reference.server.http.answers import error_answer, json_answer
from looptck_reference.server.serving import Run, Simulator
from looptck_reference.server.values import Answer
from looptck_reference.vocabulary.values import Json

__all__ = ["PlainRun", "StreamedRun"]

log = logging.getLogger("looptck_reference.server")


class Played(Response):
    """A response that executes a run; `work` sends it."""

    def __init__(self, simulator: Simulator, run: Run) -> None:
        super().__init__()
        self.simulator = simulator
        self.run = run
        self.events: AsyncGenerator[Event, None] = simulator.play(run)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await while_connected(receive, self.work(scope, receive, send))
        finally:
            await self.events.aclose()
            self.simulator.end(self.run)

    async def work(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Execute the run, and send the response."""
        raise NotImplementedError


class PlainRun(Played):
    """One body, once the run has its answer."""

    def __init__(self, simulator: Simulator, run: Run, body: Callable[[Answer], Json]) -> None:
        super().__init__(simulator, run)
        self._body = body

    async def work(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the whole body at once."""
        try:
            response = json_answer(self._body(await self._answer()))
        except Refused as error:
            response = self._error(error, scope)
        except Exception as error:  # noqa: BLE001  a fault of the server ends the response too, and is logged
            response = self._error(_fault(error), scope)
        await response(scope, receive, send)

    async def _answer(self) -> Answer:
        async for event in self.events:
            if isinstance(event, Finished):
                return event.answer
        raise AssertionError("a run that does not fail ends with Finished")

    def _error(self, error: Refused, scope: Scope) -> Response:
        return error_answer(error, scope["path"], self.simulator.config.dialect)


class StreamedRun(Played):
    """The frames of the events as they happen, with a comment whenever there was no event for a while."""

    media_type = "text/event-stream"

    def __init__(self, simulator: Simulator, run: Run, frames: Frames) -> None:
        super().__init__(simulator, run)
        self.headers.update({"cache-control": "no-cache", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._frames = frames

    async def work(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the frames; each is made after the one before was sent, so a slow client slows down its run."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for frame in self._frames.start():
            await send(_piece(frame))
        async for frames in self._all():
            for frame in frames:
                await send(_piece(frame))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _all(self) -> AsyncIterator[list[bytes]]:
        try:
            async for event in self._or_none():
                yield [KEEP_ALIVE] if event is None else self._frames.frames(event)
        except Refused as error:
            yield self._frames.failed(error)
        except Exception as error:  # noqa: BLE001  a fault of the server ends the response too, and is logged
            yield self._frames.failed(_fault(error))

    async def _or_none(self) -> AsyncIterator[Event | None]:
        """The events, and None whenever there was no event for this long."""
        clock, seconds = self.simulator.config.clock, self.simulator.config.limits.keep_alive
        while True:
            coming = asyncio.ensure_future(anext(self.events))
            try:
                while not await done_within(clock, seconds, coming):
                    yield None
                event = await coming
            except StopAsyncIteration:
                return
            finally:
                if not coming.done():
                    coming.cancel()
                    await asyncio.gather(coming, return_exceptions=True)
            yield event


async def while_connected(receive: Receive, work: Awaitable[Any]) -> None:
    """Do the work, and cancel it when the client disconnects."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _fault(error: Exception) -> Refused:
    """An internal error of the server: reported to the client, and logged with its traceback."""
    log.error("a run has failed because of an internal error of the server", exc_info=error)
    return Refused(500, f"the server has failed: {type(error).__name__}")


def _piece(frame: bytes) -> Json:
    return {"type": "http.response.body", "body": frame, "more_body": True}
