"""Broad mutants of the server: faults that act in every run, to prove each case of the requirements that they break."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.server_loop.dispatch_answers import Reader
from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.api.chat import ChatFrames
from looptck_reference.server.bench import Bench
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.serving import Simulator
from looptck_reference.server.tools import Workshop
from looptck_reference.server.values import Answer, Called, Record, Result
from looptck_reference.vocabulary.values import Turn


@breaks(
    "server-call-runs-once",
    "server-dispatch-url-gets-the-call",
    "server-failing-tool-runs-once",
    "server-tool-runs-and-the-request-goes-on",
    broad=True,
)
class ServerPostsTwice(Simulator):
    """Posts every call twice."""

    async def _run(self, called: Called, headers: Mapping[str, str], workshop: Workshop) -> Result:
        try:
            await super()._run(called, headers, workshop)
        finally:
            result = await super()._run(called, headers, workshop)
        return result


@breaks("server-dispatch-content-is-the-result", broad=True)
class ServerGarblesResults(Reader):
    """Uses the same word as the result of every call."""

    def result_of(self, text: str) -> str:
        return "garbled"


@breaks("server-dispatch-body-is-name-and-arguments", broad=True)
class ServerPostsParameters(Reader):
    """Posts the arguments of every call as `parameters`."""

    def posted(self, called: Called) -> dict[str, Any]:
        return {"name": called.call.name, "parameters": called.arguments}

    def result_of(self, text: str) -> str:
        return text


@breaks("server-answer-ends-the-loop", broad=True)
class ServerAsksBehindItsAnswer(ServerLoop):
    """Asks the model again after its answer."""

    asked = False

    def answers(self, turn: Turn) -> bool:
        again = super().answers(turn) and not self.asked
        self.asked = self.asked or again
        return super().answers(turn) and not again


@breaks("server-every-stream-ends-explicitly", cells=CHAT_STREAM, broad=True)
class ServerStreamsJustStop(ChatFrames):
    """Sends nothing after the last piece of a stream."""

    def end(self, answer: Answer) -> list[bytes]:
        return []


@breaks("server-odd-dispatch-bodies-are-results", broad=True)
class ServerKeepsNoResults(ServerLoop):
    """Asks the model again without the executed call and its result."""

    def extend_history(self, turn: Turn, ran: Sequence[Record]) -> None:
        pass


@breaks("server-bad-round-limits-are-refused", "server-malformed-bodies-are-refused", broad=True)
class ServerRefusesPolitely(Bench):
    """Sends the status 200 with every refused request."""

    def app(self, simulator: Simulator) -> Any:
        app = super().app(simulator)

        async def polite(scope: Scope, receive: Receive, send: Send) -> None:
            async def changed(message: Message) -> None:
                await send({**message, "status": 200} if 400 <= message.get("status", 200) < 500 else message)

            await app(scope, receive, changed)

        return polite
