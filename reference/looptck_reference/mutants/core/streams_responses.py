"""Streams of Responses put together wrongly: the seams `ResponsesStream.item_for` and `output`."""

from __future__ import annotations

from typing import Any

from looptck_reference.errors import StreamBroken
from looptck_reference.mutants.mutant import RESPONSES_STREAM, Mutant
from looptck_reference.mutants.speaking import streaming
from looptck_reference.values import Json
from looptck_reference.wires import ResponsesStream
from looptck_reference.wires.openai_responses_stream import PartialItem


class ResponsesItemsMerged(Mutant):
    """Takes every delta for one of the latest item, and trusts its deltas alone: `interleaved-blocks-stay-apart`.

    Two seams: what the last event records would repair what the deltas broke.
    """

    breaks = ("interleaved-blocks-stay-apart",)
    cells = RESPONSES_STREAM

    class Stream(ResponsesStream):
        def item_for(self, index: Any, item_id: Any) -> PartialItem:
            return self.items[-1]

        def output(self) -> list[Json]:
            return self.streamed()

    wires = streaming(responses=Stream)


class NoDeltasNoCalls(Mutant):
    """Drops the calls of a stream in which arguments came in no delta: `whole-items-need-no-deltas`."""

    breaks = ("whole-items-need-no-deltas",)
    cells = RESPONSES_STREAM

    class Stream(ResponsesStream):
        told = False

        def add_arguments(self, item: PartialItem, piece: str) -> None:
            self.told = True
            super().add_arguments(item, piece)

        def output(self) -> Any:
            output = super().output()
            return output if self.told else [item for item in output if (item.get("arguments") or "{}") == "{}"]

    wires = streaming(responses=Stream)


class NumbersNeeded(Mutant):
    """Gives up at an event without a sequence number: `missing-sequence-is-tolerated`."""

    breaks = ("missing-sequence-is-tolerated",)
    cells = RESPONSES_STREAM

    class Stream(ResponsesStream):
        def take(self, event: Json) -> str:
            if "sequence_number" not in event:
                raise StreamBroken("an event of the stream has no sequence_number, so one may be missing")
            return super().take(event)

    wires = streaming(responses=Stream)


class LastEventIsTheOutput(Mutant):
    """Trusts the last event alone, even where it has no output: `incomplete-telling-loses-no-call`."""

    breaks = ("incomplete-telling-loses-no-call",)
    cells = RESPONSES_STREAM

    class Stream(ResponsesStream):
        def output(self) -> Any:
            return self._response["output"]

    wires = streaming(responses=Stream)
