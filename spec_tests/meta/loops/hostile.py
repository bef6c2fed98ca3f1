"""Loops that pass wrong arguments to tools: the fault must be attributed to the loop, not to looptck."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from looptck_reference.agent_loop_010.driver import Driver
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.scheduler import Start


class HandsNothing(Driver):
    """Runs every Activity without its arguments."""

    class loop(SolutionLoop):  # noqa: N801  the driver's attribute
        async def dispatch(self, start: Start) -> Any:
            return await super().dispatch(replace(start, arguments={}))


class HandsWrappings(Driver):
    """Wraps every argument into an object and an array, even names and numbers."""

    class loop(SolutionLoop):  # noqa: N801
        async def dispatch(self, start: Start) -> Any:
            wrapped = {name: {"odd": [value]} for name, value in start.arguments.items()}
            return await super().dispatch(replace(start, arguments=wrapped))


class HandsWrappingsToOthers(Driver):
    """Does the same to all tools except those of probes, so that checks reach their questions about other tools."""

    class loop(HandsWrappings.loop):  # noqa: N801
        async def dispatch(self, start: Start) -> Any:
            hostile = start.activity != "probe"
            return await (super().dispatch(start) if hostile else SolutionLoop.dispatch(self, start))
