"""What the caller of a run is told of calls, results and the end, wrong: too often, never, late, or of other runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from looptck_mutants.cells import CHAT, CHAT_STREAM, MESSAGES_STREAM, RESPONSES_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.kit.telling import Emit
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Action
from looptck_reference.vocabulary.news import Called
from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult, Turn

OF_ANY = "what is told of any run is wrong"


class Telling(Driver):
    """A driver whose events a subclass hands on otherwise."""

    def hands_on(self, case: Json, emit: Emit) -> Emit:
        """What hears the events and the texts of a run."""
        raise NotImplementedError

    def run(self, case: Json, emit: Emit) -> Json:
        return super().run(case, self.hands_on(case, emit))

    async def run_async(self, case: Json, emit: Emit) -> Json:
        return await super().run_async(case, self.hands_on(case, emit))


def _only(events: Callable[[Json], Sequence[Json]], emit: Emit) -> Emit:
    """Hands on all texts, and in place of an event these events."""

    def hand_on(told: Any) -> None:
        for one in events(told) if isinstance(told, dict) else [told]:
            emit(one)

    return hand_on


@breaks(
    "running-calls-are-told",
    cells=CHAT,
    collateral={("told-calls-get-one-result", "events-tell-calls-apart", "events-of-a-run-are-its-own"): OF_ANY},
)
class CallsAreToldTwice(Loop):
    """Tells each call of a turn twice."""

    def announce(self, calls: Sequence[ToolCall]) -> None:
        super().announce(calls)
        super().announce(calls)


@breaks(
    "told-calls-get-one-result",
    cells=CHAT,
    collateral={"told-results-are-those-of-the-model": "the result of a failure is missing"},
)
class FailuresAreNotTold(Loop):
    """Tells no result of a call that has failed."""

    def announce_result(self, result: ToolResult) -> None:
        if not result.failed:
            super().announce_result(result)


@breaks("told-calls-get-one-result", cells=CHAT)
class EmptyResultsAreNotTold(Loop):
    """Tells no result without words."""

    def announce_result(self, result: ToolResult) -> None:
        if result.text:
            super().announce_result(result)


@breaks(
    "told-calls-get-one-result",
    cells=CHAT,
    collateral={"events-tell-calls-apart": "two calls of one tool in a turn have results with the id of the first"},
)
class ResultsAreToldByTool(Loop):
    """Tells each result under the id of the first call of its tool in the run."""

    def announce(self, calls: Sequence[ToolCall]) -> None:
        super().announce(calls)
        for call in calls:
            self.__dict__.setdefault("first_ids", {}).setdefault(call.name, call.id)

    def announce_result(self, result: ToolResult) -> None:
        first_ids: dict[str, str] = self.__dict__.get("first_ids", {})
        super().announce_result(replace(result, call_id=first_ids.get(result.name, result.call_id)))


@breaks("events-tell-calls-apart", cells=CHAT)
class CallsAreNumberedInTheirTurn(Telling):
    """Tells calls and results under the number of the call in its turn, so that each turn has the same ids."""

    def hands_on(self, case: Json, emit: Emit) -> Emit:
        def events(event: Json) -> Sequence[Json]:
            return [{**event, "call_id": event["call_id"][-1:]}] if event.get("call_id") else [event]

        return _only(events, emit)


@breaks("told-calls-have-their-arguments", cells=CHAT)
class ArgumentsAreCut(Loop):
    """Tells the first ten signs of the arguments of a call."""

    def announce(self, calls: Sequence[ToolCall]) -> None:
        super().announce([replace(call, arguments=call.arguments[:10]) for call in calls])


@breaks("pieces-of-arguments-join", cells=CHAT_STREAM + MESSAGES_STREAM + RESPONSES_STREAM)
class PiecesGoToTheFirstCall(Telling):
    """Tells all pieces of arguments under the id of the first."""

    def hands_on(self, case: Json, emit: Emit) -> Emit:
        first: list[str] = []

        def events(event: Json) -> Sequence[Json]:
            if event["kind"] != "arguments":
                return [event]
            first.append(event["call_id"])
            return [{**event, "call_id": first[0]}]

        return _only(events, emit)


@breaks(
    "told-results-are-those-of-the-model",
    cells=CHAT,
    collateral={"events-tell-calls-apart": "the result of the first of two equal calls is told of both"},
)
class ResultsOfTheCallBefore(Loop):
    """Tells the result of a call as that of the call before it in the turn."""

    def announce_result(self, result: ToolResult) -> None:
        texts = [one.text for one in self._results.values()]
        super().announce_result(replace(result, text=texts[-2] if len(texts) > 1 else result.text))


@breaks("told-results-are-those-of-the-model", cells=CHAT)
class SuccessIsToldAsFailure(Loop):
    """Tells of each result that it is that of a failure."""

    def announce_result(self, result: ToolResult) -> None:
        super().announce_result(replace(result, failed=True))


@breaks("told-results-are-those-of-the-model", cells=CHAT)
class FailureIsToldAsResult(Telling):
    """Tells of each result that it is not that of a failure."""

    def hands_on(self, case: Json, emit: Emit) -> Emit:
        return _only(lambda event: [{**event, "failed": False} if event["kind"] == "result" else event], emit)


@breaks("told-results-are-those-of-the-model", cells=CHAT)
class LongResultsAreToldInPart(Loop):
    """Tells the first hundred signs of a result."""

    def announce_result(self, result: ToolResult) -> None:
        super().announce_result(replace(result, text=result.text[:100]))


@breaks("told-results-are-those-of-the-model", cells=CHAT)
class ResultsAreToldInPythonsWords(Loop):
    """Tells each result as Python writes a text in its source."""

    def announce_result(self, result: ToolResult) -> None:
        super().announce_result(replace(result, text=repr(result.text)))


@breaks("events-tell-calls-apart", cells=CHAT)
class EventsHaveNoIds(Telling):
    """Tells calls and results without ids."""

    def hands_on(self, case: Json, emit: Emit) -> Emit:
        return _only(lambda event: [{**event, "call_id": None}] if "call_id" in event else [event], emit)


@breaks("events-tell-calls-apart", cells=CHAT)
class NamesAreIds(Loop):
    """Tells calls under the names of their tools."""

    def announce(self, calls: Sequence[ToolCall]) -> None:
        super().announce([replace(call, id=call.name) for call in calls])

    def announce_result(self, result: ToolResult) -> None:
        super().announce_result(replace(result, call_id=result.name))


@breaks("calls-are-told-while-they-run", cells=CHAT)
class CallsAreToldWithTheirResults(Loop):
    """Tells a call when it has its result."""

    def announce(self, calls: Sequence[ToolCall]) -> None:
        """Wait for the results."""

    def announce_result(self, result: ToolResult) -> None:
        call = next(one for one in self._calls if one.id == result.call_id)
        super().announce([call])
        super().announce_result(result)


@breaks("events-keep-the-order-of-rounds", "answer-comes-after-the-events", cells=CHAT_STREAM)
class ResultsAreToldAtTheEnd(Telling):
    """Tells all results when the run is over."""

    def hands_on(self, case: Json, emit: Emit) -> Emit:
        held: list[Json] = []

        def events(event: Json) -> Sequence[Json]:
            if event["kind"] == "result":
                held.append(event)
                return []
            return [*held, event] if event["kind"] == "end" else [event]

        return _only(events, emit)


@breaks("end-is-told-once", cells=CHAT)
class EndIsToldTwice(Telling):
    """Tells the end of a run twice."""

    def hands_on(self, case: Json, emit: Emit) -> Emit:
        return _only(lambda event: [event, event] if event["kind"] == "end" else [event], emit)


@breaks("end-is-told-once", cells=CHAT)
class FailureIsToldAsSuccess(Telling):
    """Tells the end of a run that has failed as that of one with its answer."""

    def hands_on(self, case: Json, emit: Emit) -> Emit:
        return _only(lambda event: [{**event, "how": "value"}] if event["kind"] == "end" else [event], emit)


@breaks("limit-ends-are-told", cells=CHAT)
class NoEndAtTheLimit(Telling):
    """Tells no end of a run that fails at its limit."""

    def hands_on(self, case: Json, emit: Emit) -> Emit:
        limited = "limit" in case["options"]
        return _only(lambda event: [] if limited and event.get("how") == "error" else [event], emit)


@breaks("results-of-the-last-round-are-told", cells=CHAT)
class ResultsAreToldWithTheNextTurn(Loop):
    """Tells the results of a round once the model has replied to them."""

    def announce_result(self, result: ToolResult) -> None:
        self.__dict__.setdefault("held", []).append(result)

    def count(self, turn: Turn) -> None:
        for result in self.__dict__.pop("held", []):
            super().announce_result(result)
        super().count(turn)


@breaks(
    "end-is-told-once",
    cells=CHAT,
    collateral={("told-calls-get-one-result", "events-tell-calls-apart", "events-of-a-run-are-its-own"): OF_ANY},
)
class ResultFollowsTheEnd(Telling):
    """Tells the last result once more behind the end."""

    def hands_on(self, case: Json, emit: Emit) -> Emit:
        latest: list[Json] = []

        def events(event: Json) -> Sequence[Json]:
            if event["kind"] == "result":
                latest.append(event)
            return [event, *latest[-1:]] if event["kind"] == "end" else [event]

        return _only(events, emit)


@breaks("events-of-a-run-are-its-own", cells=CHAT)
class HistoryIsToldAgain(Loop):
    """Tells the calls of earlier runs of a conversation again."""

    def start(self) -> Action:
        for message in self.history:
            for call in message.get("tool_calls", ()):
                function = call["function"]
                self.news.append(Called(ToolCall(call["id"], function["name"], function["arguments"])))
        return super().start()


@breaks("events-of-a-run-are-its-own", cells=CHAT)
class AllListenersHear(Telling):
    """Tells the events of a run to the callers of all runs under way."""

    listeners: ClassVar[list[Emit]] = []

    def hands_on(self, case: Json, emit: Emit) -> Emit:
        self.listeners.append(emit)

        def hand_on(told: Any) -> None:
            if isinstance(told, str):
                emit(told)
                return
            for hears in list(self.listeners):
                hears(told)
            if told["kind"] == "end":
                self.listeners.remove(emit)

        return hand_on


@breaks("plain-and-stream-tell-the-same", cells=CHAT_STREAM)
class PlainRunsTellNothing(Telling):
    """Tells events only where streams are asked for, and does not say so."""

    def hands_on(self, case: Json, emit: Emit) -> Emit:
        return emit if case["stream"] else _only(lambda _: [], emit)
