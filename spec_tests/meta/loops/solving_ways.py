"""Loops of Solutions that are correct but choose differently where the documents leave the choice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.confirmation import Decision, Reject, Replace
from looptck_reference.agent_loop_010.context import Context
from looptck_reference.agent_loop_010.driver import Driver
from looptck_reference.agent_loop_010.expressions import references
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.messages import Message
from looptck_reference.agent_loop_010.scheduler import CallScheduler, Start, Step


class Careful(Driver):
    """Reads a path when all calls of the turn that write it have ended, and runs equal calls of a turn once.

    It runs five calls at the same time at most.
    """

    class loop(SolutionLoop):  # noqa: N801  the driver's attribute
        pool: asyncio.Semaphore | None = None

        async def dispatch(self, start: Start) -> Any:
            self.pool = self.pool or asyncio.Semaphore(5)
            async with self.pool:
                return await super().dispatch(start)

        class tick(CallScheduler):  # noqa: N801
            """Knows the writers of each path."""

            def streamed(self, raw: Any) -> Any:
                if raw in self.known:
                    return []
                self.known = [*self.known, raw]
                return super().streamed(raw)

            def is_unblocked(self, call: Call) -> bool:
                others = [one for one in (*self.pending, *self.asked, *self.running) if one is not call]
                written = [one.output_path for one in others if one.output_path is not None]
                return super().is_unblocked(call) and not any(_meet(a, b) for a in written for b in _paths(call))

            known: tuple[Any, ...] | list[Any] = ()


def _paths(call: Call) -> Iterator[str]:
    return (str(expression) for expression in references(call.parameters))


def _meet(written: str, read: str) -> bool:
    """Whether one of two paths is the other, or leads to it."""
    return f"{written}.".startswith(f"{read}.") or f"{read}.".startswith(f"{written}.")


class Brisk(Driver):
    """Forgets calls without an output path, and takes a Solution at its last brace, before the stream ends.

    A replacement that refers to what is not there yet is an error.
    """

    class loop(SolutionLoop):  # noqa: N801
        forgotten: tuple[Start, ...] = ()
        tasks: tuple[asyncio.Task[Any], ...] = ()

        async def dispatch(self, start: Start) -> Any:
            if start.call.output_path is not None:
                return await super().dispatch(start)
            self.forgotten += (start,)
            return None

        async def ask(self) -> AsyncGenerator[str]:
            """Begin what was forgotten in the turn before; nothing waits for it."""
            text = ""
            before, self.forgotten = self.forgotten, ()
            self.tasks += tuple(asyncio.create_task(super(Brisk.loop, self).dispatch(start)) for start in before)
            async with aclosing(super().ask()) as pieces:
                async for piece in pieces:
                    text += piece
                    yield piece
                    if _is_whole(text):
                        return

        class tick(CallScheduler):  # noqa: N801
            """Lets no replacement wait."""

            def decided(self, call: Call, decision: Decision) -> list[Step]:
                if isinstance(decision, Replace) and not self.is_unblocked(Call.read(decision.call)):
                    decision = Reject("an invalid reference in the replacement")
                return super().decided(call, decision)

        class context(Context):  # noqa: N801
            """Takes no Message from them either."""

            def write(self, call: Call, value: Any, date: str) -> list[Message]:
                return [] if call.output_path is None else super().write(call, value, date)


def _is_whole(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
