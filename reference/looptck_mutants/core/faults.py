"""Faults of the provider, handled wrongly: the seams `refuse_error` and `whole`, and the exchange."""

from __future__ import annotations

import gzip
import json
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import httpx

from looptck_mutants.cells import CHAT, CHAT_STREAM
from looptck_mutants.core.running_again import run_again
from looptck_mutants.parts import asking, breaks, streaming
from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.http.reception import Reception
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Ask
from looptck_reference.vocabulary.errors import (
    BadArguments,
    ConnectionLost,
    LoopError,
    MalformedReply,
    ProviderError,
    StreamBroken,
)
from looptck_reference.vocabulary.tools import parse_arguments
from looptck_reference.vocabulary.values import Delta, Json, ToolCall, Turn
from looptck_reference.wires import ChatStream


@breaks("stream-without-finish-runs-nothing", cells=CHAT_STREAM)
class AnyEndRunsCalls(ChatStream):
    """Runs the calls of a stream that ended without its end mark."""

    def whole(self) -> bool:
        return self.calling or super().whole()


@breaks("stream-without-finish-is-told", cells=CHAT_STREAM)
class AnyEndIsTheAnswer(ChatStream):
    """Returns the text of a stream that ended without its end mark as the answer."""

    def whole(self) -> bool:
        return (bool(self._text) and not self.calling) or super().whole()


@breaks("error-event-runs-nothing", cells=CHAT_STREAM)
class ErrorRunsCalls(ChatStream):
    """Runs the calls that arrived before an error in a stream."""

    def refuse_error(self, event: Json) -> None:
        if not self.calling:
            super().refuse_error(event)
        elif "error" in event:
            self._finish_reason = "tool_calls"


@breaks("error-event-is-told", cells=CHAT_STREAM)
class ErrorIsTheEnd(ChatStream):
    """Returns the text that arrived before an error in a stream as the answer."""

    def refuse_error(self, event: Json) -> None:
        if self.calling:
            super().refuse_error(event)
        elif "error" in event:
            self._finish_reason = "stop"


@breaks("malformed-event-is-told", cells=CHAT_STREAM)
class MalformedEventsSkipped(ChatStream):
    """Skips an event that is not JSON."""

    def add(self, data: str) -> Delta:
        with suppress(StreamBroken):
            return super().add(data)
        return Delta(calling=self.calling)


@breaks("cut-reply-runs-nothing", cells=CHAT_STREAM)
class LateCutIgnored(Driver):
    """Runs the calls of a stream whose connection broke after their last piece."""

    class Stream(ChatStream):
        broke = False
        """Whether the connection of the latest stream broke."""

        def __init__(self) -> None:
            super().__init__()
            LateCutIgnored.Stream.broke = False

        def whole(self) -> bool:
            return super().whole() or (self.broke and self.calling and all(_reads(one.whole()) for one in self._calls))

    class Runs(Exchange):
        def read(self) -> Generator[Step, Any, bytes | None]:
            try:
                return (yield from super().read())
            except StreamBroken:
                LateCutIgnored.Stream.broke = True
                return None

    invoker = asking(Runs)
    wires = streaming(chat=Stream)


@breaks("cut-reply-is-told", cells=CHAT_STREAM)
class CutTextIsTheAnswer(Exchange):
    """Returns the text that arrived before the connection broke as the answer."""

    said = ""

    def reception(self) -> Reception:
        self.said = ""
        return Reception(self.endpoint.wire, self.heard)

    def heard(self, delta: Delta) -> bool:
        self.said += delta.text
        return self.loop.forwards(delta)

    def receive(self) -> Generator[Step, Any, Turn]:
        try:
            return (yield from super().receive())
        except StreamBroken as error:
            if not self.said or not isinstance(error.__cause__, httpx.HTTPError):
                raise
            return Turn(self.said)


@breaks("http-error-is-told", cells=CHAT)
class ErrorIsTheAnswer(Exchange):
    """Returns the provider's error message as the answer."""

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        try:
            return (yield from super().ask(ask))
        except ProviderError as error:
            if error.status is None:
                raise
            return Turn(str(error))


@breaks("http-error-is-told", cells=CHAT)
class BusyIsNothing(Exchange):
    """Returns an empty answer if the service stays too busy to answer."""

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        try:
            return (yield from super().ask(ask))
        except ProviderError as error:
            if error.status not in (429, 529):
                raise
            return Turn("")


def has_the_services_form(error: bytes) -> bool:
    """Whether the body of an error has the words where the service's own errors have them."""
    try:
        json.loads(error)["error"]["message"]
    except (ValueError, LookupError, TypeError):
        return False
    return True


@breaks("http-error-is-told", cells=CHAT)
class ForeignErrorIsTheAnswer(Exchange):
    """Returns the body of an error as the answer if it has not the form of the service's own errors."""

    def turn(self, response: httpx.Response, content: bytes) -> Turn:
        if response.is_error and not has_the_services_form(content):
            return Turn(content.decode())
        return super().turn(response, content)


@breaks("http-error-is-told", cells=CHAT)
class NeverGivesUp(Exchange):
    """Repeats a request without limit while the service fails."""

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        while True:
            try:
                return (yield from super().ask(ask))
            except ProviderError as error:
                if error.status != 500:
                    raise


@breaks("page-instead-of-json-is-told", cells=CHAT)
class PageIsTheAnswer(Exchange):
    """Returns a reply that is not JSON as the answer."""

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        try:
            return (yield from super().ask(ask))
        except MalformedReply as error:
            if not isinstance(error.__cause__, ValueError):
                raise
            return Turn(str(error))


class Retrying(Exchange):
    """Repeats a failed request once."""

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        try:
            return (yield from super().ask(ask))
        except ProviderError as error:
            if error.status not in {429, 500, 529}:
                raise
        return (yield from super().ask(self.again(ask)))

    def again(self, ask: Ask) -> Ask:
        """The request of the second attempt: the same as the first."""
        return ask


@breaks(
    "retry-never-reruns-a-tool",
    cells=CHAT,
    collateral={("retry-after-is-kept", "retry-after-may-be-a-date"): "it does not wait before it tries again"},
)
class RetryRerunsTools(Driver):
    """Runs the last calls again before it repeats a failed request."""

    class Remembering(Loop):
        ran: Sequence[ToolCall] = ()

        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            self.ran = super().calls_of(turn)
            return self.ran

    class Runs(Retrying):
        def again(self, ask: Ask) -> Ask:
            assert isinstance(self.loop, RetryRerunsTools.Remembering)
            run_again(self.loop, self.loop.ran)
            return ask

    loop = Remembering
    invoker = asking(Runs)


@breaks(
    "retried-request-is-the-same",
    cells=CHAT,
    collateral={
        "retry-never-reruns-a-tool": "the model asks again for what was forgotten",
        ("retry-after-is-kept", "retry-after-may-be-a-date"): "it does not wait before it begins again",
    },
)
class RetryForgets(Retrying):
    """Repeats a failed request with the prompt alone."""

    def again(self, ask: Ask) -> Ask:
        return Ask(ask.history[: self.loop.round_ends[0]])


@breaks(
    "conversation-is-carried-once",
    cells=CHAT,
    collateral={("retry-after-is-kept", "retry-after-may-be-a-date"): "it does not wait before it tries again"},
)
class RetryTakesTheQuestionBack(Retrying):
    """Repeats a failed request, and forgets the later question of a conversation that it had."""

    def again(self, ask: Ask) -> Ask:
        history = self.loop.history
        if history[-1].get("role") == "user" and any(one.get("role") == "assistant" for one in history):
            history.pop()
            self.loop.round_ends[-1] = len(history)
        return ask


class AfterBreaks(Exchange):
    """Repeats a request once if its reply broke off."""

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        try:
            return (yield from super().ask(ask))
        except LoopError as error:
            in_stream = isinstance(error, ProviderError) and error.status is None
            if not (in_stream or isinstance(error, ConnectionLost | StreamBroken)):
                raise
        return (yield from super().ask(self.again(ask)))

    def again(self, ask: Ask) -> Ask:
        """The request of the second attempt: the same as the first."""
        return ask


@breaks("broken-reply-reruns-no-tool", cells=CHAT_STREAM)
class BreakRerunsTools(Driver):
    """Runs the last calls again if the reply to their results broke off."""

    class Remembering(Loop):
        ran: Sequence[ToolCall] = ()

        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            self.ran = super().calls_of(turn)
            return self.ran

    class Runs(AfterBreaks):
        def again(self, ask: Ask) -> Ask:
            assert isinstance(self.loop, BreakRerunsTools.Remembering)
            run_again(self.loop, self.loop.ran)
            return ask

    loop = Remembering
    invoker = asking(Runs)


@breaks("retried-request-is-the-same", cells=CHAT_STREAM)
class BreakForgets(AfterBreaks):
    """Repeats a request with the prompt alone if its reply broke off."""

    def again(self, ask: Ask) -> Ask:
        return Ask(ask.history[: self.loop.round_ends[0]])


@breaks("repeated-answer-is-the-whole-one", cells=CHAT_STREAM)
class BrokenWordsStay(AfterBreaks):
    """Puts the text of a reply that broke off before that of the reply to the second attempt."""

    said = ""

    def reception(self) -> Reception:
        return Reception(self.endpoint.wire, self.heard)

    def heard(self, delta: Delta) -> bool:
        self.said += delta.text
        return self.loop.forwards(delta)

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        self.said = ""
        turn = yield from super().ask(ask)
        return turn if turn.calls else replace(turn, text=self.said)


def _reads(call: ToolCall) -> bool:
    try:
        parse_arguments(call.arguments)
    except BadArguments:
        return False
    return True


@breaks("content-types-may-have-parameters", cells=CHAT)
class CharsetInCapitalsIsUnknown(Exchange):
    """Refuses a plain reply whose charset is written in capitals."""

    def turn(self, response: httpx.Response, content: bytes) -> Turn:
        if "UTF-8" in response.headers.get("content-type", ""):
            raise MalformedReply("the charset of the reply is unknown")
        return super().turn(response, content)


@breaks("compressed-replies-are-read", cells=CHAT_STREAM)
class ReadsEventsInGzip(Exchange):
    """Accepts gzip, and takes the bytes of such a stream for events."""

    packed = False

    def comes_in_events(self, response: httpx.Response) -> bool:
        self.packed = response.headers.get("content-encoding") == "gzip"
        return super().comes_in_events(response)

    def read(self) -> Generator[Step, Any, bytes | None]:
        piece = yield from super().read()
        return gzip.compress(piece) if piece and self.packed else piece


@breaks("content-types-may-have-parameters", cells=CHAT_STREAM, broad=True)
class EventsWantACharset(Exchange):
    """Knows an event stream by its charset."""

    def comes_in_events(self, response: httpx.Response) -> bool:
        return super().comes_in_events(response) and "charset" in response.headers.get("content-type", "")


@breaks("refused-request-is-not-repeated", cells=CHAT)
class RefusalIsABadDay(Exchange):
    """Sends a request that the service refuses as wrong three times more."""

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        for _ in range(3):
            try:
                return (yield from super().ask(ask))
            except ProviderError as error:
                if error.status != 400:
                    raise
        return (yield from super().ask(ask))
