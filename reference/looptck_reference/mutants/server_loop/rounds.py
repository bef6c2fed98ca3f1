"""The rounds of one request: what ends them, which calls are run in them, and what the model is asked in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from looptck_reference.mutants.mutant import CHAT_STREAM, because
from looptck_reference.mutants.server_loop.mutant import ServerMutant
from looptck_reference.server.events import CallsPiece, Event
from looptck_reference.server.loop import AgentLoop
from looptck_reference.server.serving import Simulator
from looptck_reference.server.steps import Finish, Infer, Step
from looptck_reference.server.tools import Workshop
from looptck_reference.server.values import Called, Message, Record, Result, ToolPath
from looptck_reference.values import Json, Stop, ToolCall, Turn


class TextBesideACallIsTheAnswer(ServerMutant):
    """Takes a turn with text for the answer, calls or not: `server-tool-runs-and-the-request-goes-on`."""

    breaks = ("server-tool-runs-and-the-request-goes-on",)

    class simulator(Simulator):  # noqa: N801  the bench's attribute
        class loop(AgentLoop):  # noqa: N801  the simulator's attribute
            def answers(self, turn: Turn) -> bool:
                return super().answers(turn) or bool(turn.text)


class ServerLeaksItsCalls(ServerMutant):
    """Streams the calls that it runs to the client: `server-run-calls-stay-in-the-server`."""

    breaks = ("server-run-calls-stay-in-the-server",)
    also = because("a call stays with the client at the cap too", "server-cap-forces-an-answer")
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def forwards(self, turn: Turn) -> Sequence[Event]:
                return [*super().forwards(turn), CallsPiece(turn.calls)]


class RecordsWhatDidNotRun(ServerMutant):
    """Records a run of the first tool where the model asked for none: `server-no-call-no-tool`."""

    breaks = ("server-no-call-no-tool",)
    also = because("its control is a reply without calls", "server-plain-reply-records-each-round")

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
                if not self.records and not turn.calls and self.request.tools:
                    call = ToolCall("none", self.request.tools[0]["function"]["name"], "{}")
                    self.records.append(Record(0, 0, Called(call, ToolPath.DISPATCH), Result("")))
                return super().finish(turn, capped=capped)


class OffersToolsByNameAlone(ServerMutant):
    """Leaves the descriptions of tools out of its questions: `server-dispatched-tools-are-advertised`."""

    breaks = ("server-dispatched-tools-are-advertised",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def _infer(self) -> Step:
                step = super()._infer()
                if isinstance(step, Infer) and "tools" in step.body:
                    step.body["tools"] = [_bare(tool) for tool in step.body["tools"]]
                return step


def _bare(tool: Json) -> Json:
    function = {name: value for name, value in tool["function"].items() if name != "description"}
    return {**tool, "function": function}


class AsksTwiceInTheFifthRound(ServerMutant):
    """Throws the first turn of the fifth round away and asks again: `server-round-asks-the-model-once`."""

    breaks = ("server-round-asks-the-model-once",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            asked = 0

            def model_answered(self, turn: Turn) -> Step:
                self.asked += 1
                if self.asked == 5 and turn.calls and self.round < self.cap:
                    return self._infer()
                return super().model_answered(turn)


class EmptyAnswersAreRounds(ServerMutant):
    """Asks again where the model had nothing to say: `server-answer-ends-the-loop`."""

    breaks = ("server-answer-ends-the-loop",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def answers(self, turn: Turn) -> bool:
                return super().answers(turn) and bool(turn.text or turn.calls or turn.stop.cut)


class ServerCutsLongAnswers(ServerMutant):
    """Hands 2,000 characters of an answer on and no more: `server-answer-is-forwarded`."""

    breaks = ("server-answer-is-forwarded",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
                return super().finish(replace(turn, text=turn.text[:2000]), capped=capped)


class CutAnswersLookWhole(ServerMutant):
    """Tells the client of no stop reason but the usual: `server-answer-is-forwarded`."""

    breaks = ("server-answer-is-forwarded",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
                return super().finish(turn if turn.calls else replace(turn, stop=Stop.END), capped=capped)


class ServerRunsAllCalls(ServerMutant):
    """Runs every call of a turn: `server-first-of-several-calls-runs`."""

    breaks = ("server-first-of-several-calls-runs",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
                return turn.calls


class EchoesCallsWithoutArguments(ServerMutant):
    """Keeps of a call its name alone where text stood beside it: `server-history-gets-call-and-result`."""

    breaks = ("server-history-gets-call-and-result",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def extend_history(self, turn: Turn, ran: Sequence[Record]) -> None:
                calls = tuple(replace(call, arguments="{}") for call in turn.calls) if turn.text else turn.calls
                super().extend_history(replace(turn, calls=calls), ran)


class ElidesOldResults(ServerMutant):
    """Empties what tools returned two rounds ago: `server-history-only-grows`."""

    breaks = ("server-history-only-grows",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def extend_history(self, turn: Turn, ran: Sequence[Record]) -> None:
                if self.round == 2:
                    self.history = [_elided(message) for message in self.history]
                super().extend_history(turn, ran)


def _elided(message: Message) -> Message:
    old = message.hidden and message.body["role"] == "tool"
    return replace(message, body={**message.body, "content": "(elided)"}) if old else message


class OddNamesAreNotDispatched(ServerMutant):
    """Posts calls of tools with an identifier for a name, and no others: `server-dispatch-url-gets-the-call`."""

    breaks = ("server-dispatch-url-gets-the-call",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def path_of(self, call: ToolCall) -> ToolPath | None:
                path = super().path_of(call)
                return None if path is ToolPath.DISPATCH and not call.name.isidentifier() else path


class EmptyResultsAreAskedForAgain(ServerMutant):
    """Posts a call once more where nothing came back: `server-call-runs-once`."""

    breaks = ("server-call-runs-once",)

    class simulator(Simulator):  # noqa: N801
        async def _run(self, called: Called, headers: Mapping[str, str], workshop: Workshop) -> Result:
            result = await super()._run(called, headers, workshop)
            return result if result.content else await super()._run(called, headers, workshop)


class AsksInAStrangeRole(ServerMutant):
    """Tells its model of empty results as a function's: `server-no-request-is-refused`."""

    breaks = ("server-no-request-is-refused",)
    also = because(
        "a request that is refused ends the run of an empty result",
        "server-odd-dispatch-bodies-are-results",
        "server-results-arrive-unchanged",
    )

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def _infer(self) -> Step:
                step = super()._infer()
                if isinstance(step, Infer):
                    step.body["messages"] = [_of_a_function(message) for message in step.body["messages"]]
                return step


def _of_a_function(message: Json) -> Json:
    empty = message["role"] == "tool" and not message["content"]
    return {**message, "role": "function_result"} if empty else message
