"""What the kit needs of a driver, whichever way it is reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any, Protocol

from looptck.drivers.faults import DriverFault
from looptck.drivers.idle import Pulse
from looptck.drivers.protocol import Started
from looptck.values.outcome import Outcome

OnChunk = Callable[[str], None]
"""Takes the text of each chunk, on the thread that received it, before anything else is done."""


class Line(Protocol):
    """A line to one implementation: ``start``, whatever it is for, ``stop``."""

    def start(self) -> Started:
        """Shake hands. Raises DriverFault where the driver cannot be started or declares nonsense."""
        ...

    def stop(self) -> list[DriverFault]:
        """End the driver; every fault that came to light after the run that it belongs to was over."""
        ...


class Connection(Line, Protocol):
    """A line to a loop, which takes any number of runs between ``start`` and ``stop``."""

    def run(self, id: str, case: dict[str, Any], on_chunk: OnChunk) -> Future[Outcome]:
        """Hand over a case. The future holds the outcome, or the DriverFault that took its place."""
        ...

    def abandon(self, id: str, *, begun: bool = False) -> DriverFault | None:
        """Give up on a run that has not finished in time; what the driver did wrong in it, if that is known.

        ``begun``: the loop had asked the model, so the driver has done its part, and the hang is not held against it.
        """
        ...

    def pulse(self) -> Pulse:
        """What the implementation's threads are doing, to tell whether it is idle."""
        ...

    def kept_spans(self) -> Iterable[Any]:
        """The finished spans of all runs that the driver keeps in this process, as OpenTelemetry's SDK has them."""
        ...
