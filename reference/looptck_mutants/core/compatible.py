"""Replies of compatible servers, read as if only OpenAI's own service wrote them."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from looptck_mutants.cells import CHAT, CHAT_STREAM, MESSAGES, RESPONSES
from looptck_mutants.parts import breaks
from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Ask, End, Fail, Returned
from looptck_reference.vocabulary.errors import MalformedReply, ProviderError, StreamBroken
from looptck_reference.vocabulary.values import Delta, Json, ToolCall, ToolResult, Turn
from looptck_reference.wires import ChatStream, ChatWire, MessagesWire, ResponsesWire
from looptck_reference.wires.events import EventStream
from looptck_reference.wires.openai_chat_stream import PartialCall
from looptck_reference.wires.openai_chat_turn import STOPS, call_parts


@breaks(
    "null-members-are-absent",
    cells=CHAT_STREAM,
    collateral={
        "byte-order-mark-is-skipped": "that stream has members that are null",
        "blank-piece-changes-nothing": "the arguments of that piece are null",
        "null-arguments-are-an-empty-object": "such arguments are a member that is null",
    },
)
class NullMembersRefused(ChatStream):
    """Wants each member that is there to have a value."""

    def take(self, event: Json) -> str:
        if event["choices"] is None:
            raise StreamBroken("the choices of the chunk have no value")
        for choice in event["choices"]:
            delta = choice["delta"]
            if choice["finish_reason"] == "" or (delta is None) or ("tool_calls" in delta and None in delta.values()):
                raise StreamBroken("a member of the chunk has no value")
            for piece in delta.get("tool_calls", ()):
                if None in {piece.get("id", ""), piece["function"].get("arguments")}:
                    raise StreamBroken("a member of the call has no value")
        return super().take(event)


@breaks("call-type-may-be-missing", "null-members-are-absent", cells=CHAT_STREAM)
class TypesWanted(ChatStream):
    """Wants the first piece of each call to have its type."""

    def add_call(self, delta: Json) -> None:
        if delta.get("id") and delta.get("type") != "function":
            raise StreamBroken("a call has no type")
        super().add_call(delta)


@breaks("call-type-may-be-missing", cells=CHAT_STREAM)
class KindsAreKnown(ChatStream):
    """Refuses a piece of a call whose type is a text that names no kind, an empty one too."""

    def add_call(self, delta: Json) -> None:
        if delta.get("type") not in (None, "function", "custom"):
            raise StreamBroken(f"there is no kind of call {delta['type']!r}")
        super().add_call(delta)


@breaks("null-arguments-are-an-empty-object", cells=CHAT)
class ArgumentsAreThere(ChatWire):
    """Fails on a call that has no member for its arguments."""

    def decode(self, reply: Json) -> Turn:
        for choice in reply.get("choices") or ():
            for call in choice["message"].get("tool_calls") or ():
                if "arguments" not in call.get("function", {"arguments": ""}):
                    raise MalformedReply("a call has no arguments")
        return super().decode(reply)


@breaks("null-events-are-skipped", cells=CHAT_STREAM)
class NullEventsRefused(ChatStream):
    """Takes null for a chunk."""

    def add(self, data: str) -> Delta:
        return EventStream.add(self, data)


@breaks(
    "null-members-are-absent",
    "empty-id-later-is-no-new-call",
    collateral={"blank-piece-changes-nothing": "the id of that piece is empty"},
    cells=CHAT_STREAM,
)
class LatestIdCounts(ChatStream):
    """Takes the id of a call from each of its pieces that has a member for it, though it is null or empty."""

    def add_call(self, delta: Json) -> None:
        super().add_call(delta)
        if "id" in delta:
            self._latest[delta.get("index")].id = str(delta["id"])


@breaks(
    "name-may-come-later",
    cells=CHAT_STREAM,
    collateral={
        "empty-id-later-is-no-new-call": "the name of that call is split",
        "repeated-name-is-one-name": "the name of that call is split",
    },
)
class FirstPieceNamesIt(ChatStream):
    """Reads the name of a call only in the piece with its id."""

    def add_call(self, delta: Json) -> None:
        begun = len(self._calls)
        super().add_call(delta)
        if begun == len(self._calls) and not self._calls[-1].name[:-1] and "name" in delta["function"]:
            self._calls[-1].name.clear()


@breaks(
    "repeated-name-is-one-name",
    collateral={"one-index-two-ids-are-two-calls": "if two calls share an index, each delta has an id"},
    cells=CHAT_STREAM,
)
class NamesAddUp(ChatStream):
    """Joins the names of all pieces."""

    def add_call(self, delta: Json) -> None:
        begun = len(self._calls)
        super().add_call(delta)
        if begun == len(self._calls) and delta.get("id") and (name := delta["function"].get("name")):
            self._calls[-1].name.append(name)


@breaks("blank-piece-changes-nothing", cells=CHAT_STREAM)
class NullIsAPiece(ChatStream):
    """Appends the word null to the arguments of a call where a later piece has null for them."""

    def add_call(self, delta: Json) -> None:
        super().add_call(delta)
        if not any(call_parts(delta)):
            self.call_for(delta.get("index"), "").arguments.append("null")


@breaks("pieces-in-one-delta-all-count", cells=CHAT_STREAM)
class OnePieceOfACall(ChatStream):
    """Reads one piece of each call in a delta."""

    def take(self, event: Json) -> str:
        for choice in event.get("choices") or ():
            if (delta := choice["delta"]) and (found := delta.get("tool_calls")):
                firsts = {piece.get("index", f"no {n}"): piece for n, piece in reversed([*enumerate(found)])}
                delta["tool_calls"] = [*reversed(firsts.values())]
        return super().take(event)


@breaks("text-and-a-call-in-one-delta", cells=CHAT_STREAM)
class TextHidesCalls(ChatStream):
    """Reads the calls of a delta only if it has no text."""

    def take(self, event: Json) -> str:
        for choice in event.get("choices") or ():
            if (delta := choice["delta"]) and delta.get("content"):
                delta.pop("tool_calls", None)
        return super().take(event)


@breaks("several-calls-without-index", cells=CHAT_STREAM)
class NoIndexIsTheFirst(ChatStream):
    """Takes a missing index for 0."""

    def call_for(self, index: Any, call_id: str) -> PartialCall:
        known = self._latest.get(None) if index is None else None
        return known or super().call_for(index, call_id)


@breaks("finish-beside-the-last-delta", cells=CHAT_STREAM)
class FinishHasNoDelta(ChatStream):
    """Reads no delta in the chunk with the finish reason."""

    def take(self, event: Json) -> str:
        for choice in event.get("choices") or ():
            if choice["finish_reason"]:
                choice["delta"] = {}
        return super().take(event)


@breaks("finish-reason-is-kept", cells=CHAT_STREAM)
class LastChoiceDecides(ChatStream):
    """Takes the finish reason of the last chunk that has a choice."""

    def take(self, event: Json) -> str:
        if event.get("choices"):
            self._finish_reason = None
        return super().take(event)


@breaks("empty-content-beside-calls", "text-and-a-call-in-one-delta", cells=CHAT_STREAM)
class TextOrCalls(ChatStream):
    """Reads calls where a delta has a list of them, however empty, and its text otherwise."""

    def take(self, event: Json) -> str:
        for choice in event.get("choices") or ():
            if (choice["delta"] or {}).get("tool_calls") is not None:
                choice["delta"]["content"] = None
        return super().take(event)


@breaks(
    "empty-content-beside-calls",
    cells=CHAT,
    collateral={
        (
            "arguments-arrive-whatever-their-shape",
            "call-runs-its-tool-once",
            "every-call-of-a-turn-runs",
        ): "some servers record calls beside an empty text"
    },
)
class NoTextNoCalls(ChatWire):
    """Takes a message for an answer as soon as it has a text, and wants it to have a member for one."""

    def decode(self, reply: Json) -> Turn:
        message = reply["choices"][0]["message"]
        if message.get("content", "") == "" and message.get("tool_calls"):
            message.pop("tool_calls")
        return super().decode(reply)


@breaks("role-may-be-missing-or-repeated", cells=CHAT_STREAM)
class OneRole(ChatStream):
    """Wants a role in the first delta, and in no other."""

    begun = False

    def take(self, event: Json) -> str:
        for choice in event.get("choices") or ():
            if self.begun == bool((choice["delta"] or {}).get("role")):
                raise StreamBroken("a role is in the first delta, and nowhere else")
            self.begun = True
        return super().take(event)


@breaks("usage-may-be-missing", cells=CHAT)
class UsageIsCounted(ChatWire):
    """Counts the cached tokens of each reply."""

    def decode(self, reply: Json) -> Turn:
        try:
            reply["usage"]["prompt_tokens_details"]["cached_tokens"]
        except (KeyError, TypeError) as error:
            raise MalformedReply("the usage of the reply cannot be counted") from error
        return super().decode(reply)


@breaks("usage-of-a-response-may-be-missing", cells=RESPONSES)
class TotalsAreCounted(ResponsesWire):
    """Counts the tokens of each response."""

    def decode(self, reply: Json) -> Turn:
        try:
            reply["usage"]["total_tokens"]
        except (KeyError, TypeError) as error:
            raise MalformedReply("the usage of the response cannot be counted") from error
        return super().decode(reply)


@breaks("usage-may-be-missing", cells=MESSAGES)
class CountsAreAdded(MessagesWire):
    """Adds up the tokens of each message, those of the cache too."""

    def decode(self, reply: Json) -> Turn:
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
        try:
            sum(reply["usage"][name] for name in names if name in reply["usage"])
        except (KeyError, TypeError) as error:
            raise MalformedReply("the usage of the reply cannot be counted") from error
        return super().decode(reply)


@breaks("refusal-beside-an-empty-text-is-told", cells=CHAT)
class ContentOrRefusal(ChatWire):
    """Reads the refusal of a message only where its content is null."""

    def decode(self, reply: Json) -> Turn:
        for choice in reply.get("choices") or ():
            if choice["message"].get("content") is not None:
                choice["message"]["refusal"] = None
        return super().decode(reply)


@breaks("empty-id-is-not-lost", cells=CHAT_STREAM)
class NoIdNoCall(ChatStream):
    """Drops calls without an id."""

    def turn(self) -> Turn:
        self._calls = [call for call in self._calls if call.id]
        return super().turn()


@breaks("empty-id-is-not-lost", cells=CHAT_STREAM)
class IdsAreNamesOfTools(ChatStream):
    """Gives a call without an id one that it makes of the name of its tool."""

    def turn(self) -> Turn:
        for call in self._calls:
            call.id = call.id or f"call-{call.whole().name}"
        return super().turn()


@breaks("reply-without-choices-is-told", cells=CHAT)
class NoChoiceIsAnAnswer(ChatWire):
    """Takes a reply without choices for an empty answer."""

    def decode(self, reply: Json) -> Turn:
        return super().decode(reply) if reply.get("choices") or "error" in reply else Turn()


@breaks("error-body-with-200-is-told", cells=CHAT)
class StatusDecides(ChatWire):
    """Reads an error with the status 200 as an empty answer."""

    def decode(self, reply: Json) -> Turn:
        return Turn() if "error" in reply else super().decode(reply)


@breaks("call-extras-are-echoed", cells=CHAT)
class KnownMembersOfCalls(ChatWire):
    """Sends back only the members of a call that are documented."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(replace(turn, calls=tuple(replace(call, extra={}) for call in turn.calls)))


class _AtOnce(Exchange):
    """Asks again at once, and once, after a refusal with this status."""

    status = 429

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        try:
            return (yield from super().ask(ask))
        except ProviderError as error:
            if error.status != self.status:
                raise
        return (yield from super().ask(ask))


@breaks("retry-after-is-kept", "retry-after-may-be-a-date", cells=CHAT)
class AsksAgainAtOnce(_AtOnce):
    """Asks again as soon as it is told to wait."""


@breaks("retry-after-is-kept", cells=CHAT)
class UnavailableIsAskedAtOnce(_AtOnce):
    """Asks again as soon as the service is unavailable: it waits only where there are too many requests."""

    status = 503


@breaks("odd-retry-after-is-no-error", cells=CHAT)
class OddWaitIsAMistake(Exchange):
    """Takes a time after which it may ask again for a date if it is no number."""

    def turn(self, response: httpx.Response, content: bytes) -> Turn:
        after = response.headers.get("retry-after", "0")
        try:
            parsedate_to_datetime(after) if not after.isdecimal() else None
        except ValueError as error:
            raise StreamBroken(f"no time: {after}") from error
        return super().turn(response, content)


@breaks("arguments-after-a-placeholder-are-not-lost", cells=CHAT_STREAM)
class FirstArgumentsThatParse(ChatStream):
    """Takes arguments for whole as soon as they can be parsed."""

    def add_call(self, delta: Json) -> None:
        known = [call for call in self._calls if call.arguments == ["{}"]]
        super().add_call(delta)
        for call in known:
            call.arguments = ["{}"]


@breaks("unknown-finish-reason-is-read", cells=CHAT)
class KnownReasonsOnly(ChatWire):
    """Refuses a reply whose finish reason it does not know."""

    def decode(self, reply: Json) -> Turn:
        if any(choice["finish_reason"] not in STOPS for choice in reply.get("choices") or ()):
            raise MalformedReply("the finish reason is unknown")
        return super().decode(reply)


@breaks("empty-collections-reach-the-model", cells=CHAT)
class NothingFound(Loop):
    """Tells of an empty list or object as nothing."""

    def result(self, call: ToolCall, end: End) -> ToolResult | Fail:
        if isinstance(end, Returned) and end.value in ([], {}):
            return super().result(call, Returned("Nothing was found."))
        return super().result(call, end)


@breaks(
    "retried-request-is-the-same",
    cells=CHAT,
    collateral={("retry-after-is-kept", "retry-after-may-be-a-date"): "it does not wait before it tries again"},
)
class AgainWithoutTools(Exchange):
    """Asks again without its first tool, once."""

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        try:
            return (yield from super().ask(ask))
        except ProviderError as error:
            if error.status not in {429, 500}:
                raise
        return (yield from super().ask(replace(ask, carried={**ask.carried, "tools": self.fewer()})))

    def fewer(self) -> list[Json]:
        """All tools but the first."""
        body: Json = self.endpoint.wire.request(self.loop.agent, (), stream=self.stream)
        return list(body["tools"][1:])
