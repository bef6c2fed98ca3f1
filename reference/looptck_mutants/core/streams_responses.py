"""Streams of Responses, assembled wrongly: the seams `ResponsesStream.item_for` and `output`."""

from __future__ import annotations

from typing import Any

from looptck_mutants.cells import RESPONSES_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.vocabulary.errors import StreamBroken
from looptck_reference.vocabulary.values import Delta, Json
from looptck_reference.wires import ResponsesStream
from looptck_reference.wires.openai_responses_stream import PartialItem


@breaks("interleaved-blocks-stay-apart", cells=RESPONSES_STREAM)
class ResponsesItemsMerged(ResponsesStream):
    """Appends every delta to the latest item, and ignores the output of the last event.

    It changes two seams, because the last event would repair the assembled items.
    """

    def item_for(self, index: Any, item_id: Any) -> PartialItem:
        return self.items[-1]

    def output(self) -> list[Json]:
        return self.streamed()


@breaks("whole-items-need-no-deltas", cells=RESPONSES_STREAM)
class NoDeltasNoCalls(ResponsesStream):
    """Drops all calls if their arguments came without deltas."""

    has_deltas = False

    def add_arguments(self, item: PartialItem, piece: str) -> None:
        self.has_deltas = True
        super().add_arguments(item, piece)

    def output(self) -> Any:
        output = super().output()
        return output if self.has_deltas else [item for item in output if (item.get("arguments") or "{}") == "{}"]


@breaks("missing-sequence-is-tolerated", cells=RESPONSES_STREAM)
class NumbersNeeded(ResponsesStream):
    """Fails on an event without a sequence number."""

    def take(self, event: Json) -> str:
        if "sequence_number" not in event:
            raise StreamBroken("an event of the stream has no sequence_number, so one may be missing")
        return super().take(event)


@breaks("incomplete-telling-loses-no-call", cells=RESPONSES_STREAM)
class LastEventIsTheOutput(ResponsesStream):
    """Uses the output of the last event even if it is empty."""

    def output(self) -> Any:
        return self._response["output"]


@breaks("incomplete-telling-loses-no-call", cells=RESPONSES_STREAM)
class ItemsByTheirIds(ResponsesStream):
    """Finds the item of an event by its id alone, and ignores the output of the last event."""

    def item_for(self, index: Any, item_id: Any) -> PartialItem:
        return self._known.get(item_id) or PartialItem(len(self.items))

    def output(self) -> list[Json]:
        return self.streamed()


@breaks("stray-end-marker-is-skipped", cells=RESPONSES_STREAM)
class EventsBehindTheEndCount(ResponsesStream):
    """Drops the response when an event comes behind the one that ends it."""

    def add(self, data: str) -> Delta:
        if self.complete and data.startswith("{"):
            self.complete = False
        return super().add(data)
