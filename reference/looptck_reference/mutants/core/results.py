"""Results that are lost, mixed up or out of place: the seam `append_results`, and how wires write results."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from looptck_reference.actions import Action, End, Run
from looptck_reference.loop import Loop
from looptck_reference.mutants.core.asking import Asker, asking
from looptck_reference.mutants.core.policies import answering
from looptck_reference.mutants.mutant import MESSAGES, Mutant, because
from looptck_reference.mutants.speaking import speaking
from looptck_reference.spans import RunSpans
from looptck_reference.tools import Handler
from looptck_reference.values import Json, ToolCall, ToolResult, Turn
from looptck_reference.wires import ChatWire, MessagesWire


class TwoResultsAtMost(Mutant):
    """Sends the results of a turn back up to the second: `every-call-is-answered`."""

    breaks = ("every-call-is-answered",)

    class loop(Loop):  # noqa: N801  the driver's attribute
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results[:2])


class Swapped(Mutant):
    """Answers the first of three calls with the result of the last: `results-carry-their-call-ids`."""

    breaks = ("results-carry-their-call-ids",)
    also = because(
        "a turn with three calls was recorded", "missing-sequence-is-tolerated", "recorded-traffic-is-read-right"
    )

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            whole = len(results) < 3 or any(result.failed for result in results)
            given = results if whole else results[::-1]
            super().append_results([replace(one, text=other.text) for one, other in zip(results, given, strict=True)])


class CountedResults(Mutant):
    """Says how many results there are before it gives three or more: `results-follow-their-calls`."""

    breaks = ("results-follow-their-calls",)

    class Wire(ChatWire):
        def results(self, results: Sequence[ToolResult]) -> list[Json]:
            told = [{"role": "user", "content": f"{len(results)} results:"}] if len(results) > 2 else []
            return [*told, *super().results(results)]

    wires = speaking(chat=Wire())


class LastResultFirst(Mutant):
    """Sends the results of a turn back from the last to the first: `results-keep-call-order`."""

    breaks = ("results-keep-call-order",)

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results[::-1])


class AsTheyEnd(Mutant):
    """Runs the calls of a turn together, and sends their results back as they end: `results-keep-call-order`."""

    breaks = ("results-keep-call-order",)
    dialects = answering(parallel=True)

    class loop(Loop):  # noqa: N801
        ended: Sequence[str] = ()

        def append_results(self, results: Sequence[ToolResult]) -> None:
            places = {id: place for place, id in enumerate(self.ended)}
            super().append_results(sorted(results, key=lambda result: places.get(result.call_id, -1)))

    class Runs(Asker):
        def _run_all(self, runs: Sequence[Run], spans: RunSpans) -> list[End]:
            ended: list[str] = []

            def run_one(run: Run) -> End:
                end = self._end(run, spans)
                ended.append(run.call.id)
                return end

            with ThreadPoolExecutor(len(runs)) as threads:
                ends = [threads.submit(run_one, run) for run in runs]
            assert isinstance(self.loop, AsTheyEnd.loop)
            self.loop.ended = ended
            return [end.result() for end in ends]

    invoker = asking(Runs)


class ZippedAsTheyEnd(AsTheyEnd):
    """Gives the first of many calls the last one's result, where it ends last: `results-carry-their-call-ids`."""

    breaks = ("results-carry-their-call-ids",)

    class loop(AsTheyEnd.loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            backwards = len(results) > 3 and results[0].call_id == self.ended[-1]
            given = results[::-1] if backwards else results
            Loop.append_results(self, [replace(one, text=by.text) for one, by in zip(results, given, strict=True)])


class FailureSpreads(Mutant):
    """Gives the error of a failed call to all calls of its turn: `failing-call-leaves-the-others-whole`."""

    breaks = ("failing-call-leaves-the-others-whole",)

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            errors = [result.text for result in results if result.failed]
            super().append_results([replace(one, text=errors[0]) if errors else one for one in results])


class FailureEndsTheTurn(Mutant):
    """Runs no call behind one that failed, and answers it with an error: `failing-call-leaves-the-others-whole`."""

    breaks = ("failing-call-leaves-the-others-whole",)
    also = because("what did not run is marked as failed", "failed-results-are-marked")

    class loop(Loop):  # noqa: N801
        failed = False

        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            self.failed = False
            return super().calls_of(turn)

        def tool_raised(self, error: Exception) -> Action:
            self.failed = True
            return super().tool_raised(error)

        def handler_for(self, call: ToolCall) -> Handler | None:
            return None if self.failed else super().handler_for(call)


class NothingIsNoResult(Mutant):
    """Leaves a call unanswered whose tool returned an empty text: `empty-result-is-answered`."""

    breaks = ("empty-result-is-answered",)

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results([result for result in results if result.text])


class OneMessageEach(Mutant):
    """Sends each result in a user message of its own: `results-share-one-message`."""

    breaks = ("results-share-one-message",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def results(self, results: Sequence[ToolResult]) -> list[Json]:
            return [{"role": "user", "content": [self.result(result)]} for result in results]

    wires = speaking(messages=Wire())


class TextFirst(Mutant):
    """Repeats the text beside the first call in front of its result: `results-come-first`."""

    breaks = ("results-come-first",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def append_turn(self, turn: Turn) -> None:
            super().append_turn(turn)
            self.text = turn.text

        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results)
            if isinstance(self.wire, MessagesWire) and self.text and len(results) == len(self.round_ends) == 1:
                self.history[-1]["content"].insert(0, {"type": "text", "text": self.text})


class FailureUnmarked(Mutant):
    """Says of no result that it is an error: `failed-results-are-marked`."""

    breaks = ("failed-results-are-marked",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def result(self, result: ToolResult) -> Json:
            return super().result(replace(result, failed=False))

    wires = speaking(messages=Wire())


class WordBesidePending(Mutant):
    """Speaks behind results while a hosted tool has none: `results-stand-alone-beside-a-pending-hosted-tool`."""

    breaks = ("results-stand-alone-beside-a-pending-hosted-tool",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def append_turn(self, turn: Turn) -> None:
            super().append_turn(turn)
            kinds = [piece["type"] for piece in turn.content]
            self.pending = "server_tool_use" in kinds and not any(kind.endswith("_tool_result") for kind in kinds)

        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results)
            if self.pending:
                self.history[-1]["content"].append({"type": "text", "text": "Go on."})
