"""Loops that hand tools what nobody has asked for: whatever a check makes of it, the fault is not the kit's."""

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
    """Wraps every argument into an object and an array, what is a name or a number too."""

    class loop(SolutionLoop):  # noqa: N801
        async def dispatch(self, start: Start) -> Any:
            wrapped = {name: {"odd": [value]} for name, value in start.arguments.items()}
            return await super().dispatch(replace(start, arguments=wrapped))


class HandsWrappingsToOthers(Driver):
    """Does the same to all tools but those of probes, so that checks go on to what they ask of the others."""

    class loop(HandsWrappings.loop):  # noqa: N801
        async def dispatch(self, start: Start) -> Any:
            hostile = start.activity != "probe"
            return await (super().dispatch(start) if hostile else SolutionLoop.dispatch(self, start))
