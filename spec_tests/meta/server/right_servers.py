"""Right servers that answer otherwise than the reference where the documents leave a choice: benches of the kit."""

from __future__ import annotations

from dataclasses import replace

from looptck_reference.server.bench import Bench
from looptck_reference.server.config import Config
from looptck_reference.server.dialects import TODAY
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.serving import Run, Simulator
from looptck_reference.server.tools import Workshop
from looptck_reference.server.values import Record, RunRequest
from looptck_reference.vocabulary.values import Json

__all__ = ["ForgetsVariables", "Later", "RecordsObjects"]


class Later(Bench):
    """The server of a later version of the documents."""

    def config(self, setup: str, upstream: str, dispatch: str) -> Config:
        """With its dialect."""
        return replace(super().config(setup, upstream, dispatch), dialect=TODAY)


class RecordsObjects(Bench):
    """Records the arguments of a call as the object that they are."""

    class simulator(Simulator):  # noqa: N801
        class loop(ServerLoop):  # noqa: N801
            def _entry(self, record: Record) -> Json:
                return {**super()._entry(record), "arguments": record.called.arguments}


class ForgetsVariables(Bench):
    """Runs each program in a process and a directory of its own."""

    class simulator(Simulator):  # noqa: N801  the bench's attribute
        def begin(self, request: RunRequest) -> Run:
            """With nothing of an earlier run."""
            return replace(super().begin(request), workshop=Workshop())
