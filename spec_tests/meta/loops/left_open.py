"""Loops that are right in what documents leave open of lost calls, broken replies and cancelled runs."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from looptck_mutants.core.approving import ReasonsAreForTheLog
from looptck_mutants.core.faults import AfterBreaks
from looptck_mutants.core.results import FailureEndsTheTurn
from looptck_mutants.parts import asking, speaking
from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.vocabulary.actions import Action, Ask, End, Fail, Finish
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.errors import LoopError, UnknownTool
from looptck_reference.vocabulary.tools import Handler
from looptck_reference.vocabulary.values import Answer, Json, Stop, ToolCall, ToolResult, Turn
from looptck_reference.wires import ChatWire, MessagesWire, ResponsesWire


class HandsOverWhatItCannotRun(Driver):
    """Ends with a turn that calls a tool without a function, and hands its caller the calls."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def decide(self, turn: Turn) -> Decision:
            return Decision.ANSWER if self.cannot_run(turn) else super().decide(turn)

        def stop(self, turn: Turn) -> Action:
            return Finish(Answer(turn.text, Stop.CALLS)) if self.cannot_run(turn) else super().stop(turn)

        def cannot_run(self, turn: Turn) -> bool:
            """Whether the turn calls an offered tool that has no function."""
            return any(call.name in self.tools and self.handler_for(call) is None for call in turn.calls)


class RaisesWhatItCannotRun(Driver):
    """Ends in an error with a turn that calls a tool without a function, when it has run those before it."""

    class loop(Loop):  # noqa: N801
        def prepare(self, call: ToolCall) -> Any:
            missing = UnknownTool(f"no function for {call.name}")
            return super().prepare(call) if self.handler_for(call) else Fail(missing, missing.reason)


class LooksAtWholeTurns(Driver):
    """Runs no call of a turn of which one calls what has no function, and tells the model of each that it has not."""

    class loop(Loop):  # noqa: N801
        stopped = False

        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            self.stopped = False
            self.stopped = any(self.handler_for(call) is None for call in turn.calls)
            return super().calls_of(turn)

        def handler_for(self, call: ToolCall) -> Handler | None:
            return None if self.stopped or call.name not in self.tools else super().handler_for(call)


class WantsAFunctionForEach(Driver):
    """Refuses a run in which a tool has no function."""

    def run(self, case: Json, emit: OnText) -> Json:
        """Run the case, or refuse it before the model is asked."""
        if all(tool["url"] for tool in case["tools"]):
            return super().run(case, emit)
        return {"kind": "error", "reason": "other", "type": "ValueError", "message": "a tool has no function"}


class AsksAgain(Driver):
    """Sends a request again if its reply broke off, and returns the answer to the second one."""

    invoker = asking(AfterBreaks)


class AsksForWhatIsMissing(Driver):
    """Asks for the rest of a reply that broke off, with another request, and returns the beginning too."""

    class Runs(Exchange):
        said = ""

        def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
            try:
                return (yield from super().ask(ask))
            except LoopError:
                again = Ask((*ask.history, *self.loop.wire.opening([{"role": "user", "content": "Please go on."}])))
                turn = yield from super().ask(again)
                return Turn(f"The capital of France, {turn.text}")

    invoker = asking(Runs)


class ForgetsWhatWasCancelled(Driver):
    """Goes on without the turn in which a run was cancelled."""

    class loop(Loop):  # noqa: N801
        def settled(self) -> list[Json]:
            cancelled = isinstance(self.end, Fail) and self.end.reason == "cancelled"
            return self.history[: self.round_ends[-1]] if cancelled else super().settled()


class GuardsAgainstRepetitions(Driver):
    """Answers a call that is equal to an earlier one with a hint, and says so."""

    class loop(Loop):  # noqa: N801
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.made: set[tuple[str, str]] = set()

        def prepare(self, call: ToolCall) -> Any:
            said = call.name, call.arguments
            if said in self.made:
                hint = f"You have called {call.name} with these arguments already. Its result stands above."
                return ToolResult(self.answer_id(call), call.name, hint, extra=call.extra)
            self.made.add(said)
            return super().prepare(call)

    def start(self) -> Json:
        """The description, with the declared choice."""
        return {**super().start(), "dialect": {"equal_calls": "answered"}}


class SkipsBehindFailures(Driver):
    """Tells the model of each call behind a failed one of its turn that it has not run, and says so."""

    loop = FailureEndsTheTurn

    def start(self) -> Json:
        """The description, with the declared choice."""
        return {**super().start(), "dialect": {"after_failure": "skipped"}}


class SaysNoAlone(Driver):
    """Takes no reason for a rejection, tells the model of the rejection alone, and says so."""

    loop = ReasonsAreForTheLog

    def start(self) -> Json:
        """The description, with the declared choice."""
        return {**super().start(), "dialect": {"rejections": "bare"}}


class HandsOnParagraphs(Driver):
    """Hands the text of a stream on in whole paragraphs."""

    def run(self, case: Json, emit: Any) -> Json:
        """Run the case, and keep each text until its paragraph ends."""
        begun = ""

        def by_paragraphs(piece: Any) -> None:
            nonlocal begun
            if not isinstance(piece, str):
                emit(piece)
                return
            *whole, begun = (begun + piece).split("\n\n")
            for one in whole:
                emit(f"{one}\n\n")

        outcome = super().run(case, by_paragraphs)
        if begun:
            emit(begun)
        return outcome


class Repairs(Driver):
    """Runs the tool whose name is nearest to that of a call, and says so."""

    class loop(Loop):  # noqa: N801
        def handler_for(self, call: ToolCall) -> Handler | None:
            near = get_close_matches(call.name, self.tools, 1, 0.8)
            return super().handler_for(call) or (self.registry.get_tool(near[0]) if near else None)

    def start(self) -> Json:
        """The description, with the declared choice."""
        return {**super().start(), "dialect": {"unknown_names": "repaired"}}


class TimesItsResults(Driver):
    """Says behind each result how long it took, which is never the same twice."""

    class loop(Loop):  # noqa: N801
        clock = itertools.count()

        def result(self, call: ToolCall, end: End) -> ToolResult | Fail:
            made = super().result(call, end)
            return made if isinstance(made, Fail) else replace(made, text=f"{made.text}\n({next(self.clock)} ms)")


class GivesUpAfterFive(Driver):
    """Asks five times where its caller sets no limit, and then says only that it has no answer."""

    class loop(Loop):  # noqa: N801
        def __init__(self, agent: Agent, *, limit: int | None = None, **more: Any) -> None:
            super().__init__(agent, limit=5 if limit is None else limit, **more)

        def ask(self) -> Action:
            return Fail(LookupError("there is no answer yet"), "other") if self.limit_reached() else super().ask()


class CallsFirstResponses(ResponsesWire):
    """Sends a turn back as frameworks keep it: its calls, and what it said."""

    def echo(self, turn: Turn) -> list[Json]:
        return sorted(super().echo(turn), key=lambda item: item.get("type") == "message")


class SendsCallsFirst(Driver):
    """Sends the text of a turn back behind its calls, where its results follow."""

    wires = speaking(responses=CallsFirstResponses())


class PrunesByDefault(Driver):
    """Sends the last three rounds where its caller does not say how many, as the skill's own function does."""

    class loop(Loop):  # noqa: N801
        def __init__(self, agent: Agent, *, keep_rounds: int | None = None, **more: Any) -> None:
            super().__init__(agent, keep_rounds=3 if keep_rounds is None else keep_rounds, **more)


class SaysMoreBehindResults(Driver):
    """Puts a text behind the results of a turn, in their message."""

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results)
            self.history[-1]["content"].append({"type": "text", "text": "Go on."})


class RemindingChat(ChatWire):
    """Says in each request how long the history is, behind it, and keeps no word of that."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        return super().request(
            agent, [*history, {"role": "user", "content": f"({len(history)} so far)"}], stream=stream
        )


class RemindingMessages(MessagesWire):
    """The same, as a text behind the prompt's, or behind the results; a turn that was paused goes back alone."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        *before, last = history
        if last["role"] != "user":
            return super().request(agent, history, stream=stream)
        blocks = last["content"]
        blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
        told = {"role": "user", "content": [*blocks, {"type": "text", "text": f"({len(history)} so far)"}]}
        return super().request(agent, [*before, told], stream=stream)


class NotingMessages(MessagesWire):
    """Puts a note behind the results of each turn, which stays there."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        (message,) = super().results(results)
        return [{**message, "content": [*message["content"], {"type": "text", "text": "Go on."}]}]


class Notes(Driver):
    """Keeps its reminders."""

    wires = speaking(messages=NotingMessages())


class Reminds(Driver):
    """Reminds the model in each request of something that the next request does not repeat."""

    wires = speaking(chat=RemindingChat(), messages=RemindingMessages())


class CountingChat(ChatWire):
    """Says behind the instructions of each request how long the history is."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        first, *rest = history
        counted = {**first, "content": f"{first['content']}\n\n({len(history)} so far)"}
        return super().request(agent, [counted, *rest], stream=stream)


class TimedChat(ChatWire):
    """Tells the time behind the instructions, which is never the same twice."""

    clock = itertools.count()

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        first, *rest = history
        timed = {**first, "content": f"{first['content']}\n\nIt is {next(self.clock)} o'clock."}
        return super().request(agent, [timed, *rest], stream=stream)


class TellsTheTime(AsksAgain):
    """Tells the model the time, also where it asks once more after a turn without a word or a reply that broke."""

    wires = speaking(chat=TimedChat())

    class loop(Loop):  # noqa: N801
        asked = 0

        def model_answered(self, turn: Turn) -> Action:
            if turn.text or turn.calls or turn.stop is not Stop.END or self.asked == 2:
                return super().model_answered(turn)
            self.asked += 1
            return self._enter(self.ask())


class CountsInItsInstructions(Driver):
    """Writes its instructions anew for each request, as frameworks do that take a function for them."""

    wires = speaking(chat=CountingChat())
