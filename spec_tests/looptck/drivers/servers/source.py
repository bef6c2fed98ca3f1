"""Where servers come from."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from looptck.drivers.servers.declared import Declared


class Source(Protocol):
    """Has the set-ups of one implementation."""

    @property
    def port(self) -> int:
        """The port on which the kit has to listen; 0: any."""
        ...

    def declared(self) -> Declared:
        """What it is. Raises DriverFault where it declares nonsense."""
        ...

    def open(self, setup: str, upstream: str, dispatch: str) -> str:
        """The URL at which a set-up answers from now on. Raises DriverFault where it does not."""
        ...

    def load(self, model: Path) -> None:
        """Let the model be this file from now on; every set-up has to be opened anew. Raises DriverFault."""
        ...

    def process(self, setup: str) -> int | None:
        """The id of its process; None if that is not known."""
        ...

    def close(self) -> None:
        """End whatever was opened. Raises DriverFault where that goes wrong."""
        ...
