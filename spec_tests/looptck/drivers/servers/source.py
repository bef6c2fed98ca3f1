"""The interface of a source of servers."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from looptck.drivers.servers.declared import Declared
from looptck.drivers.servers.process import Log


class Source(Protocol):
    """Provides the set-ups of one implementation."""

    @property
    def port(self) -> int:
        """The port on which looptck must listen; 0: any."""
        ...

    def declared(self) -> Declared:
        """The declaration. Raises DriverFault if it is invalid."""
        ...

    def open(self, setup: str, upstream: str, dispatch: str) -> str:
        """Open a set-up and return its URL. Raises DriverFault if that fails."""
        ...

    def load(self, model: Path) -> None:
        """Use this file as the model from now on; every set-up must be reopened. Raises DriverFault."""
        ...

    def process(self, setup: str) -> int | None:
        """The id of its process; None if that is not known."""
        ...

    def log(self, setup: str) -> Log | None:
        """What its process writes; None if that is not known."""
        ...

    def close(self) -> None:
        """Close all set-ups. Raises DriverFault if that fails."""
        ...
