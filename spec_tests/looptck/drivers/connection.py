"""The interface of a connection to a driver, in this process or in another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any, Protocol

from looptck.drivers.faults import DriverFault
from looptck.drivers.idle import Pulse
from looptck.drivers.protocol import Started
from looptck.values.outcome import Outcome

OnTold = Callable[[Any], None]
"""Called with the text of each chunk, and with each event, immediately, on the thread that received it."""


class Line(Protocol):
    """A connection to one implementation, with ``start`` and ``stop``."""

    def start(self) -> Started:
        """Start the driver. Raises DriverFault if it cannot be started or its declaration is invalid."""
        ...

    def stop(self) -> list[DriverFault]:
        """Stop the driver; returns the faults that came to light after the end of their run."""
        ...


class Connection(Line, Protocol):
    """A connection to a loop, for any number of runs between ``start`` and ``stop``."""

    def run(self, id: str, case: dict[str, Any], on_told: OnTold) -> Future[Outcome]:
        """Pass a case to the driver. The future has the outcome, or a DriverFault."""
        ...

    def cancel(self, id: str) -> None:
        """Tell the driver to cancel a run; nothing if the run is over."""
        ...

    def renew(self) -> None:
        """Let the next run find nothing that earlier runs have left in the driver: in a new process, or object.

        Raises:
            DriverFault: the driver cannot be started again.
        """
        ...

    def abandon(self, id: str, *, begun: bool = False) -> DriverFault | None:
        """Abandon a run that has not finished in time; returns the driver's fault in it, if known.

        ``begun``: the loop has made a model request, so the driver is not to blame for the hang.
        """
        ...

    def pulse(self) -> Pulse:
        """The activity of the implementation's threads, which shows whether it is idle."""
        ...

    def asks_from(self, port: int, to: int) -> bool | None:
        """Whether the connection from this port to that one belongs to a process that `pulse` watches; None: closed."""
        ...

    def kept_spans(self) -> Iterable[Any]:
        """The finished spans of all runs that the driver keeps in this process, as OpenTelemetry SDK objects."""
        ...
