"""Members of replies and chunks that have another form than the documents give them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from looptck_reference.mutants.mutant import CHAT_STREAM, because
from looptck_reference.mutants.server_loop.mutant import ServerMutant
from looptck_reference.server.api.chat import ChatFrames
from looptck_reference.server.loop import AgentLoop
from looptck_reference.server.serving import Simulator
from looptck_reference.server.steps import Finish
from looptck_reference.values import Turn


def _in_words(seconds: int) -> Any:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


class RepliesTellTheTimeInWords(ServerMutant):
    """Writes the time of a plain reply as a date: `server-replies-fit-their-schemas`."""

    breaks = ("server-replies-fit-their-schemas",)

    class simulator(Simulator):  # noqa: N801  the bench's attribute
        class loop(AgentLoop):  # noqa: N801  the simulator's attribute
            def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
                step = super().finish(turn, capped=capped)
                if self.request.stream or not self.offer.entered:
                    return step
                return replace(step, answer=replace(step.answer, created=_in_words(self.created)))


class ChunksTellTheTimeInWords(ServerMutant):
    """Writes the time of a chunk as a date: `server-events-fit-their-schemas`."""

    breaks = ("server-events-fit-their-schemas",)
    also = because("its streams have the same chunks", "server-client-side-path-is-standard")
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class chat(ChatFrames):  # noqa: N801
            def __init__(self, run_id: str, model: str, created: int) -> None:
                super().__init__(run_id, model, _in_words(created))
