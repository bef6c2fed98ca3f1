"""Coarse mutants of the server: gross faults that prove the cases of what they break, one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from looptck_reference.mutants.mutant import CHAT_STREAM
from looptck_reference.mutants.server_loop.dispatch_answers import Reader, Reading
from looptck_reference.mutants.server_loop.mutant import ServerMutant
from looptck_reference.server.api.chat import ChatFrames
from looptck_reference.server.loop import AgentLoop
from looptck_reference.server.serving import Simulator
from looptck_reference.server.tools import Workshop
from looptck_reference.server.values import Answer, Called, Record, Result
from looptck_reference.values import Turn


class ServerPostsTwice(ServerMutant):
    """Posts every call twice."""

    breaks = (
        "server-call-runs-once",
        "server-dispatch-url-gets-the-call",
        "server-failing-tool-runs-once",
        "server-tool-runs-and-the-request-goes-on",
    )
    coarse = True

    class simulator(Simulator):  # noqa: N801  the bench's attribute
        async def _run(self, called: Called, headers: Mapping[str, str], workshop: Workshop) -> Result:
            try:
                await super()._run(called, headers, workshop)
            finally:
                result = await super()._run(called, headers, workshop)
            return result


class ServerGarblesResults(ServerMutant):
    """Takes the same word for the result whatever was answered."""

    breaks = ("server-dispatch-content-is-the-result",)
    coarse = True

    class simulator(Reading):  # noqa: N801
        class reader(Reader):  # noqa: N801  the simulator's attribute
            def result_of(self, text: str) -> str:
                return "garbled"


class ServerAsksBehindItsAnswer(ServerMutant):
    """Asks the model once more when it has answered."""

    breaks = ("server-answer-ends-the-loop",)
    coarse = True

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801  the simulator's attribute
            asked = False

            def answers(self, turn: Turn) -> bool:
                again = super().answers(turn) and not self.asked
                self.asked = self.asked or again
                return super().answers(turn) and not again


class ServerStreamsJustStop(ServerMutant):
    """Sends nothing behind the last piece of a stream."""

    breaks = ("server-every-stream-ends-explicitly",)
    cells = CHAT_STREAM
    coarse = True

    class simulator(Simulator):  # noqa: N801
        class chat(ChatFrames):  # noqa: N801  the simulator's attribute
            def end(self, answer: Answer) -> list[bytes]:
                return []


class ServerKeepsNoResults(ServerMutant):
    """Asks the model again without the call that has run, and without its result."""

    breaks = ("server-odd-dispatch-bodies-are-results",)
    coarse = True

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def extend_history(self, turn: Turn, ran: Sequence[Record]) -> None:
                pass


class ServerRefusesPolitely(ServerMutant):
    """Says of every request that it refuses that all is well."""

    breaks = ("server-bad-round-limits-are-refused", "server-malformed-bodies-are-refused")
    coarse = True

    def app(self, simulator: Simulator) -> Any:
        app = super().app(simulator)

        async def polite(scope: Scope, receive: Receive, send: Send) -> None:
            async def changed(message: Message) -> None:
                await send({**message, "status": 200} if 400 <= message.get("status", 200) < 500 else message)

            await app(scope, receive, changed)

        return polite
