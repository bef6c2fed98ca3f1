"""Streams of Chat Completions put together wrongly: the seams `ChatStream.call_for`, `add_call` and `whole`."""

from __future__ import annotations

from typing import Any

from looptck_mutants.breaking import Collateral
from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.loop.errors import MalformedReply, StreamBroken
from looptck_reference.loop.values import Json
from looptck_reference.wires import ChatStream
from looptck_reference.wires.openai_chat_stream import PartialCall

A_FRAMING: Collateral = {"framing-does-not-matter": "it is one of the framings that must not matter"}


@breaks("interleaved-calls-stay-apart", collateral=A_FRAMING, cells=CHAT_STREAM)
class ChatCallsMerged(ChatStream):
    """Takes every piece of arguments for one of the latest call."""

    def call_for(self, index: Any, call_id: str) -> PartialCall:
        return super().call_for(index if call_id else None, call_id)


@breaks("calls-in-one-delta-all-run", collateral=A_FRAMING, cells=CHAT_STREAM)
class OneCallADelta(ChatStream):
    """Takes the first call of a delta and drops the others."""

    def take(self, event: Json) -> str:
        for choice in event.get("choices") or ():
            delta = choice["delta"]
            delta["tool_calls"] = (delta.get("tool_calls") or [])[:1]
        return super().take(event)


@breaks("first-delta-names-the-call", collateral=A_FRAMING, cells=CHAT_STREAM)
class WholeArgumentsAreACall(ChatStream):
    """Takes a delta with all arguments of a call for all of the call, name and id too."""

    def add_call(self, delta: Json) -> None:
        super().add_call(delta)
        call = self._calls[-1]
        if len(call.arguments) == 1 and len(call.arguments[0]) > 16 and call.arguments[0].endswith("}"):
            call.id, call.name = delta.get("id") or "", [delta["function"].get("name") or ""]


@breaks("empty-deltas-change-nothing", collateral=A_FRAMING, cells=CHAT_STREAM)
class EmptyDeltaIsTheEnd(ChatStream):
    """Takes a delta with nothing in it for the end of the turn."""

    def take(self, event: Json) -> str:
        text = super().take(event)
        if any(not choice["delta"] and not choice["finish_reason"] for choice in event["choices"]):
            self._finish_reason, self.complete = "stop", True
        return text


@breaks("chunks-without-choices-are-skipped", collateral=A_FRAMING, cells=CHAT_STREAM)
class ChoicelessStartRefused(ChatStream):
    """Gives up where a stream begins with a chunk without choices."""

    begun = False

    def take(self, event: Json) -> str:
        if not event["choices"] and not self.begun:
            raise StreamBroken("the first chunk of the stream has no choices")
        self.begun = True
        return super().take(event)


@breaks("missing-end-marker-is-tolerated", collateral=A_FRAMING, cells=CHAT_STREAM)
class EndMarkerAwaited(ChatStream):
    """Takes a stream for whole only once its end marker has come."""

    def whole(self) -> bool:
        return self.complete


@breaks(
    "repeated-ids-are-one-call",
    collateral={"one-index-two-ids-are-two-calls": "where two calls share an index, each delta has its id"},
    cells=CHAT_STREAM,
)
class EachIdIsACall(ChatStream):
    """Takes each delta with an id for a new call."""

    def call_for(self, index: Any, call_id: str) -> PartialCall:
        self._by_id.clear()
        return super().call_for(index, call_id)


@breaks("one-index-two-ids-are-two-calls", cells=CHAT_STREAM)
class IndexIsTheCall(ChatStream):
    """Takes all deltas of an index for those of one call, whatever their ids."""

    def call_for(self, index: Any, call_id: str) -> PartialCall:
        return self._latest.get(index) or super().call_for(index, call_id)


@breaks("missing-index-is-one-call", cells=CHAT_STREAM)
class NoIndexNoCall(ChatStream):
    """Drops what a delta without an index says of a call."""

    def add_call(self, delta: Json) -> None:
        if "index" in delta:
            super().add_call(delta)


@breaks("first-index-may-be-one", cells=CHAT_STREAM)
class IndexIsThePlace(ChatStream):
    """Drops the calls whose index is not the next place in a list."""

    def add_call(self, delta: Json) -> None:
        if delta.get("index", 0) <= len(self._calls):
            super().add_call(delta)


@breaks("name-in-pieces-is-joined", cells=CHAT_STREAM)
class FirstPieceOfTheName(ChatStream):
    """Takes the first piece of a tool's name for all of it."""

    def add_call(self, delta: Json) -> None:
        super().add_call(delta)
        for call in self._calls:
            del call.name[1:]


@breaks("repeated-finish-runs-once", cells=CHAT_STREAM)
class EachFinishRuns(ChatStream):
    """Has the calls run once for each finish reason that comes."""

    def take(self, event: Json) -> str:
        finished = self.whole()
        text = super().take(event)
        if finished and any(choice["finish_reason"] for choice in event["choices"]):
            self._calls *= 2
        return text


@breaks("arguments-as-object-are-not-lost", cells=CHAT_STREAM)
class ObjectsAreNoArguments(ChatStream):
    """Reads arguments that are no text as none."""

    def add_call(self, delta: Json) -> None:
        function = delta["function"]
        if not isinstance(function.get("arguments"), str):
            function["arguments"] = ""
        super().add_call(delta)


@breaks("null-arguments-are-an-empty-object", cells=CHAT_STREAM)
class NullIsNoText(ChatStream):
    """Takes a call whose arguments are null for a broken reply."""

    def add_call(self, delta: Json) -> None:
        if delta["function"].get("arguments", "") is None:
            raise MalformedReply("the arguments of a call are no text")
        super().add_call(delta)


@breaks("fragmented-arguments-are-joined", collateral=A_FRAMING, cells=CHAT_STREAM)
class BlankPiecesDropped(ChatStream):
    """Drops a piece of arguments that is blank."""

    def add_call(self, delta: Json) -> None:
        super().add_call(delta)
        for call in self._calls:
            call.arguments = [piece for piece in call.arguments if piece.strip()]
