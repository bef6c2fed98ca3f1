"""Faults in what happens when a user cancels a run, or leaves its stream."""

# ruff: noqa: D101, BLE001
# mypy: disable-error-code="import-not-found, misc, no-any-return, has-type"

from __future__ import annotations

import asyncio
import sys
import threading
import time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chat_sync
import messages_async
import responses_items
import responses_stateful

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json, Stopped

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator


class CancelIsAnAnswer(chat_sync.Driver):
    """A cancelled run returns what it has said so far, as an answer."""

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        heard: list[str] = []

        def hear(text: str) -> None:
            heard.append(text)
            emit(text)

        outcome = super().run(case, hear)
        left = len(heard) == case["options"].get("leave_after")
        return outcome if left or outcome.get("reason") != "cancelled" else {"kind": "value", "text": "".join(heard)}


class DeafHalt(chat_sync.Halt):
    @contextmanager
    def waking(self, wake: Callable[[], None]) -> Iterator[None]:
        self.check()
        yield


class HeardBetweenSteps(chat_sync.Driver):
    """A cancellation is noticed between two steps, and never ends a step that is under way."""

    def __init__(self) -> None:
        super().__init__()
        self.halts.default_factory = DeafHalt


class SleepyHalt(chat_sync.Halt):
    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class SleepsThrough(chat_sync.Driver):
    """The pause before a further try cannot be cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.halts.default_factory = SleepyHalt


class ToolsGoOn(chat_sync.Driver):
    """The calls of a turn all run to their end before a cancellation counts."""

    class run_of(chat_sync.Run):
        def settle(self, calls: list[Json], results: list[str | None], decisions: dict[str, Json]) -> Json | None:
            halt, self.halt = self.halt, chat_sync.Halt()
            found = super().settle(calls, results, decisions)
            self.halt = halt
            return found


class CancelsTheToolAlone(chat_sync.Driver):
    """A cancellation ends the tool, which the model is told, and the run goes on."""

    class run_of(chat_sync.Run):
        def use(self, tool: Json, arguments: Json) -> str:
            try:
                return super().use(tool, arguments)
            except chat_sync.Cancelled:
                self.halt = chat_sync.Halt()
                return "Error: the tool was cancelled"


class SwallowedInATool(responses_stateful.Driver):
    """Whatever a tool raises is its result, CancelledError too."""

    class loop(responses_stateful.Loop):
        async def output(self, call: Json, decisions: dict[str, Json]) -> str:
            try:
                return await super().output(call, decisions)
            except BaseException as error:
                return f"Error: {type(error).__name__}"


class ToolsShielded(responses_stateful.Driver):
    """The calls of a turn are shielded, so the next tool starts after the run has ended as cancelled."""

    class loop(responses_stateful.Loop):
        async def answer(self, calls: list[Json], said: dict[str, Json]) -> None:
            await asyncio.shield(asyncio.create_task(self.answer_apart(calls, said)))

        async def answer_apart(self, calls: list[Json], said: dict[str, Json]) -> None:
            async with httpx.AsyncClient(timeout=None, trust_env=False) as self.kit:  # noqa: S113
                await super().answer(calls, said)


class StreamReadOn(messages_async.Driver):
    """A cancelled run ends, and its stream is read to the end in the background."""

    class run_of(messages_async.Run):
        async def ask(self) -> Json:
            return await asyncio.shield(asyncio.create_task(super().ask()))

        async def close_lines(self) -> None:
            """Leave them open for whoever still reads."""


class LockedAfterwards(messages_async.Driver):
    """A cancelled run leaves its conversation locked."""

    @asynccontextmanager
    async def busy(self, thread: Any, resumes: bool) -> AsyncIterator[None]:
        if thread.state != "free" and not resumes:
            raise Stopped("other", f"the conversation is {thread.state}")
        thread.state = "busy"
        yield
        if thread.state == "busy":
            thread.state = "free"


class AsksForASummary(messages_async.Driver):
    """A cancelled run asks the model once more, for a summary."""

    class run_of(messages_async.Run):
        async def go(self) -> Json:
            try:
                return await super().go()
            except asyncio.CancelledError:
                self.thread.say("user", [{"type": "text", "text": "Say in one sentence what you have done so far."}])
                await self.ask()
                raise


class HalfTurnKept(messages_async.Driver):
    """Of a turn that was cancelled all blocks so far stay, calls too, which nobody answers."""

    class run_of(messages_async.Run):
        async def ask(self) -> Json:
            kept: list[Any] = []

            class Kept(messages_async.Incoming):
                def __init__(self) -> None:
                    super().__init__()
                    kept.append(self)

            original, messages_async.Incoming = messages_async.Incoming, Kept
            try:
                return await super().ask()
            except asyncio.CancelledError:
                for one in kept:
                    one.is_whole = True
                    if content := one.whole()["content"]:
                        self.thread.say("assistant", content)
                raise
            finally:
                messages_async.Incoming = original


class LeftRunning(chat_sync.Driver):
    """A caller who leaves a stream leaves a thread that goes on with the run."""

    def listen(self, run: Any, case: Json, emit: Callable[[str], None]) -> Json:
        enough = case["options"].get("leave_after")
        if enough is None:
            return super().listen(run, case, emit)
        pieces = run.go()
        for number, piece in enumerate(pieces, 1):
            emit(piece)
            if number == enough:
                threading.Thread(target=list, args=(pieces,), daemon=True).start()
                raise chat_sync.Cancelled
        return {"kind": "value", "text": run.messages[-1]["content"]}


class LeftOpen(chat_sync.Driver):
    """A caller who leaves a stream leaves its connection open."""

    def listen(self, run: Any, case: Json, emit: Callable[[str], None]) -> Json:
        enough = case["options"].get("leave_after")
        if enough is None:
            return super().listen(run, case, emit)
        self.left = [*getattr(self, "left", []), run.go()]
        for number, piece in enumerate(self.left[-1], 1):
            emit(piece)
            if number == enough:
                raise chat_sync.Cancelled
        return {"kind": "value", "text": run.messages[-1]["content"]}


class CancelHasNoText(responses_items.Driver):
    """A cancelled run ends as a value without text, as if it had nothing to say."""

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        try:
            return await super().run_async(case, emit)
        except asyncio.CancelledError:
            return {"kind": "value", "text": None}
