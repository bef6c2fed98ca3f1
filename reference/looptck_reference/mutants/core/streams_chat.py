"""Streams of Chat Completions put together wrongly: the seams `ChatStream.call_for`, `add_call` and `whole`."""

from __future__ import annotations

from typing import Any

from looptck_reference.errors import MalformedReply, StreamBroken
from looptck_reference.mutants.mutant import CHAT_STREAM, Mutant, because
from looptck_reference.mutants.speaking import streaming
from looptck_reference.values import Json
from looptck_reference.wires import ChatStream
from looptck_reference.wires.openai_chat_stream import PartialCall

A_FRAMING = because("it is one of the framings that must not matter", "framing-does-not-matter")


class ChatCallsMerged(Mutant):
    """Takes every piece of arguments for one of the latest call: `interleaved-calls-stay-apart`."""

    breaks = ("interleaved-calls-stay-apart",)
    also = A_FRAMING
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def call_for(self, index: Any, call_id: str) -> PartialCall:
            return super().call_for(index if call_id else None, call_id)

    wires = streaming(chat=Stream)


class OneCallADelta(Mutant):
    """Takes the first call of a delta and drops the others: `calls-in-one-delta-all-run`."""

    breaks = ("calls-in-one-delta-all-run",)
    also = A_FRAMING
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def take(self, event: Json) -> str:
            for choice in event.get("choices") or ():
                delta = choice["delta"]
                delta["tool_calls"] = (delta.get("tool_calls") or [])[:1]
            return super().take(event)

    wires = streaming(chat=Stream)


class WholeArgumentsAreACall(Mutant):
    """Takes a delta with all arguments of a call for all of the call, name and id too: `first-delta-names-the-call`."""

    breaks = ("first-delta-names-the-call",)
    also = A_FRAMING
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def add_call(self, delta: Json) -> None:
            super().add_call(delta)
            call = self._calls[-1]
            if len(call.arguments) == 1 and len(call.arguments[0]) > 16 and call.arguments[0].endswith("}"):
                call.id, call.name = delta.get("id") or "", [delta["function"].get("name") or ""]

    wires = streaming(chat=Stream)


class EmptyDeltaIsTheEnd(Mutant):
    """Takes a delta with nothing in it for the end of the turn: `empty-deltas-change-nothing`."""

    breaks = ("empty-deltas-change-nothing",)
    also = A_FRAMING
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def take(self, event: Json) -> str:
            text = super().take(event)
            if any(not choice["delta"] and not choice["finish_reason"] for choice in event["choices"]):
                self._finish_reason, self.complete = "stop", True
            return text

    wires = streaming(chat=Stream)


class ChoicelessStartRefused(Mutant):
    """Gives up where a stream begins with a chunk without choices: `chunks-without-choices-are-skipped`."""

    breaks = ("chunks-without-choices-are-skipped",)
    also = A_FRAMING
    cells = CHAT_STREAM

    class Stream(ChatStream):
        begun = False

        def take(self, event: Json) -> str:
            if not event["choices"] and not self.begun:
                raise StreamBroken("the first chunk of the stream has no choices")
            self.begun = True
            return super().take(event)

    wires = streaming(chat=Stream)


class EndMarkerAwaited(Mutant):
    """Takes a stream for whole only once its end marker has come: `missing-end-marker-is-tolerated`."""

    breaks = ("missing-end-marker-is-tolerated",)
    also = A_FRAMING
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def whole(self) -> bool:
            return self.complete

    wires = streaming(chat=Stream)


class EachIdIsACall(Mutant):
    """Takes each delta with an id for a new call: `repeated-ids-are-one-call`."""

    breaks = ("repeated-ids-are-one-call",)
    also = because("where two calls share an index, each delta has its id", "one-index-two-ids-are-two-calls")
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def call_for(self, index: Any, call_id: str) -> PartialCall:
            self._by_id.clear()
            return super().call_for(index, call_id)

    wires = streaming(chat=Stream)


class IndexIsTheCall(Mutant):
    """Takes all deltas of an index for those of one call, whatever their ids: `one-index-two-ids-are-two-calls`."""

    breaks = ("one-index-two-ids-are-two-calls",)
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def call_for(self, index: Any, call_id: str) -> PartialCall:
            return self._latest.get(index) or super().call_for(index, call_id)

    wires = streaming(chat=Stream)


class NoIndexNoCall(Mutant):
    """Drops what a delta without an index says of a call: `missing-index-is-one-call`."""

    breaks = ("missing-index-is-one-call",)
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def add_call(self, delta: Json) -> None:
            if "index" in delta:
                super().add_call(delta)

    wires = streaming(chat=Stream)


class IndexIsThePlace(Mutant):
    """Drops the calls whose index is not the next place in a list: `first-index-may-be-one`."""

    breaks = ("first-index-may-be-one",)
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def add_call(self, delta: Json) -> None:
            if delta.get("index", 0) <= len(self._calls):
                super().add_call(delta)

    wires = streaming(chat=Stream)


class FirstPieceOfTheName(Mutant):
    """Takes the first piece of a tool's name for all of it: `name-in-pieces-is-joined`."""

    breaks = ("name-in-pieces-is-joined",)
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def add_call(self, delta: Json) -> None:
            super().add_call(delta)
            for call in self._calls:
                del call.name[1:]

    wires = streaming(chat=Stream)


class EachFinishRuns(Mutant):
    """Has the calls run once for each finish reason that comes: `repeated-finish-runs-once`."""

    breaks = ("repeated-finish-runs-once",)
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def take(self, event: Json) -> str:
            finished = self.whole()
            text = super().take(event)
            if finished and any(choice["finish_reason"] for choice in event["choices"]):
                self._calls *= 2
            return text

    wires = streaming(chat=Stream)


class ObjectsAreNoArguments(Mutant):
    """Reads arguments that are no text as none: `arguments-as-object-are-not-lost`."""

    breaks = ("arguments-as-object-are-not-lost",)
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def add_call(self, delta: Json) -> None:
            function = delta["function"]
            if not isinstance(function.get("arguments"), str):
                function["arguments"] = ""
            super().add_call(delta)

    wires = streaming(chat=Stream)


class NullIsNoText(Mutant):
    """Takes a call whose arguments are null for a broken reply: `null-arguments-are-an-empty-object`."""

    breaks = ("null-arguments-are-an-empty-object",)
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def add_call(self, delta: Json) -> None:
            if delta["function"].get("arguments", "") is None:
                raise MalformedReply("the arguments of a call are no text")
            super().add_call(delta)

    wires = streaming(chat=Stream)


class BlankPiecesDropped(Mutant):
    """Drops a piece of arguments that is blank: `fragmented-arguments-are-joined`."""

    breaks = ("fragmented-arguments-are-joined",)
    also = A_FRAMING
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def add_call(self, delta: Json) -> None:
            super().add_call(delta)
            for call in self._calls:
                call.arguments = [piece for piece in call.arguments if piece.strip()]

    wires = streaming(chat=Stream)
