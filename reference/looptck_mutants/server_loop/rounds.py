"""The rounds of one request: their end, the calls that run, and the inferences between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.events import CallsPiece, Event
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.serving import Simulator
from looptck_reference.server.sessions import Session
from looptck_reference.server.steps import Finish, Infer, Step
from looptck_reference.server.tools import Workshop
from looptck_reference.server.values import Called, Message, Record, Result, ToolPath
from looptck_reference.vocabulary.values import Json, Stop, ToolCall, Turn


@breaks("server-tool-runs-and-the-request-goes-on")
class TextBesideACallIsTheAnswer(ServerLoop):
    """Treats a turn with text as the answer, even if it has calls."""

    def answers(self, turn: Turn) -> bool:
        return super().answers(turn) or bool(turn.text)


@breaks(
    "server-run-calls-stay-in-the-server",
    collateral={"server-cap-forces-an-answer": "a call is streamed to the client at the cap too"},
    cells=CHAT_STREAM,
)
class ServerLeaksItsCalls(ServerLoop):
    """Streams the calls that the server runs to the client."""

    def forwards(self, turn: Turn) -> Sequence[Event]:
        return [*super().forwards(turn), CallsPiece(turn.calls)]


@breaks(
    "server-no-call-no-tool",
    collateral={"server-plain-reply-records-each-round": "its control expects a reply without calls"},
)
class RecordsWhatDidNotRun(ServerLoop):
    """Records a call of the first tool in a run without calls."""

    def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
        if not self.records and not turn.calls and self.request.tools:
            call = ToolCall("none", self.request.tools[0]["function"]["name"], "{}")
            self.records.append(Record(0, 0, Called(call, ToolPath.DISPATCH), Result("")))
        return super().finish(turn, capped=capped)


@breaks("server-dispatched-tools-are-advertised")
class OffersToolsByNameAlone(ServerLoop):
    """Sends the tools without their descriptions."""

    def _infer(self) -> Step:
        step = super()._infer()
        if isinstance(step, Infer) and "tools" in step.body:
            step.body["tools"] = [_bare(tool) for tool in step.body["tools"]]
        return step


@breaks("server-dispatched-tools-are-advertised")
class OffersToolsOnce(ServerLoop):
    """Offers the tools in the first model request only."""

    def _infer(self) -> Step:
        step = super()._infer()
        if isinstance(step, Infer) and self.round:
            step.body.pop("tools", None)
            step.body.pop("tool_choice", None)
        return step


def _bare(tool: Json) -> Json:
    function = {name: value for name, value in tool["function"].items() if name != "description"}
    return {**tool, "function": function}


@breaks("server-round-asks-the-model-once")
class AsksTwiceInTheFifthRound(ServerLoop):
    """Discards the first turn of the fifth round, and asks the model again."""

    asked = 0

    def model_answered(self, turn: Turn) -> Step:
        self.asked += 1
        if self.asked == 5 and turn.calls and self.round < self.cap:
            return self._infer()
        return super().model_answered(turn)


@breaks("server-answer-ends-the-loop")
class EmptyAnswersAreRounds(ServerLoop):
    """Asks the model again after an empty answer."""

    def answers(self, turn: Turn) -> bool:
        return super().answers(turn) and bool(turn.text or turn.calls or turn.stop.truncated)


@breaks("server-answer-is-forwarded")
class ServerCutsLongAnswers(ServerLoop):
    """Truncates answers at 2,000 characters."""

    def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
        return super().finish(replace(turn, text=turn.text[:2000]), capped=capped)


@breaks("server-answer-is-forwarded")
class CutAnswersLookWhole(ServerLoop):
    """Always sends the stop reason of a complete answer."""

    def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
        return super().finish(turn if turn.calls else replace(turn, stop=Stop.END), capped=capped)


@breaks("server-first-of-several-calls-runs")
class ServerRunsAllCalls(ServerLoop):
    """Runs every call of a turn, not only the first."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        return turn.calls


@breaks("server-history-gets-call-and-result")
class EchoesCallsWithoutArguments(ServerLoop):
    """Sends a call back to the model without its arguments if its turn has text."""

    def extend_history(self, turn: Turn, ran: Sequence[Record]) -> None:
        calls = tuple(replace(call, arguments="{}") for call in turn.calls) if turn.text else turn.calls
        super().extend_history(replace(turn, calls=calls), ran)


@breaks("server-history-only-grows")
class ElidesOldResults(ServerLoop):
    """Empties tool results after two rounds."""

    def extend_history(self, turn: Turn, ran: Sequence[Record]) -> None:
        if self.round == 2:
            self.history = [_elided(message) for message in self.history]
        super().extend_history(turn, ran)


def _elided(message: Message) -> Message:
    old = message.hidden and message.body["role"] == "tool"
    return replace(message, body={**message.body, "content": "(elided)"}) if old else message


@breaks(
    "server-history-only-grows",
    collateral={"server-session-is-spliced-in": "a session's requests have instructions too"},
)
class InstructionsAreTheServersOwn(ServerLoop):
    """Leaves the client's instructions out of a run with tools of the server."""

    def splice(self, session: Session | None) -> list[Message]:
        every = super().splice(session)
        return [one for one in every if one.body["role"] != "system"] if self.offer.entered else every


@breaks("server-dispatch-url-gets-the-call")
class OddNamesAreNotDispatched(ServerLoop):
    """Does not post calls of tools whose name is not an identifier."""

    def path_of(self, call: ToolCall) -> ToolPath | None:
        path = super().path_of(call)
        return None if path is ToolPath.DISPATCH and not call.name.isidentifier() else path


@breaks("server-call-runs-once")
class EmptyResultsAreAskedForAgain(Simulator):
    """Posts a call again if its result is empty."""

    async def _run(self, called: Called, headers: Mapping[str, str], workshop: Workshop) -> Result:
        result = await super()._run(called, headers, workshop)
        return result if result.content else await super()._run(called, headers, workshop)


@breaks(
    "server-no-request-is-refused",
    collateral={
        (
            "server-odd-dispatch-bodies-are-results",
            "server-results-arrive-unchanged",
        ): "the refused request ends the run with an empty result"
    },
)
class AsksInAStrangeRole(ServerLoop):
    """Sends empty results to the model with the role `function`."""

    def _infer(self) -> Step:
        step = super()._infer()
        if isinstance(step, Infer):
            step.body["messages"] = [_of_a_function(message) for message in step.body["messages"]]
        return step


def _of_a_function(message: Json) -> Json:
    empty = message["role"] == "tool" and not message["content"]
    return {**message, "role": "function_result"} if empty else message
