"""Streams of Chat Completions, assembled wrongly: the seams `ChatStream.call_for`, `add_call` and `whole`."""

from __future__ import annotations

from typing import Any

from looptck_mutants.breaking import Collateral
from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.vocabulary.errors import MalformedReply, StreamBroken
from looptck_reference.vocabulary.values import Json
from looptck_reference.wires import ChatStream
from looptck_reference.wires.openai_chat_stream import PartialCall

A_FRAMING: Collateral = {"framing-does-not-matter": "it is one of the varied framings"}


@breaks("interleaved-calls-stay-apart", collateral=A_FRAMING, cells=CHAT_STREAM)
class ChatCallsMerged(ChatStream):
    """Appends every piece of arguments to the latest call."""

    def call_for(self, index: Any, call_id: str) -> PartialCall:
        return super().call_for(index if call_id else None, call_id)


@breaks("calls-in-one-delta-all-run", collateral=A_FRAMING, cells=CHAT_STREAM)
class OneCallADelta(ChatStream):
    """Reads only the first call of a delta."""

    def take(self, event: Json) -> str:
        for choice in event.get("choices") or ():
            delta = choice["delta"]
            delta["tool_calls"] = (delta.get("tool_calls") or [])[:1]
        return super().take(event)


@breaks(
    "first-delta-names-the-call",
    collateral={
        **A_FRAMING,
        ("several-calls-without-index", "finish-beside-the-last-delta"): "calls that come whole have whole arguments",
        "long-events-are-read": "a long event may hold whole arguments",
        "text-and-a-call-in-one-delta": "it is played with whole arguments too",
    },
    cells=CHAT_STREAM,
)
class WholeArgumentsAreACall(ChatStream):
    """Replaces id and name of a call by those of a delta with complete arguments, even if they are missing there."""

    def add_call(self, delta: Json) -> None:
        super().add_call(delta)
        call = self._calls[-1]
        if len(call.arguments) == 1 and len(call.arguments[0]) > 16 and call.arguments[0].endswith("}"):
            call.id, call.name = delta.get("id") or "", [delta["function"].get("name") or ""]


@breaks("empty-deltas-change-nothing", collateral=A_FRAMING, cells=CHAT_STREAM)
class EmptyDeltaIsTheEnd(ChatStream):
    """Treats an empty delta as the end of the turn."""

    def take(self, event: Json) -> str:
        text = super().take(event)
        if any(not choice["delta"] and not choice["finish_reason"] for choice in event["choices"]):
            self._finish_reason, self.complete = "stop", True
        return text


@breaks("chunks-without-choices-are-skipped", collateral=A_FRAMING, cells=CHAT_STREAM)
class ChoicelessStartRefused(ChatStream):
    """Fails if the first chunk of a stream has no choices."""

    begun = False

    def take(self, event: Json) -> str:
        if not event["choices"] and not self.begun:
            raise StreamBroken("the first chunk of the stream has no choices")
        self.begun = True
        return super().take(event)


@breaks("missing-end-marker-is-tolerated", cells=CHAT_STREAM)
class EndMarkerAwaited(ChatStream):
    """Treats a stream without `[DONE]` as incomplete."""

    def whole(self) -> bool:
        return self.complete


@breaks(
    "repeated-ids-are-one-call",
    collateral={
        "one-index-two-ids-are-two-calls": "if two calls share an index, each delta has an id",
        "repeated-name-is-one-name": "the id is repeated with the name",
    },
    cells=CHAT_STREAM,
)
class EachIdIsACall(ChatStream):
    """Treats each delta with an id as a new call."""

    def call_for(self, index: Any, call_id: str) -> PartialCall:
        self._by_id.clear()
        return super().call_for(index, call_id)


@breaks(
    "one-index-two-ids-are-two-calls",
    cells=CHAT_STREAM,
    collateral={"several-calls-without-index": "the calls have no index"},
)
class IndexIsTheCall(ChatStream):
    """Treats all deltas of an index as one call, whatever their ids."""

    def call_for(self, index: Any, call_id: str) -> PartialCall:
        return self._latest.get(index) or super().call_for(index, call_id)


@breaks(
    "missing-index-is-one-call",
    cells=CHAT_STREAM,
    collateral={"several-calls-without-index": "the calls have no index"},
)
class NoIndexNoCall(ChatStream):
    """Drops pieces of calls without an index."""

    def add_call(self, delta: Json) -> None:
        if "index" in delta:
            super().add_call(delta)


@breaks("first-index-may-be-one", cells=CHAT_STREAM)
class IndexIsThePlace(ChatStream):
    """Drops calls whose index is not the next list position."""

    def add_call(self, delta: Json) -> None:
        if delta.get("index", 0) <= len(self._calls):
            super().add_call(delta)


@breaks("name-in-pieces-is-joined", cells=CHAT_STREAM)
class FirstPieceOfTheName(ChatStream):
    """Keeps only the first piece of a tool's name."""

    def add_call(self, delta: Json) -> None:
        super().add_call(delta)
        for call in self._calls:
            del call.name[1:]


@breaks(
    "repeated-finish-runs-once",
    cells=CHAT_STREAM,
    collateral={"null-members-are-absent": "an empty finish reason is taken for one"},
)
class EachFinishRuns(ChatStream):
    """Runs the calls once for each finish reason."""

    def take(self, event: Json) -> str:
        finished = self.whole()
        text = super().take(event)
        if finished and any(choice["finish_reason"] for choice in event["choices"]):
            self._calls *= 2
        return text


@breaks("arguments-as-object-are-not-lost", cells=CHAT_STREAM)
class ObjectsAreNoArguments(ChatStream):
    """Treats arguments that are not a string as empty."""

    def add_call(self, delta: Json) -> None:
        function = delta["function"]
        if not isinstance(function.get("arguments"), str):
            function["arguments"] = ""
        super().add_call(delta)


@breaks(
    "null-arguments-are-an-empty-object",
    collateral={"blank-piece-changes-nothing": "the arguments of that piece are null"},
    cells=CHAT_STREAM,
)
class NullIsNoText(ChatStream):
    """Fails on a call whose arguments are null."""

    def add_call(self, delta: Json) -> None:
        if delta["function"].get("arguments", "") is None:
            raise MalformedReply("the arguments of a call are not a string")
        super().add_call(delta)


@breaks(
    "fragmented-arguments-are-joined",
    collateral={**A_FRAMING, "pieces-of-arguments-join": "what is dropped is not told"},
    cells=CHAT_STREAM,
)
class BlankPiecesDropped(ChatStream):
    """Drops blank pieces of arguments."""

    def add_call(self, delta: Json) -> None:
        super().add_call(delta)
        for call in self._calls:
            call.arguments = [piece for piece in call.arguments if piece.strip()]


@breaks("fragmented-arguments-are-joined", cells=CHAT_STREAM)
class ZeroIsNoPiece(ChatStream):
    """Drops a piece of arguments that is a zero, which is false in some languages."""

    def add_call(self, delta: Json) -> None:
        super().add_call(delta)
        for call in self._calls:
            call.arguments = [piece for piece in call.arguments if piece != "0"]
